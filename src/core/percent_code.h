// SPDX-License-Identifier: Apache-2.0

// PercentCode: %XX in URIs (RFC 3986, section 2.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mcpac {

// A '%' without two hexadecimal digits behind it stands for itself.
[[nodiscard]] std::string percent_decoded(std::string_view text);

// Nothing where one does: for values that are refused rather than guessed.
[[nodiscard]] std::optional<std::string> strictly_percent_decoded(std::string_view text);

}  // namespace mcpac
