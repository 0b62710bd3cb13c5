// Content of an authority, to print it, record it or prepare a run by it.
#include <algorithm>

#include "policy/authority_state.h"
#include "policy/decide/decide.h"
#include "policy/decide/decide_places.h"

namespace mcpac::policy {

const std::vector<PathFact>& Authority::loaded_paths() const {
  return impl_->loaded_paths;
}

std::vector<Permission> Authority::named_tools() const {
  std::vector<Permission> named;
  if (impl_->layers.empty()) return named;
  const auto& run = impl_->layers.front();
  for (const auto& [permission, targets] : run.by_tool) {
    const bool granted = std::ranges::any_of(
        targets, [&](const auto& t) { return run.rules[t.rule].effect != Effect::kDeny; });
    if (granted && !is_control(permission)) named.push_back(permission);
  }
  return named;
}

const Bases& Authority::bases() const {
  return impl_->environment.bases;
}

const std::map<Permission, Money>& Authority::prices() const {
  return impl_->environment.prices;
}

std::vector<FilePlace> Authority::files() const {
  return files_of(impl_->layers);
}

std::vector<NetworkPlace> Authority::networks() const {
  std::vector<NetworkPlace> networks;
  for (const auto& place : networks_of(impl_->layers))
    networks.push_back({place.host, place.port, place.said_in});
  return networks;
}

std::optional<PlaceRefusal> Authority::place_refusal(PlaceKind kind) const {
  return refusal_of(impl_->layers, kind);
}

std::optional<std::string> Authority::network_denied() const {
  for (const auto& layer : impl_->layers) {
    if (layer.places.network_denied_in) return layer.places.network_denied_in;
  }
  return std::nullopt;
}

DeclaredPlaces Authority::named_places() const {
  if (impl_->layers.empty()) return {};
  const auto& run = impl_->layers.front().places;
  return {.files = !run.files.empty(), .network = !run.networks.empty()};
}

std::vector<RuleMeters> Authority::meters() const {
  std::vector<RuleMeters> all;
  const Times times = impl_->now();
  for (const auto& layer : impl_->layers) {
    for (const auto& rule : layer.rules) {
      if (rule.is_limited()) all.push_back({layer.name, rule.text, meters_of(rule, times)});
    }
  }
  return all;
}

std::vector<LayerRules::Rule> Authority::ended_rules() const {
  std::vector<LayerRules::Rule> ended;
  const Times times = impl_->now();
  for (const auto& layer : impl_->layers) {
    for (const auto& rule : layer.rules) {
      if (has_ended(rule, times)) ended.push_back({rule.text, rule.place, rule.effect});
    }
  }
  return ended;
}

std::string Authority::print() const {
  std::string text;
  for (const auto& layer : impl_->layers) {
    for (const auto& rule : layer.rules) text += rule.text + "\n";
    for (const auto& place : layer.places.statements) text += place.text + "\n";
  }
  return text;
}

std::vector<LayerRules> Authority::layers() const {
  std::vector<LayerRules> layers;
  for (const auto& layer : impl_->layers) {
    LayerRules rules{
        .name = layer.name, .rules = {}, .places = {}, .declared = layer.places.declared};
    for (const auto& rule : layer.rules)
      rules.rules.push_back({rule.text, rule.place, rule.effect});
    for (const auto& place : layer.places.statements)
      rules.places.push_back({place.text, place.said_in});
    layers.push_back(std::move(rules));
  }
  return layers;
}

std::vector<LayerRules::Rule> Authority::wildcards_over(const Permission& permission) const {
  std::vector<LayerRules::Rule> rules;
  for (const auto& layer : impl_->layers) {
    for (const auto* target : covering(layer, permission)) {
      if (target->is_wildcard)
        rules.push_back({target->rule_text, target->place, layer.rules[target->rule].effect});
    }
  }
  return rules;
}

}  // namespace mcpac::policy
