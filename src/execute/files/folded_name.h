// A name as file systems see it that take names for the same which differ in case or in code points
// that nobody sees (casefold of ext4 and f2fs): lower case and without what is ignored, as far as
// it can make a plain letter.
#pragma once

#include <string>
#include <string_view>

namespace mcpac::execute {

[[nodiscard]] std::string folded(std::string_view name);

}  // namespace mcpac::execute
