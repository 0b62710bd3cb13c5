// SPDX-License-Identifier: Apache-2.0

#include "run/check/attenuate.h"

#include <fmt/format.h>

#include "run/check/check.h"

namespace mcpac::run {
namespace {

policy::LayerText as_declared(const policy::LayerRules& layer) {
  policy::LayerText text;
  text.name = layer.name;
  text.declared = layer.declared;
  std::string rules;
  for (const auto& rule : layer.rules) rules += rule.text + "\n";
  if (!rules.empty()) text.files.emplace_back(std::move(rules), layer.name);
  return text;
}

policy::LayerText admitting(const policy::LayerRules& layer, std::vector<std::string> grants) {
  policy::LayerText text;
  text.name = layer.name;
  text.grants = std::move(grants);
  std::string places;
  for (const auto& place : layer.places) places += place.text + "\n";
  if (!places.empty()) text.files.emplace_back(std::move(places), layer.name);
  return text;
}

}  // namespace

Result<policy::Authority> attenuate(const policy::Authority& whole,
                                    const std::set<Permission>& tools, const PolicyWorld& world) {
  std::vector<std::string> grants;
  for (const Permission& tool : tools) {
    auto grant = grant_text(tool);
    if (!grant) return pass_on(grant);
    grants.push_back(
        fmt::format("{} audit {}", *grant, policy::to_string(whole.audit_level(tool))));
  }
  std::vector<policy::LayerText> layers;
  for (const auto& layer : whole.layers())
    layers.push_back(layer.declared ? as_declared(layer) : admitting(layer, grants));
  return policy::Authority::load(layers, world.environment());
}

}  // namespace mcpac::run
