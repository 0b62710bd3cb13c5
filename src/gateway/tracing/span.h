// SPDX-License-Identifier: Apache-2.0

// Span: one piece of work, as it is told to a collector when it has ended.
//
// Names and texts in it are ours, or of the lock: nothing of arguments, results, errors of servers
// or other words of an outsider but what attribute_text() made fit.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gateway/tracing/trace_context.h"

namespace mcpac::gateway::tracing {

// The numbers of Span.SpanKind (opentelemetry/proto/trace/v1/trace.proto).
enum class SpanKind : std::uint8_t { kInternal = 1, kServer = 2, kClient = 3 };

struct Attribute {
  std::string_view key;  // a literal
  std::variant<std::string, std::int64_t, bool> value;
};

struct Span {
  TraceContext context;
  std::string parent{};  // the span id; empty: it is the first of its trace
  bool has_remote_parent = false;
  std::string name{};
  SpanKind kind = SpanKind::kInternal;
  std::chrono::system_clock::time_point begun{};
  std::chrono::nanoseconds took{0};
  std::vector<Attribute> attributes{};  // each key once
  bool has_failed = false;
};

// A text of an outsider: one line of printable characters, at most 128 bytes.
[[nodiscard]] std::string attribute_text(std::string_view text);

}  // namespace mcpac::gateway::tracing
