// SPDX-License-Identifier: Apache-2.0

#include "policy/policy_record.h"

#include "core/canonical_json.h"
#include "core/hash.h"

namespace mcpac::policy {
namespace {

std::unexpected<Error> unreadable(std::string what) {
  return fail(ErrorId::kAuditUnreadable, "the policy of the run cannot be read: " + what);
}

bool read_texts(const Json& record, const char* name, std::map<std::string, std::string>& into) {
  const Json* object = find_member(record, name);
  if (object == nullptr || !object->is_object()) return false;
  for (const auto& [key, value] : object->items()) {
    if (!value.is_string()) return false;
    into[key] = value.get<std::string>();
  }
  return true;
}

// What records have that were written since files are known by their identity.
bool read_later_bases(const Json& json, Bases& bases) {
  const Json* identity = find_member(json, "by_identity");
  bases.by_identity = identity != nullptr && *identity == true;
  if (const Json* given = find_member(json, "given_folders")) {
    if (!given->is_object()) return false;
    for (const auto& [server, folders] : given->items()) {
      if (!folders.is_array()) return false;
      for (const Json& folder : folders) {
        if (!folder.is_string()) return false;
        bases.given_folders[server].push_back(folder.get<std::string>());
      }
    }
  }
  if (const Json* mounts = find_member(json, "mounts")) {
    if (!mounts->is_object()) return false;
    for (const auto& [server, folders] : mounts->items()) {
      if (!read_texts(*mounts, server.c_str(), bases.mounts[server])) return false;
    }
  }
  if (const Json* unknown = find_member(json, "unknown_starts")) {
    if (!unknown->is_array()) return false;
    for (const Json& server : *unknown) {
      if (!server.is_string()) return false;
      bases.unknown_starts.insert(server.get<std::string>());
    }
  }
  const Json* tools = find_member(json, "entry_only");
  if (tools == nullptr) return true;
  if (!tools->is_array()) return false;
  for (const Json& tool : *tools) {
    auto permission = Permission::parse(tool.is_string() ? tool.get<std::string>() : "");
    if (!permission) return false;
    bases.entry_only.insert(std::move(*permission));
  }
  return true;
}

Result<Bases> read_bases(const Json& json) {
  Bases bases;
  bases.current_directory = string_member(json, "current_directory");
  bases.home = string_member(json, "home");
  if (!read_texts(json, "roots", bases.roots) ||
      !read_texts(json, "working_directories", bases.working_directories))
    return unreadable("its bases");
  const Json* remote = find_member(json, "remote_servers");
  if (remote == nullptr || !remote->is_array()) return unreadable("its bases");
  for (const Json& server : *remote) {
    if (!server.is_string()) return unreadable("its bases");
    bases.remote_servers.insert(server.get<std::string>());
  }
  if (!read_later_bases(json, bases)) return unreadable("its bases");
  return bases;
}

// What an older record does not have, its run had none of. Statements become lines of the layer's
// file, so that each is told from the others by where it stands.
Result<void> read_places(const Json& json, std::string& text) {
  const Json* places = find_member(json, "places");
  if (places == nullptr) return {};
  if (!places->is_array()) return unreadable("its places");
  for (const Json& place : *places) {
    const std::string line = string_member(place, "statement");
    if (line.empty() || line.find('\n') != std::string::npos) return unreadable("its places");
    text += line + "\n";
  }
  return {};
}

Result<void> read_declared(const Json& json, LayerText& layer) {
  const Json* declares = find_member(json, "declares");
  if (declares == nullptr) return {};
  const Json* files = find_member(*declares, "files");
  const Json* network = find_member(*declares, "network");
  if (files == nullptr || !files->is_boolean() || network == nullptr || !network->is_boolean())
    return unreadable("what was declared");
  layer.declared = DeclaredPlaces{.files = files->get<bool>(), .network = network->get<bool>()};
  return {};
}

Result<LayerText> read_layer(const Json& json) {
  LayerText layer;
  layer.name = string_member(json, "name");
  const Json* rules = find_member(json, "rules");
  if (rules == nullptr || !rules->is_array()) return unreadable("its layers");
  std::string text;
  for (const Json& rule : *rules) {
    const std::string line = string_member(rule, "rule");
    if (line.empty() || line.find('\n') != std::string::npos) return unreadable("its rules");
    text += line + "\n";
  }
  if (auto read = read_places(json, text); !read) return pass_on(read);
  layer.files.emplace_back(std::move(text), layer.name);
  if (auto read = read_declared(json, layer); !read) return pass_on(read);
  return layer;
}

}  // namespace

Json to_json(const Bases& bases) {
  Json json = {{"current_directory", bases.current_directory},
               {"home", bases.home},
               {"roots", bases.roots},
               {"working_directories", bases.working_directories},
               {"remote_servers", bases.remote_servers}};
  if (bases.by_identity) json["by_identity"] = true;
  if (!bases.given_folders.empty()) json["given_folders"] = bases.given_folders;
  if (!bases.mounts.empty()) json["mounts"] = bases.mounts;
  if (!bases.unknown_starts.empty()) json["unknown_starts"] = bases.unknown_starts;
  for (const auto& tool : bases.entry_only) json["entry_only"].push_back(tool.text());
  return json;
}

Bases bases_of(Bases bases, const std::string& server) {
  const auto keep = [&server](auto& map) {
    std::erase_if(map, [&](const auto& entry) { return entry.first != server; });
  };
  keep(bases.roots);
  keep(bases.working_directories);
  keep(bases.given_folders);
  keep(bases.mounts);
  const auto is_other = [&server](const std::string& one) { return one != server; };
  std::erase_if(bases.remote_servers, is_other);
  std::erase_if(bases.unknown_starts, is_other);
  std::erase_if(bases.entry_only, [&](const Permission& tool) { return tool.server() != server; });
  return bases;
}

Json to_json(const PathFact& fact) {
  Json json = {{"path", fact.path}, {"real", fact.real ? Json(*fact.real) : Json(nullptr)}};
  if (!fact.base.empty()) json["base"] = fact.base;
  if (fact.seen) json["seen"] = *fact.seen;
  return json;
}

Result<std::vector<PathFact>> read_path_facts(const Json& list) {
  std::vector<PathFact> facts;
  if (!list.is_array()) return unreadable("its paths");
  for (const Json& item : list) {
    const Json* real = find_member(item, "real");
    if (real == nullptr || !(real->is_null() || real->is_string())) return unreadable("its paths");
    const Json* seen = find_member(item, "seen");
    if (seen != nullptr && !seen->is_string()) return unreadable("its paths");
    facts.push_back({string_member(item, "base"), string_member(item, "path"),
                     real->is_null() ? std::nullopt : std::optional(real->get<std::string>()),
                     seen == nullptr ? std::nullopt : std::optional(seen->get<std::string>())});
  }
  return facts;
}

Json policy_record(const Authority& authority) {
  Json layers = Json::array();
  for (const auto& layer : authority.layers()) {
    Json rules = Json::array();
    for (const auto& rule : layer.rules)
      rules.push_back({{"rule", rule.text}, {"place", rule.place}});
    Json json = {{"name", layer.name}, {"rules", std::move(rules)}};
    for (const auto& place : layer.places)
      json["places"].push_back({{"statement", place.text}, {"place", place.place}});
    if (layer.declared)
      json["declares"] = {{"files", layer.declared->files}, {"network", layer.declared->network}};
    layers.push_back(std::move(json));
  }
  Json prices = Json::object();
  for (const auto& [tool, price] : authority.prices()) prices[tool.text()] = to_text(price);
  Json paths = Json::array();
  for (const auto& fact : authority.loaded_paths()) paths.push_back(to_json(fact));
  return {{"layers", std::move(layers)},
          {"bases", to_json(authority.bases())},
          {"prices", std::move(prices)},
          {"paths", std::move(paths)}};
}

std::string digest_of_record(const Json& policy_record) {
  return sha256_hex(canonical_json(policy_record));
}

Result<RecordedPolicy> read_policy_record(const Json& record) {
  RecordedPolicy policy;
  const Json* layers = find_member(record, "layers");
  const Json* bases = find_member(record, "bases");
  const Json* paths = find_member(record, "paths");
  if (layers == nullptr || !layers->is_array() || bases == nullptr || paths == nullptr)
    return unreadable("it is incomplete");
  for (const Json& json : *layers) {
    auto layer = read_layer(json);
    if (!layer) return pass_on(layer);
    policy.layers.push_back(std::move(*layer));
  }
  auto read = read_bases(*bases);
  if (!read) return pass_on(read);
  policy.bases = std::move(*read);
  auto facts = read_path_facts(*paths);
  if (!facts) return pass_on(facts);
  policy.paths = std::move(*facts);
  std::map<std::string, std::string> prices;
  if (!read_texts(record, "prices", prices)) return unreadable("its prices");
  for (const auto& [tool, text] : prices) {
    const auto permission = Permission::parse(tool);
    const auto price = parse_money(text);
    if (!permission || !price) return unreadable("its prices");
    policy.prices.emplace(*permission, *price);
  }
  return policy;
}

}  // namespace mcpac::policy
