// SPDX-License-Identifier: Apache-2.0

#include "run/asking/command_approver.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "core/printable.h"
#include "mcp/child_process.h"
#include "mcp/environment.h"
#include "run/asking/question_json.h"

namespace mcpac::run {
namespace {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

constexpr std::size_t kMaxAnswer = 64U << 10U;
constexpr std::size_t kMaxLastWords = 400;  // of its standard error, for the reason

}  // namespace

// One process and one question. Ends with exactly one reply, or silently when it is dropped.
class CommandApprover::Process : public std::enable_shared_from_this<Process> {
 public:
  Process(const asio::any_io_executor& executor, std::shared_ptr<mcp::ChildProcess> child,
          std::string input, std::function<void(gate::Reply)> done,
          std::function<gate::Reply(std::string_view)> read)
      : child_(std::move(child)),
        in_(executor, child_->stdin_end.release()),
        out_(executor, child_->stdout_end.release()),
        err_(executor, child_->stderr_end.release()),
        timer_(executor),
        input_(std::move(input)),
        done_(std::move(done)),
        read_(std::move(read)) {}

  void start(std::chrono::milliseconds timeout) {
    const auto self = shared_from_this();
    asio::async_write(in_, asio::buffer(input_), [self](auto, std::size_t) {
      // A command that does not read its question may still know its answer.
      boost::system::error_code ignored;
      self->in_.close(ignored);
    });
    asio::async_read(out_, asio::dynamic_buffer(output_, kMaxAnswer + 1),
                     [self](auto, std::size_t) {
                       if (self->output_.size() > kMaxAnswer)
                         return self->end("it wrote more than an answer");
                       self->has_output_ = true;
                       self->finish();
                     });
    read_errors();
    child_->on_exit([weak = weak_from_this()] {
      const auto here = weak.lock();
      if (!here) return;
      here->has_ended_ = true;
      here->finish();
    });
    timer_.expires_after(timeout);
    timer_.async_wait([self](const boost::system::error_code& error) {
      if (!error) self->end("it did not answer in time");
    });
  }

  void stop() {
    done_ = nullptr;
    boost::system::error_code ignored;
    timer_.cancel();
    in_.close(ignored);
    out_.close(ignored);
    err_.close(ignored);
    child_->kill_now();
  }

 private:
  void read_errors() {
    err_.async_read_some(asio::buffer(piece_),
                         [self = shared_from_this()](auto error, std::size_t n) {
                           if (error) return;
                           self->errors_.append(self->piece_.data(), n);
                           if (self->errors_.size() > kMaxLastWords)
                             self->errors_.erase(0, self->errors_.size() - kMaxLastWords);
                           self->read_errors();
                         });
  }

  void finish() {
    if (!has_output_ || !has_ended_ || !done_) return;
    if (child_->exit_text() != "exit status 0") return end("it ended with " + child_->exit_text());
    reply(read_(output_));
  }

  void end(const std::string& why) { reply({.answer = gate::Answered::kNobody, .detail = why}); }

  void reply(gate::Reply reply) {
    const auto keep = shared_from_this();
    if (reply.answer == gate::Answered::kNobody && !errors_.empty())
      reply.detail += ", saying: " + printable(errors_, kMaxLastWords);
    const auto done = std::exchange(done_, nullptr);
    stop();
    if (done) done(std::move(reply));
  }

  std::shared_ptr<mcp::ChildProcess> child_;
  stream_descriptor in_;
  stream_descriptor out_;
  stream_descriptor err_;
  asio::steady_timer timer_;
  std::string input_;
  std::string output_;
  std::string errors_;
  std::array<char, 4096> piece_{};
  std::function<void(gate::Reply)> done_;
  std::function<gate::Reply(std::string_view)> read_;
  bool has_output_ = false;
  bool has_ended_ = false;
};

CommandApprover::CommandApprover(asio::any_io_executor executor, ApproverCommand command)
    : executor_(std::move(executor)), command_(std::move(command)) {}

CommandApprover::~CommandApprover() {
  cancel();
}

void CommandApprover::ask(const gate::Question& question, Done done) {
  start(
      question_line(question),
      [id = question.id](std::string_view text) { return read_answer(text, Asks::kCall, id); },
      std::move(done));
}

void CommandApprover::review(const ProgramReview& review, Done done) {
  start(
      question_line(review),
      [id = review.id](std::string_view text) { return read_answer(text, Asks::kProgram, id); },
      std::move(done));
}

void CommandApprover::cancel() {
  if (const auto process = std::exchange(process_, nullptr)) process->stop();
}

void CommandApprover::start(std::string input, std::function<gate::Reply(std::string_view)> read,
                            Done done) {
  std::string who = "approver";
  for (const auto& word : command_.words) who += " " + word;
  auto answer = [who, done = std::move(done)](gate::Reply reply) {
    reply.who = who;
    done(std::move(reply));
  };
  mcp::SpawnOptions options{.program = {},
                            .arguments = command_.words,
                            .environment = command_.environment,
                            .working_directory = {}};
  auto program = mcp::find_program(command_.words.front(), command_.environment);
  Result<std::shared_ptr<mcp::ChildProcess>> child =
      program ? (options.program = *program, mcp::ChildProcess::spawn(executor_, options))
              : std::unexpected(program.error());
  if (!child) {
    asio::post(executor_, [answer, why = child.error().what] {
      answer({.answer = gate::Answered::kNobody, .detail = why});
    });
    return;
  }
  process_ = std::make_shared<Process>(executor_, std::move(*child), std::move(input),
                                       std::move(answer), std::move(read));
  process_->start(command_.timeout);
}

}  // namespace mcpac::run
