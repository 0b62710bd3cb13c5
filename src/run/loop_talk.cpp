// SPDX-License-Identifier: Apache-2.0

#include "run/loop_talk.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <tuple>
#include <utility>

namespace mcpac::run {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20U;

// About what it takes in memory: a line without text is one, too.
std::size_t cost_of(std::string_view text) {
  constexpr std::size_t kOfALine = 80;
  return text.size() + kOfALine;
}

}  // namespace

LoopTalk::LoopTalk(const Listener& listener)
    : listener_(listener), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void LoopTalk::log(std::string_view level, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (bytes_ + cost_of(text) > kMostBytes) {
    ++lost_;
    return;
  }
  bytes_ += cost_of(text);
  add({level, std::string(text)});
}

void LoopTalk::warn(std::string_view text) {
  const std::lock_guard lock(mutex_);
  add({{}, std::string(text)});
}

void LoopTalk::add(Said said) {
  waiting_.push_back(std::move(said));
  if (waiting_.size() > 1) return;
  const std::uint64_t one = 1;
  std::ignore = ::write(event_.get(), &one, sizeof one);
}

bool LoopTalk::pass_on() {
  Said said;
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return false;
    said = std::move(waiting_.front());
    waiting_.pop_front();
    if (!said.level.empty()) bytes_ -= cost_of(said.text);
    more = !waiting_.empty();
    std::uint64_t count = 0;
    if (!more) std::ignore = ::read(event_.get(), &count, sizeof count);
  }
  if (said.level.empty())
    listener_.warning(said.text);
  else
    listener_.log(said.level, said.text);
  return more;
}

toolchain::ChildIo::Beside LoopTalk::beside() {
  return {.descriptor = event_.get(), .sink = listener_.log_sink, .pass_on = [this] {
            return pass_on();
          }};
}

void LoopTalk::pass_on_rest(StopSignal stop, std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  const std::size_t lost = std::exchange(lost_, 0);
  bool more = lost > 0 || !waiting_.empty();
  lock.unlock();
  if (lost > 0)
    warn(fmt::format("{} lines that the program logged are left out: nobody took those before them",
                     lost));
  while (more && toolchain::wait_for_reader(listener_.log_sink, stop, until)) more = pass_on();
}

}  // namespace mcpac::run
