// Suggestions: the known name that a mistyped one probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mcpac {

// The nearest of `names` by edits, capitals or not, as far as it is near enough to be meant (a
// third of the length); else the first that begins with `wrong`, before all one that goes on with a
// dot; else empty.
[[nodiscard]] std::string nearest_name(std::string_view wrong,
                                       const std::vector<std::string>& names);
// "did you mean 'x'?" or empty.
[[nodiscard]] std::string did_you_mean(std::string_view wrong,
                                       const std::vector<std::string>& names);

}  // namespace mcpac
