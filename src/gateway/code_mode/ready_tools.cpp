// SPDX-License-Identifier: Apache-2.0

#include "gateway/code_mode/ready_tools.h"

#include <signal.h>

#include <exception>
#include <utility>

namespace mcpac::gateway::code_mode {

ReadyTools::ReadyTools(project::Folders folders, std::chrono::milliseconds idle)
    : folders_(std::move(folders)), idle_(idle), thread_([this](const std::stop_token& stop) {
        // Signals are for the threads that wait for them.
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
        work(stop);
      }) {}

ReadyTools::~ReadyTools() = default;

std::unique_ptr<run::PrewarmedRun> ReadyTools::take(const GrantedView::Ready& view) {
  const std::scoped_lock lock(mutex_);
  return last_ && last_->view.get() == &view ? std::exchange(ready_, nullptr) : nullptr;
}

void ReadyTools::prepare(Program program) {
  const std::scoped_lock lock(mutex_);
  wanted_ = std::move(program);
  changed_.notify_one();
}

void ReadyTools::prepare_again() {
  const std::scoped_lock lock(mutex_);
  if (!wanted_) wanted_ = last_;
  changed_.notify_one();
}

void ReadyTools::work(const std::stop_token& stop) {
  Lock lock(mutex_);
  const auto is_wanted = [this] { return wanted_.has_value(); };
  while (!stop.stop_requested()) {
    if (wanted_) {
      make(lock, stop);
    } else if (!ready_) {
      changed_.wait(lock, stop, is_wanted);
    } else if (!changed_.wait_for(lock, stop, idle_, is_wanted)) {
      last_.reset();  // its client may have gone
      drop(lock);
    }
  }
  // Before this thread, with which the kernel would end it.
  drop(lock);
}

// Two sets would be twice the memory.
void ReadyTools::make(Lock& lock, const std::stop_token& stop) {
  drop(lock);
  last_ = std::exchange(wanted_, std::nullopt);
  const Program program = *last_;
  if (stop.stop_requested()) return;
  lock.unlock();
  std::unique_ptr<run::PrewarmedRun> made;
  try {
    auto prepared = run::PrewarmedRun::of_tools(program.view->project, program.view->lock, folders_,
                                                program.servers, program.limits);
    // The next program starts its own, and says what is wrong.
    if (prepared) made = std::move(*prepared);
  } catch (const std::exception&) {
    made = nullptr;
  }
  lock.lock();
  ready_ = std::move(made);
}

void ReadyTools::drop(Lock& lock) {
  auto old = std::exchange(ready_, nullptr);
  lock.unlock();
  old.reset();  // its processes end, which takes a moment
  lock.lock();
}

}  // namespace mcpac::gateway::code_mode
