// SPDX-License-Identifier: Apache-2.0

#include "gateway/timed_upstream.h"

#include <utility>

namespace mcpac::gateway {
namespace {

void keep_advice(Error& error, const TimedUpstream::OnAdvice& on_advice) {
  if (error.id != ErrorId::kServerHttp || error.fix.empty()) return;
  if (on_advice) on_advice(error);
  error.fix.clear();
}

}  // namespace

void Durations::add(std::chrono::nanoseconds took) {
  const double seconds = std::chrono::duration<double>(took).count();
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    if (seconds <= kBounds[i]) ++within_[i];
  }
  ++count_;
  seconds_ += seconds;
}

gate::Upstream::CallToken TimedUpstream::forward(const Permission& permission, Json arguments,
                                                 std::shared_ptr<gate::Caller> caller,
                                                 std::function<void(Result<Json>)> done) {
  ++figures_->in_work;
  return ForwardingUpstream::forward(
      permission, std::move(arguments), std::move(caller),
      [figures = figures_, clock = &clock_, begun = clock_.steady_now(), on_advice = on_advice_,
       done = std::move(done)](Result<Json> result) {
        --figures->in_work;
        ++(result ? figures->answered : figures->failed);
        figures->durations.add(clock->steady_now() - begun);
        if (!result) keep_advice(result.error(), *on_advice);
        done(std::move(result));
      });
}

}  // namespace mcpac::gateway
