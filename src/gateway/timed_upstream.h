// SPDX-License-Identifier: Apache-2.0

// TimedUpstream: counts what servers are asked, and how long they take, on the
// way through, and takes out of their errors what is advice for the person.
//
// For `mcpac serve --metrics`. No name of a tool, a server or a client is kept: a reader of the
// figures learns how much is done, not what.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "gate/forwarding_upstream.h"

namespace mcpac::gateway {

// How long calls took, as Prometheus has it: how many took at most so long.
class Durations {
 public:
  static constexpr std::array<double, 11> kBounds = {0.001, 0.005, 0.01, 0.05, 0.1, 0.5,
                                                     1,     5,     10,   60,   300};
  void add(std::chrono::nanoseconds took);
  [[nodiscard]] const std::array<std::uint64_t, kBounds.size()>& within() const { return within_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  std::array<std::uint64_t, kBounds.size()> within_{};
  std::uint64_t count_ = 0;
  double seconds_ = 0;
};

struct UpstreamFigures {
  std::uint64_t answered = 0;  // isError among them: that is the tool's word
  std::uint64_t failed = 0;    // the server ended, was late, refused, or the call was taken back
  std::uint64_t in_work = 0;
  Durations durations;
};

class TimedUpstream final : public gate::ForwardingUpstream {
 public:
  // Hears an error as it came whose advice (`fix`) its client does not get: over HTTP (kServerHttp)
  // it says how the server is configured, maybe with an address of the server's choice, and a model
  // would follow it.
  using OnAdvice = std::function<void(const Error&)>;
  // Both are borrowed.
  TimedUpstream(gate::Upstream& inner, const Clock& clock, OnAdvice on_advice = nullptr)
      : ForwardingUpstream(inner),
        clock_(clock),
        on_advice_(std::make_shared<OnAdvice>(std::move(on_advice))) {}

  CallToken forward(const Permission& permission, Json arguments,
                    std::shared_ptr<gate::Caller> caller,
                    std::function<void(Result<Json>)> done) override;
  [[nodiscard]] const UpstreamFigures& figures() const { return *figures_; }

 private:
  const Clock& clock_;
  // Answers may come when this object is gone.
  std::shared_ptr<const OnAdvice> on_advice_;  // what it holds may be null
  std::shared_ptr<UpstreamFigures> figures_ = std::make_shared<UpstreamFigures>();
};

}  // namespace mcpac::gateway
