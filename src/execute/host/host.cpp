#include "execute/host/host.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "execute/host/polling_loop.h"

namespace mcpac::execute {

namespace asio = boost::asio;

Error drift_error(const Permission& tool) {
  return {ErrorId::kLockDrift,
          fmt::format("{} is not the tool that mcpac.lock approved", tool.text()),
          fmt::format("server {}", tool.server()),
          "its definition changed, or the server no longer has it",
          fmt::format("`mcpac lock diff {}` shows the change, `mcpac lock accept {}` approves it",
                      tool.server(), tool.text())};
}

Host::Host(const mcp::Config& config, const codegen::Lock& lock)
    : config_(config),
      work_(asio::make_work_guard(loop_)),
      upstreams_(std::make_unique<Upstreams>(loop_.get_executor(), lock)),
      thread_([this] { run_polling(loop_); }) {}

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
      std::promise<Result<std::set<std::string>>> as_locked;
      as_locked.set_value(std::set<std::string>{});
      started_.emplace(name, as_locked.get_future().share());
      continue;
    }
    const auto* server = config_.find(name);
    if (server == nullptr || server->disabled || started_.contains(name)) continue;
    started_.emplace(name, upstreams_->start(*server));
  }
}

void Host::put_in_place_of_servers(std::unique_ptr<Between> between) {
  between_ = std::move(between);
  has_servers_ = false;
}

std::set<std::string> Host::started() const {
  std::set<std::string> names;
  for (const auto& [name, outcome] : started_) names.insert(name);
  return names;
}

Result<std::set<Permission>> Host::drifted_of(const std::set<Permission>& tools,
                                              const Interrupt& interrupt) {
  std::set<Permission> drifted;
  for (const Permission& tool : tools) {
    const auto found = started_.find(tool.server());
    if (found == started_.end()) {
      return fail(
          ErrorId::kUnknownServer,
          fmt::format("the server {} is not in mcpac.json, or is disabled", tool.server()),
          {.why = fmt::format("the program needs {}", tool.text()), .fix = "mcpac server list"});
    }
    if (!wait_unless_stopped(found->second, interrupt)) {
      return fail(ErrorId::kInterrupted, "interrupted while a server was starting");
    }
    const auto& outcome = found->second.get();
    if (!outcome) return std::unexpected(outcome.error());
    if (outcome->contains(tool.tool())) drifted.insert(tool);
  }
  return drifted;
}

Result<void> Host::wait_for(const std::set<Permission>& tools, const Interrupt& interrupt) {
  auto drifted = drifted_of(tools, interrupt);
  if (!drifted) return pass_on(drifted);
  if (drifted->empty()) return {};
  return std::unexpected(drift_error(*drifted->begin()));
}

}  // namespace mcpac::execute
