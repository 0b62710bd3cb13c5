// SPDX-License-Identifier: Apache-2.0

#include "gateway/http/body_reader.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>

#include "gate/agent_message.h"

namespace mcpac::gateway::http {

struct BodyReader::State {
  struct Job {
    std::string body;
    JsonLimits limits;
    Done done;
  };
  std::mutex mutex;
  std::condition_variable changed;
  // What follows is under the mutex. Without an executor there is no listener left.
  std::optional<boost::asio::any_io_executor> executor;
  std::map<const void*, std::deque<Job>> waiting;  // by guest; none is empty
  std::deque<const void*> turns;                   // of these, whose body is next first
};

namespace {

// Signals are for the loop's thread: one that is started meanwhile has none, and the mask is put
// back however that ends.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

BodyReader::BodyReader(boost::asio::any_io_executor executor) : state_(std::make_shared<State>()) {
  state_->executor = std::move(executor);
}

BodyReader::~BodyReader() {
  const std::lock_guard lock(state_->mutex);
  state_->executor.reset();
  state_->waiting.clear();
  state_->turns.clear();
  state_->changed.notify_one();
}

void BodyReader::read(const void* guest, std::string body, const JsonLimits& limits, Done done) {
  {
    const std::lock_guard lock(state_->mutex);
    auto& jobs = state_->waiting[guest];
    if (jobs.empty()) state_->turns.push_back(guest);
    jobs.push_back({std::move(body), limits, std::move(done)});
  }
  state_->changed.notify_one();
  if (thread_.joinable()) return;
  const NoSignals during_start;
  thread_ = std::jthread([state = state_] { work(state); });
}

void BodyReader::work(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&] { return !state->executor || !state->turns.empty(); });
    if (!state->executor) return;
    const void* guest = state->turns.front();
    state->turns.pop_front();
    auto& jobs = state->waiting.at(guest);
    State::Job job = std::move(jobs.front());
    jobs.pop_front();
    if (jobs.empty()) {
      state->waiting.erase(guest);
    } else {
      state->turns.push_back(guest);
    }
    lock.unlock();
    Decoded decoded = gate::decode_message(job.body, job.limits);
    job.body = std::string();
    lock.lock();
    if (!state->executor) return;
    boost::asio::post(*state->executor,
                      [done = std::move(job.done), decoded = std::move(decoded)]() mutable {
                        done(std::move(decoded));
                      });
  }
}

}  // namespace mcpac::gateway::http
