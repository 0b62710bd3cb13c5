// Self-tests: `match` and `not_match` of a policy file, run whenever it is loaded.
#pragma once

#include <vector>

#include "policy/rules/compiled.h"

namespace mcpac::policy {

// They look at the file's own rules alone, in `layer`, with nothing used up. kSelfTestFailed for
// the first that fails.
[[nodiscard]] Result<void> run_self_tests(const std::vector<const ast::SelfTest*>& tests,
                                          const CompiledLayer& layer, const SourceText& source,
                                          const Environment& environment);

}  // namespace mcpac::policy
