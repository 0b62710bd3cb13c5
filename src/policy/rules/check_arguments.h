// Check arguments: a rule's tests of arguments against the schemas of the tools it covers.
//
// A rule that names what no schema has, or tests for what no schema admits, would never decide
// anything; its author meant something else. Behind a wildcard one covered tool is enough
// (vectors, reading R2).
#pragma once

#include <vector>

#include "policy/rules/compiled.h"

namespace mcpac::policy {

// Names, types, shapes and listed values of one argument. `schemas` are of the covered tools; none:
// a control permission, without known arguments.
[[nodiscard]] Checked<void> check_argument(const ast::Arg& arg, const CompiledArg& compiled,
                                           const std::vector<const Json*>& schemas);

// Whether a call of a tool with this schema may have the argument, for all that the schema says.
[[nodiscard]] bool knows_argument(const Json& schema, const ast::Arg& arg);

// An allow whose closed brackets leave out what the schema requires admits no call.
[[nodiscard]] Checked<void> check_required(const ast::Target& target,
                                           const CompiledBrackets& brackets,
                                           const std::vector<const Json*>& schemas);

}  // namespace mcpac::policy
