// ProgramCaller: who the calls of a client's program belong to: the client's call that runs it.
//
// A program makes many calls at once, and a client of 2026-07-28 can be asked one thing at a time:
// its request is answered with the question, and goes on with the answer. So questions wait here
// for each other. Progress of single calls is nobody's: the client hears how far its program is.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "gate/caller.h"

namespace mcpac::gateway::code_mode {

class ProgramCaller final : public gate::Caller,
                            public std::enable_shared_from_this<ProgramCaller> {
 public:
  ProgramCaller(std::shared_ptr<gate::Caller> call, boost::asio::any_io_executor executor);

  [[nodiscard]] std::string client() const override { return call_->client(); }
  [[nodiscard]] bool answers(const std::string& method) const override;
  void ask(const std::string& method, Json params, Replied done) override;
  void ask_for(const std::string& server, const std::string& method, Json params,
               Replied done) override;
  void ask_all(const std::string& server, Json questions, Replied done) override;
  [[nodiscard]] std::string log_level() const override { return call_->log_level(); }
  void logged(const std::string& server, const Json& message) override {
    call_->logged(server, message);
  }

 private:
  using Put = std::function<void(gate::Caller& call, Replied done)>;
  struct Question {
    Put put;
    Replied done;
  };
  void add(Put put, Replied done);
  void next();
  struct Turn;
  void give_on();

  std::shared_ptr<gate::Caller> call_;
  boost::asio::any_io_executor executor_;
  // While the client is away with a question, what it answers is as it was before.
  mutable std::map<std::string, bool> answers_;
  std::deque<Question> waiting_;
  bool asking_ = false;
};

}  // namespace mcpac::gateway::code_mode
