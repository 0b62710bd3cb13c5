// SPDX-License-Identifier: Apache-2.0

// Sampler: choice of the traces that are exported; OTEL_TRACES_SAMPLER has its names.
//
// A client says in its traceparent whether its trace is sampled, and chooses the trace's id. By
// default neither is asked: no client decides that its requests are not seen. The samplers that are
// `parentbased` do ask, since the user said so; and with a ratio, a client that chooses ids chooses
// what is seen. (The audit log has all of it, whatever is sampled.)
#pragma once

#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "gateway/tracing/trace_context.h"

namespace mcpac::gateway::tracing {

class Sampler {
 public:
  Sampler() = default;  // always_on
  // always_on, always_off, traceidratio, and each of them with "parentbased_" before it; `argument`
  // is the ratio, 1 where it is empty. kUsage otherwise.
  [[nodiscard]] static Result<Sampler> parse(std::string_view name, std::string_view argument);

  // `parent` is a client's context, or null.
  [[nodiscard]] bool keeps(std::string_view trace_id, const TraceContext* parent) const;

 private:
  bool asks_parent_ = false;
  double share_ = 1;
};

}  // namespace mcpac::gateway::tracing
