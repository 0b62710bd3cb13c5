// SPDX-License-Identifier: Apache-2.0

#include "toolchain/child/output_gate.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <tuple>
#include <utility>

namespace mcpac::toolchain {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);

}  // namespace

OutputGate::OutputGate() : event_(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void OutputGate::close() {
  std::unique_lock lock(mutex_);
  if (!std::exchange(is_open_, false)) return;
  std::uint64_t count = 0;
  std::ignore = ::read(event_.get(), &count, sizeof count);
  left_.wait_for(lock, kPatience, [this] { return !is_inside_; });
}

void OutputGate::open() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_open_, true)) return;
  const std::uint64_t one = 1;
  std::ignore = ::write(event_.get(), &one, sizeof one);
}

bool OutputGate::is_open() const {
  const std::lock_guard lock(mutex_);
  return is_open_;
}

bool OutputGate::enter() {
  const std::lock_guard lock(mutex_);
  is_inside_ = is_open_;
  return is_inside_;
}

void OutputGate::leave() {
  {
    const std::lock_guard lock(mutex_);
    is_inside_ = false;
  }
  left_.notify_one();
}

}  // namespace mcpac::toolchain
