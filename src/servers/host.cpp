// SPDX-License-Identifier: Apache-2.0

#include "servers/host.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "servers/polling_loop.h"

namespace mcpac::servers {

namespace asio = boost::asio;

namespace {

// Most servers are there before this; a longer wait is told with its reason.
constexpr std::chrono::seconds kSilence{3};

}  // namespace

Host::Host(const mcp::Config& config, const codegen::Lock& lock)
    : config_(config),
      work_(asio::make_work_guard(loop_)),
      upstreams_(std::make_unique<Upstreams>(loop_.get_executor(), lock)),
      thread_([this] { run_polling(loop_); }) {
  upstreams_->on_slow_start([said = said_](const std::string& server, std::string_view text) {
    const std::lock_guard guard(said->mutex);
    said->texts[server] = text;
  });
}

std::string Host::take_said(const std::string& server) const {
  const std::lock_guard guard(said_->mutex);
  const auto found = said_->texts.extract(server);
  return found.empty() ? std::string() : std::move(found.mapped());
}

Host::~Host() {
  // The ladder gives a server seconds to end by itself; one that hangs beyond all steps is left to
  // the destructor of its client, which kills without asking.
  auto closed = asio::co_spawn(loop_, upstreams_->close(), asio::use_future);
  closed.wait_for(std::chrono::seconds(15));
  loop_.stop();
  work_.reset();
  thread_.join();
  between_.reset();
  upstreams_.reset();
}

void Host::start(const std::set<std::string>& servers) {
  for (const std::string& name : servers) {
    if (!has_servers_) {
      std::promise<Result<Drifted>> as_locked;
      as_locked.set_value(Drifted{});
      started_.emplace(name, as_locked.get_future().share());
      continue;
    }
    const auto* server = config_.find(name);
    if (server == nullptr || server->disabled || started_.contains(name)) continue;
    started_.emplace(name, upstreams_->start(*server));
  }
}

void Host::put_in_place_of_servers(std::unique_ptr<UpstreamInterposer> between) {
  between_ = std::move(between);
  has_servers_ = false;
}

std::set<std::string> Host::started() const {
  std::set<std::string> names;
  for (const auto& [name, outcome] : started_) names.insert(name);
  return names;
}

bool Host::wait_until_started(const std::string& name, const Started& server,
                              const Interrupt& interrupt, const OnWait& waits) const {
  const auto say_at = std::chrono::steady_clock::now() + kSilence;
  bool is_said = false;
  // A rare and long wait, so a coarse look is enough.
  while (server.wait_for(std::chrono::milliseconds(2)) != std::future_status::ready) {
    if (interrupt.received()) return false;
    if (const auto said = take_said(name); !said.empty()) waits(said);
    if (is_said || std::chrono::steady_clock::now() < say_at) continue;
    is_said = true;
    const auto* config = config_.find(name);
    waits(
        fmt::format("waiting for the server {}, which has not answered yet; \"timeout\" in "
                    "mcpac.json gives it {} ms for each answer",
                    name, config == nullptr ? 0 : config->timeout.count()));
  }
  return true;
}

Result<std::map<Permission, Drift>> Host::drifted_of(const std::set<Permission>& tools,
                                                     const Interrupt& interrupt,
                                                     const OnWait& waits) {
  std::map<Permission, Drift> drifted;
  for (const Permission& tool : tools) {
    const auto found = started_.find(tool.server());
    if (found == started_.end()) {
      return fail(
          ErrorId::kUnknownServer,
          fmt::format("the server {} is not in mcpac.json, or is disabled", tool.server()),
          {.why = fmt::format("the program needs {}", tool.text()), .fix = "mcpac server list"});
    }
    if (!wait_until_started(tool.server(), found->second, interrupt, waits))
      return fail(ErrorId::kInterrupted, "interrupted while a server was starting");
    const auto& outcome = found->second.get();
    if (!outcome) return std::unexpected(outcome.error());
    if (const auto how = outcome->find(tool.tool()); how != outcome->end())
      drifted.emplace(tool, how->second);
  }
  return drifted;
}

Result<void> Host::wait_for(const std::set<Permission>& tools, const Interrupt& interrupt,
                            const OnWait& waits) {
  auto drifted = drifted_of(tools, interrupt, waits);
  if (!drifted) return pass_on(drifted);
  if (drifted->empty()) return {};
  const auto& [tool, how] = *drifted->begin();
  return std::unexpected(drift_error(tool, how));
}

}  // namespace mcpac::servers
