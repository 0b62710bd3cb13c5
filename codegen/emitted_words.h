// The words that generated scopes declare themselves (templates/EMITTED_FORM.md), which no name of
// a server may take there.
#pragma once

#include <set>
#include <string>

namespace mcpac::codegen {

[[nodiscard]] const std::set<std::string>& tool_words();  // in namespace mcp::<server>
[[nodiscard]] const std::set<std::string>&
field_words();  // in an Args, a Result or a struct of theirs
[[nodiscard]] const std::set<std::string>& type_words();        // types in an Args or a Result
[[nodiscard]] const std::set<std::string>& enumerator_words();  // in an enum class

}  // namespace mcpac::codegen
