// SPDX-License-Identifier: Apache-2.0

#include "run/prewarmed_run.h"

#include <algorithm>
#include <utility>

#include "project/header_files.h"
#include "project/project_place.h"
#include "run/agent_run.h"
#include "run/check/authorities.h"
#include "run/live/leftovers.h"
#include "run/server_stamps.h"
#include "servers/confine/confine_servers.h"
#include "servers/confine/server_places.h"
#include "toolchain/build_tools.h"
#include "toolchain/named_servers.h"

namespace mcpac::run {
void PrewarmedTools::let_go() {
  build.let_go();
  if (slot) slot->child().child.kill(sandbox::Verdict::Kind::kKilled);
}

PrewarmedTools start_tools(const project::Project& project, const codegen::Lock& lock,
                           const std::set<std::string>& servers, const project::Folders& folders,
                           const RunLimits& limits, sandbox::Warden& warden) {
  PrewarmedTools tools;
  std::set<std::string> headers;
  for (const std::string& name : servers) {
    if (const auto* server = lock.find_server(name))
      headers.insert(project::header_file_of(*server));
  }
  if (headers.empty()) return tools;
  tools.prepared = toolchain::find_prepared(project, lock, headers, folders);
  if (!tools.prepared) return tools;
  const toolchain::Prepared& prepared = tools.prepared->prepared;
  const toolchain::BuildTools asked{folders, prepared, limits.lowest_tier};
  if (auto analyzer = toolchain::WaitingAnalyzer::start(asked, warden))
    tools.build.analyzer = std::move(*analyzer);
  if (auto build = toolchain::WaitingBuild::start(asked, warden))
    tools.build.build = std::move(*build);
  AgentProgram program;
  program.runner = prepared.folder / "runner";
  auto slot = Slot::open(warden, agent_spec(program, limits));
  if (slot) {
    slot->make_memory_ready();
    tools.slot = std::move(*slot);
  }
  return tools;
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFromFile = "${file:";

bool reads_files(const mcp::ServerConfig& server) {
  const auto named = [](const std::string& text) {
    return text.find(kFromFile) != std::string::npos;
  };
  return named(server.command) || named(server.working_directory) ||
         std::ranges::any_of(server.arguments, named) ||
         std::ranges::any_of(server.environment,
                             [&](const auto& entry) { return named(entry.second); });
}

// Those of the servers that can be started beforehand, and from what they would be.
PrewarmedRun::Stamps preparable(const mcp::Config& config, const std::set<std::string>& names,
                                const project::Folders& folders) {
  PrewarmedRun::Stamps stamps;
  for (const std::string& name : names) {
    const auto* server = config.find(name);
    if (server == nullptr || server->disabled || server->is_http() || reads_files(*server))
      continue;
    if (auto stamp = stamp_of_server(*server, folders)) stamps.emplace(name, std::move(*stamp));
  }
  return stamps;
}

// Digests of definitions stand for them (codegen/lock).
bool is_same(const codegen::Lock& a, const codegen::Lock& b) {
  return &a == &b || std::ranges::equal(a.servers, b.servers, [](const auto& x, const auto& y) {
    return x.name == y.name && x.identity == y.identity && x.entry == y.entry &&
           x.claims == y.claims &&
           std::ranges::equal(x.tools, y.tools, [](const auto& s, const auto& t) {
             return s.name == t.name && s.digest == t.digest;
           });
  });
}

bool is_same(const mcp::Config& a, const mcp::Config& b) {
  return std::ranges::equal(a.servers, b.servers, [](const auto& x, const auto& y) {
    return x.name == y.name && mcp::to_json(x) == mcp::to_json(y);
  });
}

bool may_write(const mcp::ServerConfig& server, const project::PlacesOfServers& by_rules) {
  if (!server.sandbox) return false;
  if (std::ranges::any_of(server.sandbox->files,
                          [](const std::string& place) { return place.ends_with(":rw"); }))
    return true;
  const auto found = by_rules.find(server.name);
  return found != by_rules.end() &&
         std::ranges::any_of(found->second.given, [](const project::ServerPlaces::Place& place) {
           return place.mode == policy::FileMode::kReadWrite;
         });
}

// Whether servers of `project`, of a run whose rules are known, would be started in the sandboxes
// that those of `prepared` are in, for which no rules were known: with no places of rules, and with
// nothing that the run obeys where they may write.
bool confines_alike(const project::Project& project, const project::Project& prepared,
                    const PrewarmedRun::Stamps& started) {
  const auto wanted = servers::given_places(project);
  // Those of `prepared` were started in tier A, or not at all: less was not accepted there.
  if (project.confined && project.confined->tier() != sandbox::Tier::kA) return false;
  return std::ranges::all_of(project.config.servers, [&](const mcp::ServerConfig& server) {
    if (!server.sandbox) return true;
    if (project.obeyed != prepared.obeyed && may_write(server, wanted)) return false;
    if (!started.contains(server.name)) return true;
    // One that was not started yet may be about to.
    const auto last = prepared.confined->last_start(server.name);
    const auto found = wanted.find(server.name);
    return last && servers::is_confined_alike(
                       found == wanted.end() ? project::ServerPlaces{} : found->second, *last);
  });
}

}  // namespace

Result<std::unique_ptr<PrewarmedRun>> PrewarmedRun::prepare(const fs::path& config_file,
                                                            const project::Folders& folders,
                                                            const std::set<std::string>& servers) {
  std::unique_ptr<PrewarmedRun> made(new PrewarmedRun);
  // As in a run, the warden starts before anything else is open.
  auto warden = sandbox::Warden::start(folders.warden());
  if (!warden) return pass_on(warden);
  made->warden_ = std::move(*warden);
  sweep_leftovers(folders);  // here no command waits for it
  auto project = project::load_project(config_file, folders);
  if (!project) return pass_on(project);
  servers::confine_servers(*project, folders);
  made->project_ = std::move(*project);
  auto lock = project::load_known_lock(made->project_);
  if (!lock) return pass_on(lock);
  made->lock_ = std::move(*lock);
  made->folders_ = folders;
  // Read before the servers start: each use of the project from now on changes it.
  made->last_use_ = project::ProjectUse::number_of_last(folders, config_file);
  made->host_ = std::make_unique<servers::Host>(made->project_.config, made->lock_->lock);
  if (!made->last_use_) return made;  // a run is on: servers would be older than it
  made->servers_ = preparable(made->project_.config, servers, folders);
  for (const auto& [name, stamp] : made->servers_) made->host_->start({name});
  // After the servers, which take longer and begin meanwhile.
  static_cast<void>(project::home_of_user());  // it is known then
  made->compiled_servers_ = servers;
  made->compiled_ = std::make_shared<const servers::CompiledTools>(servers::compile_tools(
      made->lock_->lock, servers, project::server_checks_of(made->project_.config)));
  made->tools_ =
      start_tools(made->project_, made->lock_->lock, servers, folders, {}, *made->warden_);
  return made;
}

Result<std::unique_ptr<PrewarmedRun>> PrewarmedRun::of_tools(const project::Project& project,
                                                             const codegen::Lock& lock,
                                                             const project::Folders& folders,
                                                             const std::set<std::string>& servers,
                                                             const RunLimits& limits) {
  std::unique_ptr<PrewarmedRun> made(new PrewarmedRun);
  auto warden = sandbox::Warden::start(folders.warden());
  if (!warden) return pass_on(warden);
  made->warden_ = std::move(*warden);
  sweep_leftovers(folders);
  made->tools_ = start_tools(project, lock, servers, folders, limits, *made->warden_);
  return made;
}

PrewarmedRun::~PrewarmedRun() = default;

std::optional<sandbox::Warden> PrewarmedRun::take_warden() {
  return std::exchange(warden_, std::nullopt);
}

PrewarmedTools PrewarmedRun::take_tools() {
  return std::exchange(tools_, {});
}

std::shared_ptr<const servers::CompiledTools> PrewarmedRun::compiled_tools(
    const codegen::Lock& lock, const std::set<std::string>& servers) const {
  const bool is_this = lock_ && &lock == &lock_->lock && servers == compiled_servers_;
  return is_this ? compiled_ : nullptr;
}

bool PrewarmedRun::fits(const project::Project& project, const codegen::Lock& lock,
                        const std::set<std::string>& admitted) const {
  const bool same_project = project::place_of_project(project.config_file) ==
                                project::place_of_project(project_.config_file) &&
                            is_same(project.config, project_.config) && is_same(lock, lock_->lock);
  if (!same_project) return false;
  if (!confines_alike(project, project_, servers_)) return false;
  for (const auto& [name, stamp] : servers_) {
    if (!admitted.contains(name) || stamp_of_server(*project_.config.find(name), folders_) != stamp)
      return false;
  }
  return last_use_ &&
         project::ProjectUse::number_of_last(folders_, project_.config_file) == last_use_ &&
         host_->on_loop([this] { return host_->upstreams().all_well(); });
}

std::unique_ptr<servers::Host> PrewarmedRun::take_host(const project::Project& project,
                                                       const codegen::Lock& lock,
                                                       const std::set<std::string>& admitted) {
  if (!host_) return nullptr;
  if (fits(project, lock, admitted)) {
    servers::give_places(project_,
                         servers::given_places(project));  // to those that are started from now on
    return std::move(host_);
  }
  host_.reset();  // two of a server at the same time could stand in each other's way
  return nullptr;
}

PrewarmedTools tools_for_run(PrewarmedRun* standby) {
  return standby == nullptr ? PrewarmedTools{} : standby->take_tools();
}

Result<std::shared_ptr<const project::KnownLock>> lock_for_run(const PrewarmedRun* standby,
                                                               const project::Project& project) {
  return standby == nullptr ? project::load_known_lock(project) : standby->load_lock(project);
}

std::shared_ptr<const servers::CompiledTools> compiled_for_run(
    const PrewarmedRun* standby, const codegen::Lock& lock, const std::set<std::string>& servers,
    const codegen::ServerChecks& server_checks) {
  auto compiled = standby == nullptr ? nullptr : standby->compiled_tools(lock, servers);
  if (compiled) return compiled;
  return std::make_shared<const servers::CompiledTools>(
      servers::compile_tools(lock, servers, server_checks));
}

Result<sandbox::Warden> warden_for_run(PrewarmedRun* standby, const project::Folders& folders,
                                       sandbox::Explore explore) {
  auto warden = standby == nullptr ? std::nullopt : standby->take_warden();
  if (warden) return std::move(*warden);
  return sandbox::Warden::start(folders.warden(), explore);
}

RunHost host_for_run(PrewarmedRun* standby, const project::Folders& folders,
                     const project::Project& project, const codegen::Lock& lock,
                     const std::set<std::string>& admitted) {
  auto host = standby == nullptr ? nullptr : standby->take_host(project, lock, admitted);
  // Said after what was prepared was looked at: it is younger than every use but this one.
  project::ProjectUse use(folders, project.config_file);
  if (host) return {std::move(use), std::move(host), standby->rules()};
  return {std::move(use), std::make_unique<servers::Host>(project.config, lock), project.confined};
}

}  // namespace mcpac::run
