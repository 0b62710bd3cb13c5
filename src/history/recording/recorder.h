// SPDX-License-Identifier: Apache-2.0

// Recorder: stands between a gate and the servers, and keeps what passes: calls that were decided
// and forwarded, what came back, and what a server said to the caller meanwhile.
//
// Refused calls never come here. Everything stays in memory until the end, bounded, since secrets
// are known only then. On the loop.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "codegen/lock.h"
#include "gate/upstream.h"
#include "history/recording/recording.h"
#include "servers/upstream_interposer.h"

namespace mcpac::history {

class Recorder final : public servers::UpstreamInterposer {
 public:
  // All are borrowed. `offers` is the same servers, as they are asked for other things than calls.
  Recorder(gate::Upstream& servers, gate::Servers& offers, const codegen::Lock& lock);
  ~Recorder() override;

  CallToken forward(const Permission& permission, Json arguments,
                    std::shared_ptr<gate::Caller> caller,
                    std::function<void(Result<Json>)> done) override;
  [[nodiscard]] bool quarantines(const Permission& permission) const override {
    return servers_.quarantines(permission);
  }
  [[nodiscard]] bool was_sent(CallToken token) const override { return servers_.was_sent(token); }
  void cancel(CallToken token) override;
  [[nodiscard]] Secrecy redact(const Permission& permission, const Json& arguments,
                               Json& redacted) const override {
    return servers_.redact(permission, arguments, redacted);
  }

  // Requests besides calls.
  [[nodiscard]] bool is_settled(const std::string& server) const override {
    return offers_.is_settled(server);
  }
  [[nodiscard]] const Json* capabilities(const std::string& server) const override {
    return offers_.capabilities(server);
  }
  [[nodiscard]] bool is_stateless(const std::string& server) const override {
    return offers_.is_stateless(server);
  }
  RequestToken request(const std::string& server, std::string method, Json params,
                       std::shared_ptr<gate::Caller> caller,
                       std::function<void(Result<Outcome>)> done) override;
  RequestToken listen(const std::string& server, Json params,
                      std::function<void()> ended) override {
    return offers_.listen(server, std::move(params), std::move(ended));
  }
  void forget(RequestToken token) override { offers_.forget(token); }
  void on_notified(OnNotified heard) override { offers_.on_notified(std::move(heard)); }
  [[nodiscard]] std::chrono::milliseconds timeout(const std::string& server) const override {
    return offers_.timeout(server);
  }
  [[nodiscard]] std::uint64_t starts(const std::string& server) const override {
    return offers_.starts(server);
  }
  void on_settled(std::function<void()> heard) override { offers_.on_settled(std::move(heard)); }

  // More was called than a recording holds: nothing is kept any more.
  [[nodiscard]] bool is_over() const;
  // What was recorded, without secrets; calls that have no answer count as taken back. Of the
  // header, the tools and the arguments; `given`: those of the program, where there is one. Ends
  // the recording. kRecordingLimit.
  [[nodiscard]] Result<Recording> take(const std::optional<Json>& given = {});

 private:
  struct Tape;
  class HeardCaller;
  gate::Upstream& servers_;
  gate::Servers& offers_;
  const codegen::Lock& lock_;
  std::shared_ptr<Tape> tape_;  // shared with callbacks of the servers, which may come later
};

}  // namespace mcpac::history
