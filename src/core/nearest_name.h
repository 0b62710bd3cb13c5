// SPDX-License-Identifier: Apache-2.0

// Suggestions: the known name that a mistyped one probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mcpac {

// The nearest of `names` by edits, capitals or not, or empty where none is near enough to be meant
// (a third of the length).
[[nodiscard]] std::string nearest_name(std::string_view wrong,
                                       const std::vector<std::string>& names);
// The same; where none is near, the first that begins with `wrong`, before all one that goes on
// with a dot. Where `wrong` can only be such a name, and no word of another kind.
[[nodiscard]] std::string nearest_or_longer_name(std::string_view wrong,
                                                 const std::vector<std::string>& names);
// "did you mean 'x'?" or empty.
[[nodiscard]] std::string did_you_mean(std::string_view wrong,
                                       const std::vector<std::string>& names);

}  // namespace mcpac
