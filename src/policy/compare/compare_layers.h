// SPDX-License-Identifier: Apache-2.0

// Compare layers: the inclusion of one stack of layers in another.
#pragma once

#include <cstddef>
#include <vector>

#include "policy/environment.h"
#include "policy/inclusion.h"
#include "policy/rules/compiled.h"
#include "policy/sets/known_strings.h"

namespace mcpac::policy {

// The first thing that stands against it, in the order of the tools; an excess before what is
// undecided.
[[nodiscard]] Inclusion layers_include(const std::vector<CompiledLayer>& wider,
                                       const std::vector<CompiledLayer>& narrower,
                                       const Environment& environment, const Environment& other,
                                       const InclusionBudget& budget);
// The same for one tool alone.
[[nodiscard]] Inclusion tool_beyond(const std::vector<CompiledLayer>& wider,
                                    const std::vector<CompiledLayer>& narrower,
                                    const Permission& permission, const Environment& environment,
                                    const InclusionBudget& budget);
// What two have to do with each other over one tool: what stands against the inclusion, and whether
// there may be a call that neither denies.
struct Relation {
  Inclusion beyond;
  bool in_common = true;
  std::size_t steps = 0;  // that it took
};
[[nodiscard]] Relation relate_tool(const std::vector<CompiledLayer>& wider,
                                   const std::vector<CompiledLayer>& narrower,
                                   const Permission& permission, const Environment& environment,
                                   const InclusionBudget& budget);
// The same of one of many tools of an environment, with what was found of strings for others: one
// example of each answer suffices, so what is beyond may be another call.
[[nodiscard]] Relation relate_tool(const std::vector<CompiledLayer>& wider,
                                   const std::vector<CompiledLayer>& narrower,
                                   const Permission& permission, const Environment& environment,
                                   const InclusionBudget& budget, KnownStrings& strings);
// One answer for each tool where it does not hold.
[[nodiscard]] std::vector<Inclusion> layers_beyond(const std::vector<CompiledLayer>& wider,
                                                   const std::vector<CompiledLayer>& narrower,
                                                   const Environment& environment,
                                                   const Environment& other,
                                                   const InclusionBudget& budget);

}  // namespace mcpac::policy
