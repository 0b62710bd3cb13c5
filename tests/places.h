// Where the checkout and its build lie. Functions and no definitions on the command line: an object
// is then the same in every checkout, and the compiler's cache knows it again.
#pragma once

#include <string>
#include <string_view>

namespace mcpac::testing {

// Absolute; `place` is relative, empty for the folder itself.
std::string in_source(std::string_view place = "");
std::string in_build(std::string_view place = "");

}  // namespace mcpac::testing
