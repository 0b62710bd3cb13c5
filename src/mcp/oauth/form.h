// SPDX-License-Identifier: Apache-2.0

// Parameters as application/x-www-form-urlencoded: bodies of requests, and queries of URLs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace mcpac::mcp::oauth {

using Parameters = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] std::string form_encode(const Parameters& parameters);
// What does not decode, or comes twice, is refused: RFC 6749 section 3.1 allows each name once.
[[nodiscard]] Result<Parameters> form_decode(std::string_view text);
// Empty when it is not there.
[[nodiscard]] std::string value_of(const Parameters& parameters, std::string_view name);
// The URL with more parameters in its query.
[[nodiscard]] std::string with_query(std::string_view url, const Parameters& parameters);

}  // namespace mcpac::mcp::oauth
