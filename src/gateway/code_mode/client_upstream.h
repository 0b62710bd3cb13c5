// SPDX-License-Identifier: Apache-2.0

// ClientUpstream: upstream of the gate of a client's program, which forwards to the gate of the
// client.
//
// A call that the program's gate lets through is made once more there, as the client's: its rules,
// its limits and its approvals decide it, and the servers behind answer it. What the client's gate
// refuses, the program hears in the same words. On the loop; one for each program.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "gate/gate.h"
#include "gate/upstream.h"
#include "gateway/code_mode/program_caller.h"
#include "gateway/tracing/tracer.h"

namespace mcpac::gateway::code_mode {

class ClientUpstream final : public gate::Upstream,
                             public std::enable_shared_from_this<ClientUpstream> {
 public:
  // `client` and `servers` are borrowed; `caller` hears of the calls (or null), `program_run`
  // stands in their record. With a tracer each call is a span, below that of the caller.
  ClientUpstream(boost::asio::any_io_executor executor, gate::Gate& client,
                 const gate::Upstream& servers, std::shared_ptr<ProgramCaller> caller,
                 std::string program_run, std::shared_ptr<tracing::Tracer> tracer = nullptr);

  CallToken forward(const Permission& permission, Json arguments,
                    std::shared_ptr<gate::Caller> caller,
                    std::function<void(Result<Json>)> done) override;
  [[nodiscard]] bool quarantines(const Permission& permission) const override;
  void cancel(CallToken token) override;
  [[nodiscard]] bool was_sent(CallToken token) const override;
  [[nodiscard]] std::optional<gate::CallError> refusal_of(CallToken token) const override;
  [[nodiscard]] Secrecy redact(const Permission& permission, const Json& arguments,
                               Json& redacted) const override;

  // Refusals of the client's gate, the first of them: {"permission", "reason"}.
  [[nodiscard]] const std::vector<Json>& denials() const { return denials_; }

 private:
  struct Open {
    std::string permission;
    std::function<void(Result<Json>)> done;
    gate::Gate::CallId call = 0;
    std::optional<gate::Answer> answer;
    std::shared_ptr<tracing::OpenSpan> span;  // or null
  };
  [[nodiscard]] std::shared_ptr<tracing::OpenSpan> begin_span(const Permission& permission) const;
  void answered(CallToken token, gate::Answer answer);
  void deliver(CallToken token);

  boost::asio::any_io_executor executor_;
  gate::Gate& client_;
  const gate::Upstream& servers_;
  std::shared_ptr<ProgramCaller> caller_;
  std::string program_run_;
  std::shared_ptr<tracing::Tracer> tracer_;
  std::map<CallToken, Open> open_;
  CallToken last_ = 0;
  // Of the call whose `done` is at work.
  CallToken delivering_ = 0;
  const gate::CallError* refusal_ = nullptr;
  std::vector<Json> denials_;
};

}  // namespace mcpac::gateway::code_mode
