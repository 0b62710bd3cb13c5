// SPDX-License-Identifier: Apache-2.0

#include "cli/terminal_approver.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include <boost/asio/read_until.hpp>

#include "cli/question_text.h"
#include "core/printable.h"

namespace mcpac::cli {
namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr int kMaxMisread = 5;
// What the program printed before may have left the terminal in any state (hidden, drawn with line
// characters, a scrolling region): DECSTR, plain attributes, ASCII, a line of our own.
constexpr std::string_view kReset = "\033[!p\033[0m\033(B\r\n";

std::string user_name() {
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_name : std::to_string(::getuid());
}

}  // namespace

TerminalApprover::TerminalApprover(const boost::asio::any_io_executor& executor, UniqueFd terminal,
                                   OutputHold& hold)
    : terminal_(executor, terminal.release()), hold_(hold), who_(user_name() + " at the terminal") {
  // Put into the background, reading and writing must fail instead of stopping us.
  std::signal(SIGTTIN, SIG_IGN);
  std::signal(SIGTTOU, SIG_IGN);
}

TerminalApprover::~TerminalApprover() {
  cancel();
  ++*turn_;
}

void TerminalApprover::ask(const gate::Question& question, Done done) {
  whole_ = whole_arguments(question);
  show(
      question_text(question, program_), "Answer [once/run/until TIME/no/never]: ",
      [](std::string_view line) {
        return read_call_answer(line, std::chrono::system_clock::now());
      },
      why_no_answer, std::move(done));
}

void TerminalApprover::review(const run::ProgramReview& review, Done done) {
  whole_.clear();
  program_ = review.program;
  show(
      question_text(review), "Run it? [y/N] ", read_program_answer,
      [](std::string_view) { return kNoneOfTheAnswers; }, std::move(done));
}

void TerminalApprover::show(const std::string& text, const char* prompt, Read read, Why why,
                            Done done) {
  prompt_ = prompt;
  read_ = std::move(read);
  why_ = why;
  done_ = std::move(done);
  misread_ = 0;
  line_.clear();
  hold_.hold();
  ::tcflush(terminal_.native_handle(), TCIFLUSH);
  say(kReset);
  say(text);
  say(prompt);
  read_line();
}

void TerminalApprover::read_line() {
  boost::asio::async_read_until(
      terminal_, boost::asio::dynamic_buffer(line_, kMaxLine), '\n',
      [this, turn = turn_, mine = ++*turn_](const boost::system::error_code& error, std::size_t n) {
        if (*turn != mine) return;
        if (error) {
          return finish(error == boost::asio::error::eof
                            ? gate::Reply{.answer = gate::Answered::kNo}
                            : gate::Reply{.detail = "the terminal cannot be read"});
        }
        const std::string line = line_.substr(0, n);
        line_.erase(0, n);
        handle_line(line);
      });
}

void TerminalApprover::handle_line(std::string_view line) {
  if (auto reply = read_(line)) return finish(std::move(*reply));
  if (!whole_.empty() && line == "show\n") {
    say(whole_);
  } else if (++misread_ == kMaxMisread) {
    say(kNoneOfTheAnswers);
    say(" It counts as a no.\r\n");
    return finish({.answer = gate::Answered::kNo});
  } else {
    say(why_(line));
    say("\r\n");
  }
  say(prompt_);
  read_line();
}

// A terminal that does not take it (Ctrl-S) is waited for a little, and then loses the rest.
void TerminalApprover::say(std::string_view text) {
  while (!text.empty()) {
    pollfd ready{terminal_.native_handle(), POLLOUT, 0};
    if (::poll(&ready, 1, 1'000) <= 0) return;
    const ssize_t n = ::write(terminal_.native_handle(), text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void TerminalApprover::finish(gate::Reply reply) {
  reply.who = who_;
  ++*turn_;
  hold_.release();
  const Done done = std::exchange(done_, nullptr);
  if (done) done(std::move(reply));
}

void TerminalApprover::cancel() {
  if (!done_) return;
  done_ = nullptr;
  ++*turn_;
  boost::system::error_code ignored;
  terminal_.cancel(ignored);
  say("\r\n(mcpac: the question was taken back)\r\n");
  hold_.release();
}

}  // namespace mcpac::cli
