// SPDX-License-Identifier: Apache-2.0

#include "gateway/code_mode/programs.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include <boost/asio/post.hpp>

#include "core/error_json.h"

namespace mcpac::gateway::code_mode {
namespace {

// Signals are for the threads that wait for them.
void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

Json attempt(const Programs::Work& work, StopSignal stop) {
  try {
    return work(stop);
  } catch (const std::exception& error) {
    return {{"error", error_json({ErrorId::kInternal, error.what(), "", "", ""})}};
  }
}

}  // namespace

Programs::~Programs() {
  for (auto& [id, job] : jobs_) {
    job.kill.pull();
    job.thread.join();
  }
}

Result<Programs::Id> Programs::start(std::string client, Work work, Done done) {
  const auto busy = [](std::string what) {
    return fail(ErrorId::kServerLimit, std::move(what),
                {.why = "analysing, compiling and running take a processor each",
                 .fix = "wait until one has ended, and call again"});
  };
  if (closing_) return busy("mcpac is shutting down");
  if (of_client(client) >= limits_.of_client)
    return busy(fmt::format("{} programs of this client are at work already", limits_.of_client));
  if (jobs_.size() >= limits_.all)
    return busy(fmt::format("{} programs are at work already", limits_.all));
  auto kill = run::KillSwitch::beside({});
  if (!kill) return pass_on(kill);
  const Id id = ++last_;
  Job& job = jobs_.emplace(id, Job{std::move(client), std::move(*kill), std::move(done), {}})
                 .first->second;
  try {
    job.thread = std::thread([this, id, work = std::move(work), stop = job.kill.stop()] {
      block_signals();
      Json result = attempt(work, stop);
      boost::asio::post(executor_, [this, id, result = std::move(result)]() mutable {
        finish(id, std::move(result));
      });
    });
  } catch (const std::system_error& error) {
    jobs_.erase(id);
    return fail(ErrorId::kInternal, fmt::format("no thread for the program: {}", error.what()));
  }
  return id;
}

void Programs::stop(Id id) {
  if (const auto found = jobs_.find(id); found != jobs_.end()) found->second.kill.pull();
}

void Programs::stop_of(std::string_view client) {
  for (const auto& [id, job] : jobs_) {
    if (job.client == client) job.kill.pull();
  }
}

void Programs::stop_all(std::function<void()> ended) {
  closing_ = true;
  for (const auto& [id, job] : jobs_) job.kill.pull();
  if (jobs_.empty()) return ended();
  ended_ = std::move(ended);
}

std::size_t Programs::of_client(std::string_view client) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(jobs_, [&](const auto& job) { return job.second.client == client; }));
}

// The thread's last act was to come here.
void Programs::finish(Id id, Json result) {
  auto node = jobs_.extract(id);
  node.mapped().thread.join();
  node.mapped().done(std::move(result));
  if (jobs_.empty() && ended_) std::exchange(ended_, nullptr)();
}

}  // namespace mcpac::gateway::code_mode
