// SPDX-License-Identifier: Apache-2.0

// The words that generated scopes declare themselves (templates/EMITTED_FORM.md, "Names that the
// form needs itself"); a name of a server that meets one gets a '_' after it.
#pragma once

#include <set>
#include <string>

namespace mcpac::codegen {

enum class ShapeKind { kArgs, kResult };

[[nodiscard]] const std::set<std::string>& server_words();          // members of Requires<…>
[[nodiscard]] const std::set<std::string>& tool_words();            // in namespace mcp::<server>
[[nodiscard]] const std::set<std::string>& field_words(ShapeKind);  // fields, nested ones too
[[nodiscard]] const std::set<std::string>& type_words();            // types in an Args or a Result

}  // namespace mcpac::codegen
