// Unevaluated: code that never runs: the operands of sizeof and noexcept, and the types that
// aliases name.
//
// In doubt something counts as run: where a macro made the operator, or an array's length is only
// known at run time, which even sizeof computes. The body of a lambda runs wherever the lambda
// stands.
#pragma once

#include <clang-c/Index.h>

namespace mcpac::analyzer {

[[nodiscard]] bool is_never_run(CXCursor node);
// Whether `child` is part of the type that `declaration` has, and so is never run.
[[nodiscard]] bool is_in_type_of(CXCursor declaration, CXCursor child);

}  // namespace mcpac::analyzer
