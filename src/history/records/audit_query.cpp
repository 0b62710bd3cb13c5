// SPDX-License-Identifier: Apache-2.0

#include "history/records/audit_query.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "history/records/connection_query.h"
#include "history/records/run_files.h"
#include "policy/places.h"

namespace mcpac::history {
namespace {

bool is_check(const audit::Event& event) {
  return event.kind == "CapabilityCheck" || event.kind == "NetworkCheck";
}

std::string capability_of(const audit::Event& event) {
  if (event.kind != "NetworkCheck") return string_member(event.payload, "capability");
  const auto connection = connection_of(event);
  return connection ? connection->capability() : std::string(policy::kNetworkPermission);
}

std::string destination_of(const audit::Event& event) {
  const auto connection = connection_of(event);
  return connection ? connection->destination() : std::string();
}

bool is_allowed(const audit::Event& event) {
  const Json* allowed = find_member(event.payload, "allowed");
  return allowed != nullptr && *allowed == true;
}

// Rules denied it, and it was made: the run only observed.
bool is_observed(const audit::Event& event) {
  const Json* denied = find_member(event.payload, "would_deny");
  return denied != nullptr && *denied == true;
}

// The numbers of the rules of the run's own layer that let the call through.
void note_rules(const Json& payload, std::set<std::size_t>& used) {
  const Json* layers = find_member(payload, "layers");
  if (layers == nullptr || !layers->is_array() || layers->empty()) return;
  const Json& own = layers->front();
  const Json* rule = find_member(own, "rule");
  if (rule != nullptr && rule->is_number_unsigned()) used.insert(rule->get<std::size_t>());
  const Json* charged = find_member(own, "charged");
  if (charged == nullptr || !charged->is_array()) return;
  for (const Json& index : *charged) {
    if (index.is_number_unsigned()) used.insert(index.get<std::size_t>());
  }
}

struct RunUse {
  const audit::Event* started = nullptr;
  std::set<std::size_t> rules;
  std::set<std::string> permissions;
  std::vector<RecordedConnection> dialled;
};

// Tools that it declares, and the network; files are used without a record.
std::vector<std::string> recordable(const Json& started) {
  std::vector<std::string> names;
  const auto take = [&](const char* list, const auto& is_wanted) {
    const Json* json = find_member(started, list);
    if (json == nullptr || !json->is_array()) return;
    for (const Json& name : *json) {
      if (name.is_string() && is_wanted(name.get<std::string>())) names.push_back(name);
    }
  };
  take("permissions", [](const std::string&) { return true; });
  take("declared", [](const std::string& name) { return name == policy::kNetworkPermission; });
  return names;
}

std::vector<std::string> unused_rules(const Json& started, const std::set<std::size_t>& used) {
  std::vector<std::string> rules;
  const Json* policy = find_member(started, "policy");
  const Json* layers = policy == nullptr ? nullptr : find_member(*policy, "layers");
  if (layers == nullptr || !layers->is_array() || layers->empty()) return rules;
  const Json* own = find_member(layers->front(), "rules");
  if (own == nullptr || !own->is_array()) return rules;
  for (std::size_t i = 0; i < own->size(); ++i) {
    const std::string text = string_member((*own)[i], "rule");
    if (!text.starts_with("deny ") && !used.contains(i)) rules.push_back(text);
  }
  return rules;
}

}  // namespace

std::vector<DeniedByRule> denied_by_rule(const std::vector<audit::Event>& events) {
  std::map<std::tuple<std::string, std::string, std::string, std::string, bool>, DeniedByRule>
      groups;
  for (const auto& event : events) {
    if (!is_check(event) || (is_allowed(event) && !is_observed(event))) continue;
    const auto& payload = event.payload;
    DeniedByRule row{.layer = string_member(payload, "layer"),
                     .rule = string_member(payload, "rule"),
                     .capability = capability_of(event),
                     .target = destination_of(event),
                     .reason = {},
                     .observed = is_observed(event),
                     .calls = 0,
                     .first = event.time,
                     .last = {},
                     .runs = {}};
    std::tuple key{row.layer, row.rule, row.capability, row.target, row.observed};
    auto& group = groups.try_emplace(std::move(key), std::move(row)).first->second;
    ++group.calls;
    group.reason = string_member(payload, "reason");
    group.last = event.time;
    group.runs.insert(event.run_id);
    constexpr std::size_t kMostValues = 8;
    const std::string value = group.target.empty() ? string_member(payload, "target") : "";
    if (value.empty() || group.values.contains(value)) continue;
    if (group.values.size() < kMostValues)
      group.values.insert(value);
    else
      ++group.more_values;
  }
  std::vector<DeniedByRule> rows;
  for (auto& [key, row] : groups) rows.push_back(std::move(row));
  std::ranges::sort(rows, [](const DeniedByRule& a, const DeniedByRule& b) {
    return std::tie(b.calls, a.layer, a.rule, a.capability, a.target) <
           std::tie(a.calls, b.layer, b.rule, b.capability, b.target);
  });
  return rows;
}

std::vector<FirstUse> first_uses(const std::vector<audit::Event>& events) {
  std::set<std::pair<std::string, std::string>> known;
  std::vector<FirstUse> rows;
  for (const auto& event : events) {
    if (!is_check(event) || !is_allowed(event)) continue;
    const auto connection = connection_of(event);
    if (connection && !is_dialled(*connection)) continue;
    FirstUse row{
        .capability = capability_of(event),
        .target = connection ? connection->destination() : string_member(event.payload, "target"),
        .time = event.time,
        .run_id = event.run_id};
    if (known.emplace(row.capability, row.target).second) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Unused> granted_never_used(const std::vector<audit::Event>& events) {
  // What one file of a run's record does not use another may.
  const auto first = first_files(events);
  std::map<std::string, RunUse> runs;
  for (const auto& event : events) {
    const auto before = first.find(event.run_id);
    RunUse& run = runs[before == first.end() ? event.run_id : before->second];
    if (event.kind == "RunStarted" && (run.started == nullptr || before == first.end()))
      run.started = &event;
    if (!is_check(event) || !is_allowed(event)) continue;
    if (auto connection = connection_of(event)) {
      // What servers do is no use of what the program was granted.
      const std::string whose =
          run.started == nullptr ? "" : server_of_record(run.started->payload);
      if (!is_dialled(*connection) || connection->server != whose) continue;
      run.dialled.push_back(std::move(*connection));
      run.permissions.insert(policy::kNetworkPermission);
    } else {
      run.permissions.insert(capability_of(event));
    }
    note_rules(event.payload, run.rules);
  }
  std::vector<Unused> rows;
  for (const auto& [id, run] : runs) {
    if (run.started == nullptr) continue;
    const Json& started = run.started->payload;
    Unused row{.run_id = id,
               .program = string_member(started, "program"),
               .rules = unused_rules(started, run.rules),
               .permissions = {}};
    for (auto& place : unused_network_places(started, run.dialled))
      row.rules.push_back(std::move(place));
    for (auto& name : recordable(started)) {
      if (!run.permissions.contains(name)) row.permissions.push_back(std::move(name));
    }
    if (!row.rules.empty() || !row.permissions.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<LateCall> calls_after_revocation(const std::vector<audit::Event>& events) {
  std::map<std::string, std::map<std::string, std::string>> revoked;  // run → permission → time
  std::vector<LateCall> rows;
  for (const auto& event : events) {
    // Permissions revoked before the record went on in this file.
    const Json* before = find_member(event.payload, "revoked");
    if (event.kind == "RunStarted" && before != nullptr && before->is_array()) {
      for (const Json& name : *before) {
        if (name.is_string())
          revoked[event.run_id].try_emplace(name.get<std::string>(), event.time);
      }
    }
    if (event.kind == "Revoked")
      revoked[event.run_id].try_emplace(string_member(event.payload, "permission"), event.time);
    if (!is_check(event) || !is_allowed(event)) continue;
    const auto run = revoked.find(event.run_id);
    if (run == revoked.end()) continue;
    const std::string capability = capability_of(event);
    auto since = run->second.find(capability);
    if (since == run->second.end()) since = run->second.find("*");
    if (since == run->second.end()) continue;
    rows.push_back({event.run_id, capability, event.event_id, event.time, since->second});
  }
  return rows;
}

Json to_json(const std::vector<DeniedByRule>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) {
    list.push_back({{"layer", row.layer},
                    {"rule", row.rule},
                    {"capability", row.capability},
                    {"target", row.target.empty() ? Json(nullptr) : Json(row.target)},
                    {"reason", row.reason},
                    {"observed", row.observed},
                    {"calls", row.calls},
                    {"first", row.first},
                    {"last", row.last},
                    {"runs", row.runs},
                    {"values", row.values},
                    {"more_values", row.more_values}});
  }
  return list;
}

Json to_json(const std::vector<Touch>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) {
    list.push_back({{"run_id", row.run_id},
                    {"program", row.program},
                    {"time", row.time},
                    {"permission", row.permission},
                    {"argument", row.argument.empty() ? Json(nullptr) : Json(row.argument)},
                    {"did", row.did},
                    {"failed", row.failed}});
  }
  return list;
}

Json to_json(const std::vector<FirstUse>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) {
    list.push_back({{"capability", row.capability},
                    {"target", row.target.empty() ? Json(nullptr) : Json(row.target)},
                    {"time", row.time},
                    {"run_id", row.run_id}});
  }
  return list;
}

Json to_json(const std::vector<Unused>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) {
    list.push_back({{"run_id", row.run_id},
                    {"program", row.program},
                    {"rules", row.rules},
                    {"permissions", row.permissions}});
  }
  return list;
}

Json to_json(const std::vector<LateCall>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) {
    list.push_back({{"run_id", row.run_id},
                    {"capability", row.capability},
                    {"event_id", row.event_id},
                    {"time", row.time},
                    {"revoked", row.revoked}});
  }
  return list;
}

}  // namespace mcpac::history
