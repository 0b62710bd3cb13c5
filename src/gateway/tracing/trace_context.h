// SPDX-License-Identifier: Apache-2.0

// TraceContext: the trace that a piece of work belongs to, and its place there, as `traceparent`
// carries it (W3C Trace Context, section 3.2; in `_meta` of MCP requests by SEP-414).
//
// What a client says is untrusted: a text that is not of the grammar is none, and a new trace
// begins. Of versions after 00 the fields of 00 are read, as section 3.2.4 wants it. Neither
// `tracestate` nor `baggage` is read or handed on: both are text of the client's own, past the
// rules that decide what a server hears of it (ADR 0037).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"

namespace mcpac::gateway::tracing {

struct TraceContext {
  std::string trace_id;  // 32 lower-case hexadecimal digits, not all 0
  std::string span_id;   // 16
  bool is_sampled = false;

  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

[[nodiscard]] std::optional<TraceContext> parse_traceparent(std::string_view text);
[[nodiscard]] std::string to_traceparent(const TraceContext& context);

// What `_meta` of a request's params says, if that is one.
[[nodiscard]] std::optional<TraceContext> context_in(const Json& params);
// {"traceparent": …}, as a caller says it of its calls (gate::Caller::request_meta()), and back.
[[nodiscard]] Json to_meta(const TraceContext& context);
[[nodiscard]] std::optional<TraceContext> context_of(const Json& meta);

// Random, so unique: a trace id and a span id.
[[nodiscard]] std::string new_trace_id();
[[nodiscard]] std::string new_span_id();

}  // namespace mcpac::gateway::tracing
