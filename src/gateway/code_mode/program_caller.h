// SPDX-License-Identifier: Apache-2.0

// ProgramCaller: caller of a client program's calls, bound to the client's call that runs it.
//
// A program makes many calls at once, and a client of 2026-07-28 can be asked one thing at a time:
// its request is answered with the question, and goes on with the answer. So questions wait here
// for each other. Each is about one call of the program, which its record names. Progress of single
// calls is dropped: the client hears how far its program is.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "gate/caller.h"
#include "gate/gate.h"

namespace mcpac::gateway::code_mode {

class ProgramCaller final : public gate::Caller,
                            public std::enable_shared_from_this<ProgramCaller> {
 public:
  // The number of a call at the client's gate.
  using CallId = gate::Gate::CallId;
  // `about` hears which call a question is about, before it is put; 0: none is known.
  using About = std::function<void(CallId call)>;
  ProgramCaller(
      std::shared_ptr<gate::Caller> call, boost::asio::any_io_executor executor,
      About about = [](CallId) {});

  // Who one call of the program belongs to; its number is known once the gate has taken it.
  class OfCall;

  [[nodiscard]] std::string client() const override { return call_->client(); }
  [[nodiscard]] Json request_meta() const override { return call_->request_meta(); }
  [[nodiscard]] bool answers(const std::string& method) const override;
  void ask(const std::string& method, Json params, Replied done) override;
  [[nodiscard]] std::string log_level() const override { return call_->log_level(); }
  void logged(const std::string& server, const Json& message) override {
    call_->logged(server, message);
  }

 private:
  using Put = std::function<void(gate::Caller& call, Replied done)>;
  struct Question {
    CallId about;
    Put put;
    Replied done;
  };
  void add(CallId about, Put put, Replied done);
  void next();
  struct Turn;
  void give_on();

  std::shared_ptr<gate::Caller> call_;
  boost::asio::any_io_executor executor_;
  About about_;
  // While the client is away with a question, what it answers is as it was before.
  mutable std::map<std::string, bool> answers_;
  std::deque<Question> waiting_;
  bool asking_ = false;
};

class ProgramCaller::OfCall final : public gate::Caller {
 public:
  explicit OfCall(std::shared_ptr<ProgramCaller> program) : program_(std::move(program)) {}
  // The gate has taken it, and no server knows of it yet.
  void is(CallId call) { call_ = call; }

  [[nodiscard]] std::string client() const override { return program_->client(); }
  [[nodiscard]] bool answers(const std::string& method) const override {
    return program_->answers(method);
  }
  void ask(const std::string& method, Json params, Replied done) override {
    program_->ask(method, std::move(params), std::move(done));
  }
  void ask_for(const std::string& server, const std::string& method, Json params,
               Replied done) override;
  void ask_all(const std::string& server, Json questions, Replied done) override;
  [[nodiscard]] std::string log_level() const override { return program_->log_level(); }
  void logged(const std::string& server, const Json& message) override {
    program_->logged(server, message);
  }
  void decided(const gate::Check& check) override { program_->decided(check); }
  [[nodiscard]] Json request_meta() const override { return program_->request_meta(); }

 private:
  std::shared_ptr<ProgramCaller> program_;
  CallId call_ = 0;
};

}  // namespace mcpac::gateway::code_mode
