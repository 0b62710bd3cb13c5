// SPDX-License-Identifier: Apache-2.0

#include "cli/rule_reader.h"

#include "run/check/require_granted.h"
#include "servers/tool_tables.h"

namespace mcpac::cli {

Result<std::unique_ptr<RuleReader>> RuleReader::open(const Context& context) {
  auto project = context.project();
  if (!project) return pass_on(project);
  auto lock = project::load_lock(*project);
  if (!lock) return pass_on(lock);
  return std::make_unique<RuleReader>(std::move(*project), std::move(*lock),
                                      [talk = context](std::string_view text) { talk.warn(text); });
}

RuleReader::RuleReader(project::Project project, codegen::Lock lock,
                       std::function<void(std::string_view)> warning)
    : project_(std::move(project)),
      lock_(std::move(lock)),
      world_(project_, clock_),
      warning_(std::move(warning)) {
  world_.tools = servers::tool_schemas(lock_);
}

Result<policy::Authority> RuleReader::file(const std::filesystem::path& name) const {
  auto rules = run::read_rules(name);
  if (!rules) return pass_on(rules);
  return load(std::move(*rules));
}

Result<policy::Authority> RuleReader::load(policy::PolicyFile rules) const {
  policy::LayerText layer;
  layer.name = rules.name;
  layer.files.push_back(std::move(rules));
  return policy::Authority::load({layer}, world_.environment());
}

Result<policy::Authority> RuleReader::run(const GrantOptions& options,
                                          std::vector<std::string> declared) const {
  auto layer = to_layer(options);
  if (!layer) return pass_on(layer);
  std::vector<policy::LayerText> layers = {*layer};
  if (!declared.empty()) {
    layers.push_back(run::declaration_layer(std::move(declared)));
  }
  auto authority = run::load_authority(project_, world_, std::move(layers));
  if (authority) run::warn_of_open_ends(warning_, *layer, &world_.tools);
  return authority;
}

}  // namespace mcpac::cli
