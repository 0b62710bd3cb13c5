// SPDX-License-Identifier: Apache-2.0

#include "gateway/code_mode/program_caller.h"

#include <utility>

#include <boost/asio/post.hpp>

namespace mcpac::gateway::code_mode {
namespace {

// A server's flood of questions is not the client's business.
constexpr std::size_t kMaxWaiting = 64;

}  // namespace

ProgramCaller::ProgramCaller(std::shared_ptr<gate::Caller> call,
                             boost::asio::any_io_executor executor, About about)
    : call_(std::move(call)), executor_(std::move(executor)), about_(std::move(about)) {
  for (const char* method : {"elicitation/create", "sampling/createMessage", "roots/list"})
    answers_[method] = call_->answers(method);
}

bool ProgramCaller::answers(const std::string& method) const {
  if (!asking_) answers_[method] = call_->answers(method);
  const auto known = answers_.find(method);
  return known != answers_.end() && known->second && waiting_.size() < kMaxWaiting;
}

void ProgramCaller::ask(const std::string& method, Json params, Replied done) {
  add(
      0,
      [method, params = std::move(params)](gate::Caller& call, Replied replied) {
        call.ask(method, params, std::move(replied));
      },
      std::move(done));
}

void ProgramCaller::OfCall::ask_for(const std::string& server, const std::string& method,
                                    Json params, Replied done) {
  program_->add(
      call_,
      [server, method, params = std::move(params)](gate::Caller& call, Replied replied) {
        call.ask_for(server, method, params, std::move(replied));
      },
      std::move(done));
}

void ProgramCaller::OfCall::ask_all(const std::string& server, Json questions, Replied done) {
  program_->add(
      call_,
      [server, questions = std::move(questions)](gate::Caller& call, Replied replied) {
        call.ask_all(server, questions, std::move(replied));
      },
      std::move(done));
}

void ProgramCaller::add(CallId about, Put put, Replied done) {
  waiting_.push_back({about, std::move(put), std::move(done)});
  next();
}

// The asker may be released without a reply (its client left, its question could not be recorded):
// then the turn goes on by itself, later, since the code that drops it is in the middle of
// something.
struct ProgramCaller::Turn {
  Turn(std::weak_ptr<ProgramCaller> of, boost::asio::any_io_executor on)
      : caller(std::move(of)), executor(std::move(on)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (is_over) return;
    boost::asio::post(executor, [weak = caller] {
      if (const auto self = weak.lock()) self->give_on();
    });
  }
  std::weak_ptr<ProgramCaller> caller;
  boost::asio::any_io_executor executor;
  bool is_over = false;
};

void ProgramCaller::give_on() {
  asking_ = false;
  next();
}

void ProgramCaller::next() {
  if (asking_ || waiting_.empty()) return;
  asking_ = true;
  Question question = std::move(waiting_.front());
  waiting_.pop_front();
  const auto turn = std::make_shared<Turn>(weak_from_this(), executor_);
  about_(question.about);
  question.put(*call_, [turn, done = std::move(question.done)](Result<Json> reply) {
    const auto self = turn->caller.lock();
    turn->is_over = true;
    if (!self) return;
    self->asking_ = false;
    done(std::move(reply));
    self->next();
  });
}

}  // namespace mcpac::gateway::code_mode
