// SPDX-License-Identifier: Apache-2.0

#include "gateway/tracing/mcp_names.h"

#include <algorithm>
#include <array>

#include "core/offer.h"

namespace mcpac::gateway::tracing {
namespace {

constexpr std::array<std::string_view, 14> kMethods = {"initialize",
                                                       "ping",
                                                       "server/discover",
                                                       "tools/list",
                                                       "tools/call",
                                                       "resources/list",
                                                       "resources/templates/list",
                                                       "resources/read",
                                                       "resources/subscribe",
                                                       "resources/unsubscribe",
                                                       "prompts/list",
                                                       "prompts/get",
                                                       "completion/complete",
                                                       "logging/setLevel"};
constexpr std::string_view kToolsCall = "tools/call";

}  // namespace

std::string_view known_method(std::string_view method) {
  const auto found = std::ranges::find(kMethods, method);
  return found == kMethods.end() ? "_OTHER" : *found;
}

std::string method_of(const Permission& permission) {
  return offer_named(permission.tool()) ? permission.tool() : std::string(kToolsCall);
}

void name_tool(OpenSpan& span, const std::string& tool) {
  const std::string shown = attribute_text(tool);
  span.rename(std::string(kToolsCall) + " " + shown);
  span.set("gen_ai.operation.name", "execute_tool");
  span.set("gen_ai.tool.name", shown);
}

void put_decision(OpenSpan& span, const gate::Check& check) {
  span.set(kDecision, check.allowed ? "allow" : "deny");
  span.set("mcpac.decided_by", std::string(gate::to_string(check.decided_by)));
  if (!check.layer.empty()) span.set("mcpac.layer", attribute_text(check.layer));
  if (!check.place.empty()) span.set("mcpac.rule", attribute_text(check.place));
  if (!check.asks.empty()) span.set("mcpac.asked", true);
  if (!check.approval.empty()) span.set("mcpac.audit.approval", check.approval);
  if (!check.program_run.empty()) span.set("mcpac.program.run", check.program_run);
  span.set("mcpac.audit.call", static_cast<std::int64_t>(check.call_id));
}

void put_answer(OpenSpan& span, const gate::Answer& answer) {
  if (!answer) return span.fail_as(std::string(gate::to_string(answer.error().kind)));
  if (is_tool_error(*answer)) span.fail_as("tool_error");
}

bool is_tool_error(const Json& result) {
  const Json* is_error = find_member(result, "isError");
  return is_error != nullptr && is_error->is_boolean() && is_error->get<bool>();
}

void put_error_code(OpenSpan& span, std::int64_t code) {
  span.set(kStatusCode, std::to_string(code));
  span.fail_as(std::to_string(code));
}

}  // namespace mcpac::gateway::tracing
