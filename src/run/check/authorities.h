// SPDX-License-Identifier: Apache-2.0

// The authority of a run: the grants, limited by the declaration and by the project's ceiling.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/report.h"
#include "core/clock.h"
#include "core/error.h"
#include "policy/authority.h"
#include "project/project.h"
#include "project/project_place.h"

namespace mcpac::run {

// World of the rules: the lock's tools, the places that path tests name, the clock. Outlives every
// Authority that was loaded against it.
struct PolicyWorld {
  PolicyWorld(const project::Project& project, const Clock& clock);
  // Environment of the rules; borrows from this world.
  [[nodiscard]] policy::Environment environment() const;
  policy::ToolSchemas tools;
  policy::Bases bases;
  std::string home_variable;  // $HOME, of this process
  std::map<Permission, Money> prices;
  std::unique_ptr<const policy::PathResolver> resolver;
  const Clock& clock;
};

// Name of the project's ceiling in explanations.
inline constexpr std::string_view kPolicyLayer = "mcpac.policy";
// Behind its name, where it allows what nothing grants.
inline constexpr std::string_view kOnlyLimits = "only limits what is granted, and grants nothing";
using analyzer::kDeclarationLayer;

// A program's declaration, as a layer of its own: a Narrow binds it even where more was granted.
// `rules` are those of declared_rules(), mcpac.files and mcpac.network among them: these cut no
// places, they say whether there are any.
[[nodiscard]] policy::LayerText declaration_layer(std::vector<std::string> rules);

// A file of rules that a user wrote; at most 1 MiB. Messages call it as it is called here.
[[nodiscard]] Result<policy::PolicyFile> read_rules(const std::filesystem::path& file);

// mcpac.policy; nothing where the project has none.
[[nodiscard]] Result<std::optional<policy::PolicyFile>> read_ceiling(
    const project::Project& project);

// `layers` plus, where the project has one, mcpac.policy as a ceiling. A rule that does not load is
// an error: then nothing runs.
// `allowed`: rules that the ceiling is read with as if it had them, to tell what they would do.
[[nodiscard]] Result<policy::Authority> load_authority(const project::Project& project,
                                                       const PolicyWorld& world,
                                                       std::vector<policy::LayerText> layers,
                                                       std::vector<std::string> allowed = {});

// The command line's own, as load_authority() loads it, and no ceiling.
[[nodiscard]] Result<policy::Authority> load_own(const project::Project& project,
                                                 const PolicyWorld& world,
                                                 policy::LayerText granted);

// Says of each rule that admits nothing why: its `until` is over; and of each allow that lets
// nothing through unasked which ask is in its way.
void warn_of_idle_rules(const policy::Authority& authority,
                        const std::function<void(std::string_view)>& warning);

// The rules and places of all layers but the program's declaration, each behind its layer's name:
// "the command line: allow fs.read".
[[nodiscard]] std::vector<std::string> stated_rules(const policy::Authority& authority);
// One of these without its layer's name.
[[nodiscard]] std::string_view rule_of_stated(std::string_view stated);

}  // namespace mcpac::run
