#include "resident/workers.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "resident/patience.h"

namespace mcpac::resident {
namespace {

// One that waits has done nothing yet, and a client may be waiting for its end.
constexpr auto kUntilAWaitingOneEnds = std::chrono::seconds(1);

}  // namespace

void Worker::end() {
  if (kill_at != Workers::Clock::time_point::max()) return;
  const bool has_work = state == State::kRunning;
  if (!has_work) state = State::kEnding;
  kill_at = Workers::Clock::now() +
            patient(has_work ? std::chrono::milliseconds(kUntilARunEnds) : kUntilAWaitingOneEnds);
  static_cast<void>(process.process().signal(SIGTERM));
  static_cast<void>(process.process().signal(SIGCONT));  // it may have been stopped with its client
}

void Workers::use(Plan plan) {
  plan.used = Clock::now();
  const auto known = plans_.find(plan.config_file);
  if (known != plans_.end()) plan.servers = std::move(known->second.servers);
  plans_.insert_or_assign(plan.config_file, std::move(plan));
  while (plans_.size() > kMaxPlans) {
    plans_.erase(
        std::ranges::min_element(plans_, {}, [](const auto& entry) { return entry.second.used; }));
  }
}

void Workers::know_servers(const std::string& config_file, std::set<std::string> servers) {
  const auto known = plans_.find(config_file);
  if (known != plans_.end()) known->second.servers = std::move(servers);
}

const Plan* Workers::plan_of(const std::string& config_file) const {
  const auto known = plans_.find(config_file);
  return known == plans_.end() ? nullptr : &known->second;
}

void Workers::forget_old() {
  const auto now = Clock::now();
  std::erase_if(plans_, [&](const auto& entry) { return now >= entry.second.used + idle_; });
  for (Worker& worker : workers_) {
    if (worker.state == Worker::State::kWaiting && !plans_.contains(worker.config_file))
      worker.end();
    if (now < worker.kill_at) continue;
    static_cast<void>(worker.process.process().signal(SIGKILL));
    worker.kill_at = now + patient(kUntilARunEnds);
  }
}

void Workers::settle(const std::set<std::string>& busy) {
  forget_old();
  if (ending_) return;
  std::set<std::string> failed;
  for (const auto& [config_file, plan] : plans_) {
    if (busy.contains(config_file) || of_project(config_file) != nullptr) continue;
    auto process = WorkerProcess::start(program_, plan, log_);
    if (!process) {
      say_(process.error().to_text());
      failed.insert(config_file);
      continue;
    }
    say_(fmt::format("worker {} prepares for {}", process->process().number(), config_file));
    workers_.push_front({.process = std::move(*process),
                         .key = plan.key,
                         .config_file = config_file,
                         .since = Clock::now()});
  }
  for (const std::string& config_file : failed) plans_.erase(config_file);
}

Worker* Workers::of_project(const std::string& config_file) {
  const auto found = std::ranges::find(workers_, config_file, &Worker::config_file);
  return found == workers_.end() ? nullptr : &*found;
}

void Workers::end_all() {
  ending_ = true;
  plans_.clear();
  for (Worker& worker : workers_) worker.end();
}

void Workers::remove(const Worker& worker) {
  // One that ends by itself while it waits would do so again.
  if (worker.state == Worker::State::kWaiting) plans_.erase(worker.config_file);
  workers_.remove_if([&](const Worker& one) { return &one == &worker; });
}

Workers::Clock::time_point Workers::next() const {
  auto next = Clock::time_point::max();
  for (const auto& [config_file, plan] : plans_) next = std::min(next, plan.used + idle_);
  for (const Worker& worker : workers_) next = std::min(next, worker.kill_at);
  return next;
}

}  // namespace mcpac::resident
