// Recorder: stands between a gate and the servers, and keeps what passes: calls that were decided
// and forwarded, what came back, and what a server said to the caller meanwhile.
//
// Refused calls never come here. Everything stays in memory until the end, bounded, since secrets
// are known only then (cleaner.h). On the loop.
#pragma once

#include <memory>
#include <string>

#include "codegen/lock.h"
#include "execute/recording/recording.h"
#include "gate/upstream.h"

namespace mcpac::execute {

class Recorder final : public gate::Upstream {
 public:
  // Both are borrowed.
  Recorder(gate::Upstream& servers, const codegen::Lock& lock);
  ~Recorder() override;

  CallToken forward(const Permission& permission, Json arguments,
                    std::shared_ptr<gate::Caller> caller,
                    std::function<void(Result<Json>)> done) override;
  [[nodiscard]] bool quarantines(const Permission& permission) const override {
    return servers_.quarantines(permission);
  }
  void cancel(CallToken token) override;
  [[nodiscard]] Secrecy redact(const Permission& permission, const Json& arguments,
                               Json& redacted) const override {
    return servers_.redact(permission, arguments, redacted);
  }

  // More was called than a recording holds: nothing is kept any more.
  [[nodiscard]] bool is_over() const;
  // What was recorded, without secrets; calls that have no answer count as taken back. Of the
  // header, the tools. Ends the recording. kRecordingLimit.
  [[nodiscard]] Result<Recording> take();

 private:
  struct Tape;
  class HeardCaller;
  gate::Upstream& servers_;
  const codegen::Lock& lock_;
  std::shared_ptr<Tape> tape_;  // shared with callbacks of the servers, which may come later
};

}  // namespace mcpac::execute
