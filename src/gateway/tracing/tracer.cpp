// SPDX-License-Identifier: Apache-2.0

#include "gateway/tracing/tracer.h"

#include <algorithm>
#include <utility>

namespace mcpac::gateway::tracing {

void OpenSpan::set(std::string_view key, std::variant<std::string, std::int64_t, bool> value) {
  if (!span_.context.is_sampled) return;
  const auto known = std::ranges::find(span_.attributes, key, &Attribute::key);
  if (known != span_.attributes.end())
    known->value = std::move(value);
  else
    span_.attributes.push_back({key, std::move(value)});
}

bool OpenSpan::has(std::string_view key) const {
  return std::ranges::find(span_.attributes, key, &Attribute::key) != span_.attributes.end();
}

void OpenSpan::fail_as(std::string type) {
  span_.has_failed = true;
  set("error.type", std::move(type));
}

void OpenSpan::end() {
  const auto tracer = std::exchange(tracer_, nullptr);
  if (!tracer || !span_.context.is_sampled) return;
  span_.took = tracer->clock_.steady_now() - begun_;
  tracer->ended_(span_);
}

OpenSpan Tracer::begin_server(std::string name, const std::optional<TraceContext>& theirs) {
  Span span{.context = {.trace_id = theirs ? theirs->trace_id : new_trace_id(), .span_id = {}},
            .name = std::move(name),
            .kind = SpanKind::kServer};
  span.context.is_sampled = sampler_.keeps(span.context.trace_id, theirs ? &*theirs : nullptr);
  if (theirs) span.parent = theirs->span_id;
  span.has_remote_parent = theirs.has_value();
  return begin(std::move(span));
}

OpenSpan Tracer::begin_below(const TraceContext& parent, SpanKind kind, std::string name) {
  return begin(
      {.context = parent, .parent = parent.span_id, .name = std::move(name), .kind = kind});
}

OpenSpan Tracer::begin(Span span) {
  span.context.span_id = new_span_id();
  span.begun = clock_.wall_now();
  return {shared_from_this(), std::move(span), clock_.steady_now()};
}

}  // namespace mcpac::gateway::tracing
