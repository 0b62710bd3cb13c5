// SPDX-License-Identifier: Apache-2.0

// Replayer: replaces the servers, and answers calls from a recording.
//
// Every recorded call answers one call with the same tool and arguments; equal ones in the order in
// which they were made. A call has to wait for those that its recorded one came after, where the
// order can matter: they ended before it began, they are of the same server, and not both of tools
// that only read. Other threads may be about to make them, so it waits a while (Patience) before it
// counts as out of order. Threads that overlapped may overlap otherwise. ADR 0032. On the loop.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "codegen/lock.h"
#include "gate/upstream.h"
#include "history/recording/recording.h"
#include "servers/upstream_interposer.h"

namespace mcpac::history {

struct Patience {
  std::chrono::milliseconds out_of_order{2'000};
};

class Replayer final : public servers::UpstreamInterposer {
 public:
  // `lock` is borrowed.
  Replayer(boost::asio::any_io_executor executor, Recording recording, const codegen::Lock& lock,
           Patience patience = {});
  ~Replayer() override;

  CallToken forward(const Permission& permission, Json arguments,
                    std::shared_ptr<gate::Caller> caller,
                    std::function<void(Result<Json>)> done) override;
  // The lock was held against the recording's, once and for all.
  [[nodiscard]] bool quarantines(const Permission& /*permission*/) const override { return false; }
  void cancel(CallToken token) override;
  // The configuration's secrets are not known here.
  [[nodiscard]] Secrecy redact(const Permission& /*permission*/, const Json& /*arguments*/,
                               Json& /*redacted*/) const override {
    return Secrecy::kUnknown;
  }

  // Lists and the like are answered as the first time, the second, and so on, and from then on as
  // the last time: how often a gateway asks is no part of what its clients do.
  [[nodiscard]] bool is_settled(const std::string& /*server*/) const override { return true; }
  [[nodiscard]] const Json* capabilities(const std::string& server) const override;
  [[nodiscard]] bool is_stateless(const std::string& server) const override;
  RequestToken request(const std::string& server, std::string method, Json params,
                       std::shared_ptr<gate::Caller> caller,
                       std::function<void(Result<Outcome>)> done) override;
  // Nothing is heard of it.
  RequestToken listen(const std::string& server, Json params, std::function<void()> ended) override;
  void forget(RequestToken token) override;
  void on_notified(OnNotified /*heard*/) override {}
  void on_settled(std::function<void()> /*heard*/) override {}

  // All that was not as recorded, so far; with calls not made, which are known at the end alone.
  // At most twenty, and how many more there are.
  struct Findings {
    std::vector<Error> differences;
    std::size_t others = 0;
  };
  [[nodiscard]] Findings findings() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with callbacks and the timer
};

}  // namespace mcpac::history
