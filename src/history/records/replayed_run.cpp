// SPDX-License-Identifier: Apache-2.0

#include "history/records/replayed_run.h"

#include <fmt/format.h>

#include <utility>

#include "history/records/recorded_connection.h"
#include "policy/policy_digest.h"
#include "policy/text/printer.h"

namespace mcpac::history {
namespace {

std::set<Permission> declared_by(const Json& payload) {
  std::set<Permission> declared;
  const Json* list = find_member(payload, "permissions");
  if (list == nullptr || !list->is_array()) return declared;
  for (const Json& name : *list) {
    auto permission = Permission::parse(name.is_string() ? name.get<std::string>() : "");
    if (permission) declared.insert(std::move(*permission));
  }
  return declared;
}

// The places that the run is said to have been given are those that its rules admit. An older
// record, without any, had none.
void compare_places(const policy::Authority& authority, const Json& payload,
                    std::vector<std::string>& differences) {
  Json files = Json::array();
  for (const auto& place : authority.files())
    files.push_back({{"path", place.path}, {"mode", policy::to_string(place.mode)}});
  Json network = Json::array();
  for (const auto& place : authority.networks())
    network.push_back({{"place", policy::print_network(place.host, place.port)}});
  for (const auto& [name, now] : {std::pair("files", &files), std::pair("network", &network)}) {
    const Json* recorded = find_member(payload, name);
    Json then = recorded == nullptr ? Json::array() : *recorded;
    for (Json& place : then) {
      if (place.is_object()) place.erase("said_in");
    }
    if (then != *now)
      differences.push_back(fmt::format("its {} are not those that its rules give", name));
  }
}

}  // namespace

Result<std::unique_ptr<ReplayedRun>> load_replayed_run(const Json& policy, const Json& payload,
                                                       const LockOf& lock_of,
                                                       std::vector<std::string>& differences) {
  auto recorded = policy::read_policy_record(policy);
  if (!recorded) return pass_on(recorded);
  const Json* binding = find_member(payload, "binding");
  if (binding == nullptr) return fail(ErrorId::kAuditUnreadable, "the run is bound to nothing");
  auto run = std::make_unique<ReplayedRun>();
  if (server_of_record(payload).empty()) {
    auto lock = lock_of(string_member(*binding, "lock"));
    if (!lock) return pass_on(lock);
    run->lock = std::move(*lock);
  }
  run->schemas = servers::tool_schemas(run->lock);
  run->declared = declared_by(payload);
  std::set<std::string> servers;
  for (const auto& permission : run->declared) servers.insert(permission.server());
  // What was left to a server then is not recorded: a call that was refused for its schema stands
  // as that in the record.
  run->tools = servers::compile_tools(run->lock, servers, [](auto, auto) { return true; });
  // A client of the gateway; a program that names one in its note is told of no such tool.
  if (string_member(payload, "declared_in") == "grants")
    servers::add_offers(run->declared, run->lock, run->tools.table);
  run->observes = string_member(payload, "mode") == "observe";
  run->loaded_paths = recorded->paths;
  run->paths.set(recorded->paths);
  policy::Environment environment;
  environment.tools = &run->schemas;
  environment.resolver = &run->paths;
  environment.clock = &run->clock;
  run->is_older = !recorded->bases.by_identity;
  environment.bases = std::move(recorded->bases);
  environment.prices = std::move(recorded->prices);
  environment.is_replay = true;
  auto authority = policy::Authority::load(recorded->layers, environment);
  if (!authority) {
    differences.push_back("the policy does not load any more: " + authority.error().what);
    return nullptr;
  }
  if (policy::policy_digest(*authority) != string_member(*binding, "policy"))
    differences.emplace_back("the policy is not the one that the run was bound to");
  run->authority = std::move(*authority);
  compare_places(*run->authority, payload, differences);
  return run;
}

}  // namespace mcpac::history
