#include "policy/policy_digest.h"

#include <utility>

#include "core/canonical_json.h"
#include "core/hash.h"

namespace mcpac::policy {
namespace {

Json to_json(const LayerRules& layer) {
  Json rules = Json::array();
  for (const auto& rule : layer.rules) rules.push_back(rule.text);
  return {{"name", layer.name}, {"rules", std::move(rules)}};
}

// The same rule means another thing from another folder or for another user.
Json to_json(const Bases& bases) {
  return {{"current_directory", bases.current_directory},
          {"home", bases.home},
          {"roots", bases.roots},
          {"working_directories", bases.working_directories},
          {"remote_servers", bases.remote_servers}};
}

// `cost <= 1.00 USD` is more calls where a call is cheaper.
Json to_json(const std::map<Permission, Money>& prices) {
  Json json = Json::object();
  for (const auto& [permission, price] : prices) json[permission.text()] = to_text(price);
  return json;
}

}  // namespace

std::string policy_digest(const Authority& authority) {
  Json layers = Json::array();
  for (const auto& layer : authority.layers()) layers.push_back(to_json(layer));
  return sha256_hex(canonical_json(Json{{"mcpac", "policy"},
                                        {"layers", std::move(layers)},
                                        {"bases", to_json(authority.bases())},
                                        {"prices", to_json(authority.prices())}}));
}

}  // namespace mcpac::policy
