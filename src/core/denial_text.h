// SPDX-License-Identifier: Apache-2.0

// Denial text: the reason of a denial in one line, the same before a run as in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpac {

// `path "/etc/passwd" is not within ./data [allow fs.read(path within ./data)], nor do 2 other
// rules admit it`. `rule` is the one that decided or came nearest, and may be empty.
[[nodiscard]] std::string denial_text(std::string_view reason, std::string_view rule,
                                      std::size_t other_rules);

}  // namespace mcpac
