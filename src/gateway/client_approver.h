// SPDX-License-Identifier: Apache-2.0

// ClientApprover: asks the person behind a client what `ask` rules ask, by elicitation.
//
// The question goes to the client that made the call, as a form; a client that did not say that it
// shows forms, and a question that is too long to be shown whole, mean no. An answer holds for one
// call or for the gateway's life, never longer: what outlives it is given at a terminal.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "gate/approver.h"

namespace mcpac::gateway {

class ClientApprover final : public gate::Approver {
 public:
  explicit ClientApprover(const boost::asio::any_io_executor& executor) : timer_(executor) {}
  void ask(const gate::Question& question, Done done) override;
  void cancel() override;

 private:
  void reply(std::uint64_t question, gate::Reply reply);

  boost::asio::steady_timer timer_;
  std::uint64_t question_ = 0;  // tells late answers from the one that is waited for
  Done done_;
  // Answers may come when this object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Text for the person, and the form's schema.
[[nodiscard]] Json elicitation_of(const gate::Question& question);
// The client's result of elicitation/create.
[[nodiscard]] gate::Reply reply_of(const Result<Json>& result);

}  // namespace mcpac::gateway
