// SPDX-License-Identifier: Apache-2.0

// Tracer: begins spans, and hands on those that have ended and are sampled.
//
// A span that is not sampled has a context all the same: servers hear that it is not. On the loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "gateway/tracing/sampler.h"
#include "gateway/tracing/span.h"

namespace mcpac::gateway::tracing {

class Tracer;

// A span that goes on; it ends when it is told to, or goes. Moved from, it has ended.
class OpenSpan {
 public:
  OpenSpan(OpenSpan&& other) noexcept = default;
  OpenSpan& operator=(OpenSpan&& other) = delete;
  OpenSpan(const OpenSpan&) = delete;
  OpenSpan& operator=(const OpenSpan&) = delete;
  ~OpenSpan() { end(); }

  [[nodiscard]] const TraceContext& context() const { return span_.context; }
  void rename(std::string name) { span_.name = std::move(name); }
  // `key` is a literal; a value that there was is replaced.
  void set(std::string_view key, std::variant<std::string, std::int64_t, bool> value);
  [[nodiscard]] bool has(std::string_view key) const;
  // error.type, one of a few.
  void fail_as(std::string type);
  void end();

 private:
  friend class Tracer;
  OpenSpan(std::shared_ptr<Tracer> tracer, Span span, std::chrono::steady_clock::time_point begun)
      : tracer_(std::move(tracer)), span_(std::move(span)), begun_(begun) {}

  std::shared_ptr<Tracer> tracer_;  // null: it has ended
  Span span_;
  std::chrono::steady_clock::time_point begun_;
};

class Tracer : public std::enable_shared_from_this<Tracer> {
 public:
  using Ended = std::function<void(const Span&)>;
  // `clock` is borrowed, for as long as spans are open.
  Tracer(const Clock& clock, Sampler sampler, Ended ended)
      : clock_(clock), sampler_(sampler), ended_(std::move(ended)) {}

  // A request that came: `theirs` is what it says of its trace; without it a new one begins.
  [[nodiscard]] OpenSpan begin_server(std::string name, const std::optional<TraceContext>& theirs);
  // What is done for a span of ours, whose sampling it shares.
  [[nodiscard]] OpenSpan begin_below(const TraceContext& parent, SpanKind kind, std::string name);

 private:
  friend class OpenSpan;
  [[nodiscard]] OpenSpan begin(Span span);

  const Clock& clock_;
  Sampler sampler_;
  Ended ended_;
};

}  // namespace mcpac::gateway::tracing
