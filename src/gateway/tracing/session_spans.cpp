// SPDX-License-Identifier: Apache-2.0

#include "gateway/tracing/session_spans.h"

#include <utility>
#include <variant>

#include "core/json.h"
#include "gateway/call_answer.h"
#include "gateway/tracing/mcp_names.h"

namespace mcpac::gateway::tracing {
namespace {

struct IdText {
  std::string operator()(const std::string& text) const { return attribute_text(text); }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
};

// The kind of a refusal of ours, which is a result that the model reads.
std::string refusal_in(const Json& result) {
  const Json* meta = find_member(result, "_meta");
  const Json* error = meta == nullptr ? nullptr : find_member(*meta, kMetaError);
  return error == nullptr ? "" : string_member(*error, "kind");
}

}  // namespace

OpenSpan* SessionSpans::find(const ipc::Id& id) {
  const auto found = open_.find(id);
  return found == open_.end() ? nullptr : &found->second;
}

void SessionSpans::begin(const ipc::Request& request, std::string_view version) {
  if (!facts_.tracer || request.method == "subscriptions/listen") return;
  const std::string method(known_method(request.method));
  auto span = facts_.tracer->begin_server(method, context_in(request.params));
  span.set(kMethod, method);
  span.set(kRequestId, std::visit(IdText(), request.id));
  if (!version.empty()) span.set(kProtocolVersion, std::string(version));
  span.set(kTransport, facts_.transport);
  if (facts_.transport == "tcp") span.set("network.protocol.name", "http");
  span.set(kClient, attribute_text(facts_.client));
  span.set(kAuditRun, facts_.run);
  open_.emplace(request.id, std::move(span));
}

void SessionSpans::calls(const ipc::Id& id, const std::string& tool) {
  if (auto* span = find(id); span != nullptr) name_tool(*span, tool);
}

void SessionSpans::decided(const ipc::Id& id, const gate::Check& check) {
  if (auto* span = find(id); span != nullptr) put_decision(*span, check);
}

Json SessionSpans::meta_of(const ipc::Id& id) const {
  const auto found = open_.find(id);
  return found == open_.end() ? Json::object() : to_meta(found->second.context());
}

void SessionSpans::answered(const ipc::Id& id, const Json& result) {
  auto node = open_.extract(id);
  if (node.empty()) return;
  OpenSpan& span = node.mapped();
  if (is_tool_error(result)) {
    span.fail_as("tool_error");
    if (const auto kind = refusal_in(result); !kind.empty()) span.set(kErrorKind, kind);
  }
  // Nothing is decided yet: a question is open, by a rule or by the server.
  const bool is_asked = string_member(result, "resultType") == "input_required";
  if (is_asked && !span.has(kDecision)) span.set(kDecision, "ask");
}

void SessionSpans::refused(const ipc::Id& id, std::int64_t code) {
  auto node = open_.extract(id);
  if (!node.empty()) put_error_code(node.mapped(), code);
}

void SessionSpans::cancelled(const ipc::Id& id) {
  auto node = open_.extract(id);
  if (!node.empty()) node.mapped().fail_as("cancelled");
}

void SessionSpans::cancel_all() {
  for (auto& [id, span] : std::exchange(open_, {})) span.fail_as("cancelled");
}

}  // namespace mcpac::gateway::tracing
