// SPDX-License-Identifier: Apache-2.0

// Names of the OpenTelemetry conventions for MCP (semantic-conventions-genai, "MCP"),
// and of ours, with what may stand in them.
#pragma once

#include <string>
#include <string_view>

#include "core/permission.h"
#include "gate/answer.h"
#include "gate/record.h"
#include "gateway/tracing/tracer.h"

namespace mcpac::gateway::tracing {

inline constexpr std::string_view kMethod = "mcp.method.name";
inline constexpr std::string_view kProtocolVersion = "mcp.protocol.version";
inline constexpr std::string_view kRequestId = "jsonrpc.request.id";
inline constexpr std::string_view kStatusCode = "rpc.response.status_code";
inline constexpr std::string_view kTransport = "network.transport";
inline constexpr std::string_view kServer = "mcpac.server";
inline constexpr std::string_view kClient = "mcpac.client";
inline constexpr std::string_view kDecision = "mcpac.decision";  // allow, deny, ask
inline constexpr std::string_view kErrorKind = "mcpac.error.kind";
inline constexpr std::string_view kAuditRun = "mcpac.audit.run";

// The method, where it is one of MCP's; "_OTHER" for made-up ones, to keep the cardinality low.
[[nodiscard]] std::string_view known_method(std::string_view method);
// What a permission means in requests to its server: "tools/call", "resources/read", "prompts/get".
[[nodiscard]] std::string method_of(const Permission& permission);

// The span is about this tool: its name, and those attributes. `tool` is a name of the lock or of
// ours, never one that a client alone says.
void name_tool(OpenSpan& span, const std::string& tool);
// How the gate decided: mcpac.decision, the step and the rule's place, and where in the audit log
// it stands. Neither the rule's text nor the reason: both may hold what the call holds.
void put_decision(OpenSpan& span, const gate::Check& check);
// error.type: the code of an error of the protocol; or of an answer that is a failure, the kind of
// our refusal ("denied"), or "tool_error".
void put_error_code(OpenSpan& span, std::int64_t code);
void put_answer(OpenSpan& span, const gate::Answer& answer);
[[nodiscard]] bool is_tool_error(const Json& result);

}  // namespace mcpac::gateway::tracing
