// SPDX-License-Identifier: Apache-2.0

#include "run/live/gate_control.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "core/printable.h"

namespace mcpac::run {
namespace {

// Of a program with a thousand calls in flight the oldest tell enough.
constexpr std::size_t kMaxCalls = 100;

Json question_of(const gate::GateStatus& status) {
  if (status.question == nullptr) return nullptr;
  Json rules = Json::array();
  for (const auto& rule : status.question->rules)
    rules.push_back({{"layer", rule.layer}, {"rule", rule.rule}});
  return {{"question", status.question->id},
          {"permission", status.question->permission},
          {"call", status.question->call_digest},
          {"rules", std::move(rules)}};
}

Json state_of(const gate::Gate& gate, const LiveFacts& facts) {
  const auto status = gate.status();
  Json calls = Json::array();
  for (const auto& call : status.in_flight) {
    if (calls.size() == kMaxCalls) break;
    calls.push_back(
        {{"call_id", call.id}, {"permission", call.permission}, {"ms", call.since.count()}});
  }
  Json revoked = Json::array();
  if (status.everything_revoked) revoked.push_back("*");
  for (const auto& permission : status.revoked) revoked.push_back(permission.text());
  Json meters = Json::array();
  for (const auto& rule : status.meters) {
    for (const auto& meter : rule.meters)
      meters.push_back({{"layer", rule.layer},
                        {"rule", rule.rule},
                        {"meter", meter.meter},
                        {"used", meter.used},
                        {"limit", meter.limit}});
  }
  return {{"program", facts.program},
          {"pid", ::getpid()},
          {"started", facts.started},
          {"declared", gate.declared().texts},
          {"granted", facts.granted},
          {"mode", facts.mode == gate::Mode::kEnforce ? "enforce" : "observe"},
          {"lifted_by", facts.lifted_by},
          {"server_places", facts.server_places ? facts.server_places() : Json::object()},
          {"meters", std::move(meters)},
          {"allowed", status.allowed},
          {"denied", status.denied},
          {"in_flight", status.in_flight.size()},
          {"calls", std::move(calls)},
          {"revoked", std::move(revoked)},
          {"connections", status.connections},
          {"question", question_of(status)},
          {"questions", status.questions_waiting}};
}

Json to_json(const gate::Revocation& ended, const std::string& what) {
  return {{"revoked", what},
          {"cancelled_calls", ended.calls},
          {"cancelled_questions", ended.questions},
          {"closed_connections", ended.connections}};
}

}  // namespace

RunControls controls_of(gate::Gate& gate, LiveFacts facts, std::function<void()> kill) {
  RunControls controls;
  controls.show = [&gate, facts] { return state_of(gate, facts); };
  controls.revoke = [&gate](const std::string& name) -> Result<Json> {
    if (name.empty()) return to_json(gate.revoke_all(), "*");
    const auto permission = Permission::parse(name);
    const auto& declared = gate.declared();
    const bool is_held =
        permission &&
        (declared.permissions.contains(*permission) ||
         (name == policy::kNetworkPermission && std::ranges::count(declared.texts, name) > 0));
    if (!is_held) {
      return fail(ErrorId::kUnknownTool,
                  fmt::format("the run does not hold {}", printable(name, 200)));
    }
    return to_json(gate.revoke(*permission), permission->text());
  };
  controls.kill = [&gate, kill = std::move(kill)] {
    kill();  // first: a program that hears of what it lost has little time to act on it
    Json json = to_json(gate.revoke_all(), "*");
    json["killed"] = true;
    return json;
  };
  return controls;
}

}  // namespace mcpac::run
