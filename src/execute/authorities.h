// The authority of a run: what was granted, under what was declared, under the project's ceiling.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "execute/project.h"
#include "policy/authority.h"

namespace mcpac::execute {

// What rules are about: the lock's tools, the places that path tests name, the clock. Outlives
// every Authority that was loaded against it.
struct PolicyWorld {
  PolicyWorld(const Project& project, const Clock& clock);
  policy::ToolSchemas tools;
  policy::Bases bases;
  std::unique_ptr<const policy::PathResolver> resolver;
  const Clock& clock;
};

// How explanations call the project's ceiling.
inline constexpr std::string_view kPolicyLayer = "mcpac.policy";

// `layers` plus, where the project has one, mcpac.policy as a ceiling. A rule that does not load is
// an error: then nothing runs.
[[nodiscard]] Result<policy::Authority> load_authority(const Project& project,
                                                       const PolicyWorld& world,
                                                       std::vector<policy::LayerText> layers);

}  // namespace mcpac::execute
