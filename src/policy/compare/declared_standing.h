// DeclaredStanding: a program's declaration against the grants, by inclusion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/inclusion.h"
#include "policy/rules/compiled.h"
#include "policy/sets/known_strings.h"
#include "policy/standing.h"

namespace mcpac::policy {

// `where` is the text of a Narrow, empty for the whole tool. Included in every layer: covered.
// Nothing in common with them: missing, with a declared call that is refused. Else conditional. A
// program waits for this before every run; what takes more is decided call by call. `strings`: what
// was found for other tools of the same environment.
inline constexpr InclusionBudget kStandingBudget{.steps = 1'000'000};
[[nodiscard]] DeclaredStanding declared_standing(const std::vector<CompiledLayer>& layers,
                                                 const Permission& permission,
                                                 std::string_view where,
                                                 const Environment& environment,
                                                 KnownStrings& strings,
                                                 const InclusionBudget& budget = kStandingBudget);

}  // namespace mcpac::policy
