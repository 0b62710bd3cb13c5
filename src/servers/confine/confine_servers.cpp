// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/confine_servers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "core/printable.h"
#include "core/quantity.h"
#include "mcp/child_process.h"
#include "mcp/secrets.h"
#include "mcp/stdio_transport.h"
#include "project/files/file_mounts.h"
#include "project/project_place.h"
#include "servers/confine/failed_calls.h"
#include "servers/confine/learn.h"
#include "servers/confine/tier_b.h"

namespace mcpac::servers {
namespace {

namespace fs = std::filesystem;
using sandbox::Mount;

// One warden for the confined servers of a project, as others are asked from other threads and live
// as long as their run.
class ServerWarden {
 public:
  explicit ServerWarden(fs::path program) : program_(std::move(program)) {}

  // So that it makes ready while what to ask of it is worked out.
  Result<void> begin() {
    const std::scoped_lock alone(mutex_);
    return begin_alone();
  }

  Result<sandbox::Child> spawn(const sandbox::Spec& spec) {
    const std::scoped_lock alone(mutex_);
    // One that was killed is replaced once; its children went with it.
    for (const bool again : {true, false}) {
      if (auto begun = begin_alone(); !begun) return pass_on(begun);
      auto child = warden_->spawn(spec);
      if (child || child.error().id != ErrorId::kWardenFailed || !again) return child;
      warden_.reset();
    }
    return fail(ErrorId::kWardenFailed, "the sandbox's warden does not answer");
  }

  // Whether its children get roots, and so tier A. True where it does not answer: the start says
  // so.
  bool makes_roots() {
    const std::scoped_lock alone(mutex_);
    if (!begin_alone()) return true;
    return warden_->makes_roots().value_or(true);
  }

 private:
  Result<void> begin_alone() {
    if (warden_) return {};
    auto started = sandbox::Warden::start(program_, sandbox::Explore::kForServers);
    if (!started) return pass_on(started);
    warden_.emplace(std::move(*started));
    return {};
  }

  fs::path program_;
  std::mutex mutex_;
  std::optional<sandbox::Warden> warden_;
};

// Listening sockets for a server, and the receiver of its refusals.
struct NetworkOfStart {
  std::shared_ptr<ServerConnections> connections;
  ServerNetwork network;
  UniqueFd standard_error;
};

// The places that a server may write, looked through for names that tools obey and that were not
// there when it started: no guard keeps it from making them (docs/adr/0057). Any thread.
class WatchedNames {
 public:
  WatchedNames(std::string server, project::FileMounts places,
               std::shared_ptr<ServerConnections> connections)
      : server_(std::move(server)),
        places_(std::move(places)),
        connections_(std::move(connections)) {}
  // Tells its user of each, once; of one that was removed and made again, again.
  void look() const {
    const auto made = project::new_protected_names(places_);
    if (!made) {
      const std::string text = fmt::format(
          "{}: what it may write is not looked through for names that tools may run or obey: {}",
          printable(server_), made.error().what);
      return connections_->note({.kind = Kind::kUnseen,
                                 .server = server_,
                                 .key = text,
                                 .text = text,
                                 .anomaly = {{"what", "new names are not looked for"}}});
    }
    for (const fs::path& path : made->names) {
      tell(
          Kind::kNewName, path,
          "{}: {} came to be in what it may write, while it ran: tools may run or obey it. Look at "
          "it before you go on; from the next start of the server on it is read-only for it",
          "a name that tools obey came to be while a server ran that may write there");
    }
    for (const fs::path& path : made->closed) {
      tell(Kind::kUnseen, path,
           "{}: {} cannot be looked through for names that tools may run or obey",
           "what a server may write cannot be looked through for names that tools obey");
    }
  }

  // Errors have no reader any more.
  void look_at_last() noexcept {
    try {
      look();
    } catch (const std::exception&) {
      return;
    }
  }

 private:
  using Kind = ServerConnections::Note::Kind;

  void tell(Kind kind, const fs::path& path, fmt::string_view text, const char* what) const {
    connections_->note(
        {.kind = kind,
         .server = server_,
         .key = project::file_with_name(path),
         .text = fmt::format(fmt::runtime(text), printable(server_), printable(path.string())),
         .anomaly = {{"what", what}, {"path", printable(path.string())}}});
  }

  std::string server_;
  project::FileMounts places_;
  std::shared_ptr<ServerConnections> connections_;
};

// A server that was told to end: with what has to stay until it has.
struct Remains {
  Remains(std::optional<FoldersOnDisk> folders, std::shared_ptr<ServerWarden> of,
          sandbox::Child process, std::shared_ptr<WatchedNames> places)
      : own(std::move(folders)),
        warden(std::move(of)),
        child(std::move(process)),
        names(std::move(places)) {}
  std::optional<FoldersOnDisk> own;      // removed when nothing of it runs any more
  std::shared_ptr<ServerWarden> warden;  // outlives its child
  sandbox::Child child;
  std::shared_ptr<WatchedNames> names;  // null: it may write no folder
};

// Waits for servers that were told to end, and looks through what they could write, on a thread of
// its own: memory is large, so are folders, and who ends one server serves others. Any thread; its
// end waits for all of them.
class LastLooks {
 public:
  LastLooks() = default;
  LastLooks(const LastLooks&) = delete;
  LastLooks& operator=(const LastLooks&) = delete;
  ~LastLooks() {
    {
      const std::scoped_lock alone(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  // False: there is no thread, and they stay the caller's.
  [[nodiscard]] bool add(std::unique_ptr<Remains>& of_server) {
    const std::scoped_lock alone(mutex_);
    try {
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
    waiting_.push_back(std::move(of_server));
    changed_.notify_all();
    return true;
  }
  // Until what was added is done.
  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty() && !is_looking_; });
  }
  // On this thread.
  static void look(Remains& remains) noexcept {
    std::ignore = remains.child.wait();
    if (remains.names) remains.names->look_at_last();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      auto next = std::move(waiting_.front());
      waiting_.pop_front();
      is_looking_ = true;
      lock.unlock();
      look(*next);
      next.reset();
      lock.lock();
      is_looking_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Remains>> waiting_;
  bool is_looking_ = false;
  bool is_over_ = false;
  std::thread thread_;  // runs from the first on
};

class InSandbox final : public mcp::ConfinedProcess {
 public:
  InSandbox(sandbox::Child child, std::shared_ptr<ServerWarden> warden, std::uint64_t memory,
            std::optional<NetworkOfStart> network, std::optional<FoldersOnDisk> own,
            std::shared_ptr<WatchedNames> names, std::shared_ptr<LastLooks> looks)
      : own_(std::move(own)),
        warden_(std::move(warden)),
        child_(std::move(child)),
        memory_(memory),
        network_(std::move(network)),
        names_(std::move(names)),
        looks_(std::move(looks)) {}
  InSandbox(const InSandbox&) = delete;
  InSandbox& operator=(const InSandbox&) = delete;
  // Whatever it made at its very end is seen.
  ~InSandbox() override {
    child_.kill(sandbox::Verdict::Kind::kKilled);
    pollfd end{.fd = child_.end_descriptor(), .events = POLLIN, .revents = 0};
    const bool has_ended = ::poll(&end, 1, kMomentMs) > 0;
    if (has_ended) std::ignore = child_.wait();
    if (has_ended && !names_) return;
    auto remains = std::make_unique<Remains>(has_ended ? std::nullopt : std::move(own_), warden_,
                                             std::move(child_), std::move(names_));
    if (!looks_->add(remains)) LastLooks::look(*remains);
  }
  [[nodiscard]] int end_descriptor() const override { return child_.end_descriptor(); }
  void kill() override { child_.kill(sandbox::Verdict::Kind::kKilled); }
  [[nodiscard]] std::optional<LimitHit> limit_hit() override {
    const auto verdict = child_.wait();
    if (!verdict || !verdict->limit) return std::nullopt;
    // In tier B a look holds it, and elsewhere the kernel refuses one more.
    if (verdict->limit->name == "processes")
      return LimitHit{.what = verdict->detail, .fix = "ask less of it at a time"};
    if (verdict->kind != sandbox::Verdict::Kind::kMemoryLimit) return std::nullopt;
    return LimitHit{.what = fmt::format("it had {} MB of memory, and may have {}",
                                        verdict->limit->used / 1'000'000U, size_text(memory_)),
                    .fix = R"(raise "memory" in the "sandbox" of its entry, or ask less of it at )"
                           "a time"};
  }
  [[nodiscard]] bool hands_over() const override { return network_.has_value(); }
  [[nodiscard]] Result<void> listen_on(std::vector<UniqueFd> sockets) override {
    if (!network_) return {};
    auto session = network_->connections->serve(std::move(network_->network), std::move(sockets),
                                                std::move(network_->standard_error));
    if (!session) return pass_on(session);
    session_ = std::move(*session);
    return {};
  }

 private:
  static constexpr int kMomentMs = 100;
  std::optional<FoldersOnDisk> own_;  // as Remains has them
  std::shared_ptr<ServerWarden> warden_;
  sandbox::Child child_;
  std::uint64_t memory_;
  std::optional<NetworkOfStart> network_;
  std::unique_ptr<ServerConnections::Session> session_;
  std::shared_ptr<WatchedNames> names_;  // null: it may write no folder
  std::shared_ptr<LastLooks> looks_;
};

// Of its own: whether it waits is nothing to the server, which has the same pipe.
UniqueFd opened_again(int pipe) {
  return UniqueFd(::open(fmt::format("/proc/self/fd/{}", pipe).c_str(),
                         O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

std::string remedy_for(const Error& error, const std::string& server) {
  if (error.id != ErrorId::kTierTooLow && error.id != ErrorId::kSandboxUnavailable &&
      error.id != ErrorId::kSandboxLayerFailed)
    return error.fix;
  const bool accepting = error.fix.contains("--accept-tier B");
  return fmt::format(
      "`mcpac doctor` says what is missing on this machine{}; without \"sandbox\" in the entry of "
      "{} it runs with all that you have",
      accepting
          ? ", and `mcpac doctor --accept-tier B` accepts that Landlock alone holds the files "
            "of servers (docs/confined-servers.md)"
          : "",
      server);
}

class ServerConfiner final : public mcp::Confiner,
                             public std::enable_shared_from_this<ServerConfiner> {
 public:
  ServerConfiner(std::shared_ptr<const project::Project> project, project::Folders folders,
                 std::shared_ptr<ServerWarden> warden)
      : project_(std::move(project)),
        folders_(std::move(folders)),
        warden_(std::move(warden)),
        connections_(std::make_shared<ServerConnections>(folders_.audit())),
        rules_(project_->confined),
        looks_(std::make_shared<LastLooks>()) {}
  ServerConfiner(const ServerConfiner& other, std::shared_ptr<ConfinedRules> rules)
      : project_(other.project_),
        folders_(other.folders_),
        warden_(other.warden_),
        connections_(other.connections_),
        rules_(std::move(rules)),
        looks_(other.looks_) {}

  [[nodiscard]] const std::shared_ptr<ServerConnections>& connections() const {
    return connections_;
  }

  [[nodiscard]] Result<std::unique_ptr<mcp::ConfinedProcess>> start(
      const std::string& server, const mcp::SpawnOptions& options,
      const mcp::ConfinedEnds& ends) const override {
    return start_with(rules_->of(server), server, options, ends);
  }
  [[nodiscard]] std::shared_ptr<const mcp::Confiner> at_this_moment(
      const std::string& server) const override;

  [[nodiscard]] Result<std::unique_ptr<mcp::ConfinedProcess>> start_with(
      const project::ServerPlaces& by_rules, const std::string& server,
      const mcp::SpawnOptions& options, const mcp::ConfinedEnds& ends) const {
    if (auto begun = warden_->begin(); !begun) return pass_on(begun);
    project::FileMounts written;
    auto spec = confined_spec(*project_, folders_, options, by_rules, &written);
    if (!spec) return pass_on(spec);
    std::optional<NetworkOfStart> network;
    std::optional<FoldersOnDisk> own;
    const sandbox::Tier tier = project_->confined->tier();
    if (tier != sandbox::Tier::kA) {
      if (auto weaker = in_tier_b(server, options, by_rules, *spec, own); !weaker)
        return pass_on(weaker);
    } else if (!options.confined->network.empty()) {
      auto reached = network_of_server(
          server, project_->config_file.string(), options.confined->network,
          by_rules.network_denied ? ServersReach::kNothing : ServersReach::kAsTheirEntries);
      if (!reached) return pass_on(reached);
      give_network(*reached, *spec);
      network.emplace(connections_, std::move(*reached), opened_again(ends.standard_error));
    }
    spec->standard_input = ends.standard_input;
    spec->standard_output = ends.standard_output;
    spec->standard_error = ends.standard_error;
    spec->channel = ends.control;
    ConfinedRules::Started started{.places = by_rules, .folders = {}};
    started.places.tier = tier;
    for (const Mount& mount : spec->mounts) {
      if (mount.kind != Mount::Kind::kHost) continue;
      started.folders.push_back(mount.inside);
      if (mount.access == Mount::Access::kReadWrite) started.writable.push_back(mount.inside);
    }
    rules_->started(server, std::move(started));
    if (options.observer) spec->observer = options.observer->socket();
    auto child = warden_->spawn(*spec);
    if (!child) {
      Error error = std::move(child.error());
      error.fix = remedy_for(error, server);
      error.what = fmt::format("cannot confine server {}: {}", server, error.what);
      return std::unexpected(std::move(error));
    }
    std::shared_ptr<WatchedNames> names;
    if (written.writes()) {
      names = std::make_shared<WatchedNames>(server, std::move(written), connections_);
      const std::scoped_lock alone(watched_mutex_);
      std::erase_if(watched_, [](const auto& one) { return one.expired(); });
      watched_.push_back(names);
    }
    return std::make_unique<InSandbox>(std::move(*child), warden_, spec->limits.memory,
                                       std::move(network), std::move(own), std::move(names),
                                       looks_);
  }

  // As far as its entry and the disk say; of tiers and rules a start says more.
  [[nodiscard]] Result<void> check_start(const mcp::ServerConfig& server) const {
    mcp::SecretValues secrets;
    auto target = mcp::make_stdio_target(server, secrets);
    if (!target) return std::unexpected(secrets.redact(std::move(target.error())));
    const auto check = [&]() -> Result<void> {
      if (auto spec = confined_spec(*project_, folders_, target->spawn); !spec)
        return pass_on(spec);
      const auto& network = target->spawn.confined->network;
      if (network.empty()) return {};
      auto reached = network_of_server(server.name, project_->config_file.string(), network,
                                       ServersReach::kAsTheirEntries);
      if (!reached) return pass_on(reached);
      return {};
    };
    auto checked = check();
    if (!checked) return std::unexpected(secrets.redact(std::move(checked.error())));
    return {};
  }

  // Of all that run or have ended.
  void look_at_names() const {
    std::vector<std::shared_ptr<WatchedNames>> all;
    {
      const std::scoped_lock alone(watched_mutex_);
      for (const auto& one : watched_) {
        if (auto names = one.lock()) all.push_back(std::move(names));
      }
    }
    for (const auto& names : all) names->look();
    all.clear();
    looks_->finish();
  }

  void call_failed(const std::string& server, std::string_view said) const override {
    const auto* config = project_->config.find(server);
    const auto had = rules_->last_start(server);
    if (config == nullptr || !had) return;
    // Without it no path is looked at.
    const auto mounts = project::MountTable::read().value_or(project::MountTable());
    for (const FailedFor& one :
         failed_for(said, *config,
                    {.readable = had->folders, .writable = had->writable, .tier = had->places.tier},
                    homes_of_servers(), mounts)) {
      Json anomaly{{"what", "a call failed for what the sandbox of its server does not give"}};
      if (!one.path.empty()) anomaly["path"] = printable(one.path);
      connections_->note({.kind = ServerConnections::Note::Kind::kFailedCall,
                          .server = server,
                          .key = one.text,
                          .text = one.text,
                          .anomaly = std::move(anomaly)});
    }
  }

  [[nodiscard]] std::shared_ptr<mcp::Refusals> look_at_refusals(
      const std::string& server) const override {
    return refusals_of(project_, folders_, server);
  }

 private:
  Result<void> in_tier_b(const std::string& server, const mcp::SpawnOptions& options,
                         const project::ServerPlaces& by_rules, sandbox::Spec& spec,
                         std::optional<FoldersOnDisk>& own) const {
    const auto& places = options.confined->network;
    if (!places.empty()) {  // what is no place is told as it is elsewhere
      auto known = network_of_server(server, project_->config_file.string(), places,
                                     ServersReach::kAsTheirEntries);
      if (!known) return pass_on(known);
    }
    auto network = whole_network(server, places, by_rules);
    if (!network) return pass_on(network);
    auto made = FoldersOnDisk::make(folders_.temporary);
    if (!made) return pass_on(made);
    auto weaker = without_mounts(std::move(spec), server, *network, *made);
    if (!weaker) return pass_on(weaker);
    spec = std::move(*weaker);
    own.emplace(std::move(*made));
    return {};
  }

  std::shared_ptr<const project::Project> project_;
  project::Folders folders_;
  std::shared_ptr<ServerWarden> warden_;
  std::shared_ptr<ServerConnections> connections_;
  mutable std::mutex watched_mutex_;
  mutable std::vector<std::weak_ptr<WatchedNames>> watched_;
  std::shared_ptr<ConfinedRules> rules_;
  std::shared_ptr<LastLooks> looks_;  // the last: what its looks tell, the others hear
};

// Starts a server with what rules gave when it was asked for.
class AtOneMoment final : public mcp::Confiner {
 public:
  AtOneMoment(std::shared_ptr<const ServerConfiner> of, project::ServerPlaces places)
      : of_(std::move(of)), places_(std::move(places)) {}
  [[nodiscard]] Result<std::unique_ptr<mcp::ConfinedProcess>> start(
      const std::string& server, const mcp::SpawnOptions& options,
      const mcp::ConfinedEnds& ends) const override {
    return of_->start_with(places_, server, options, ends);
  }
  [[nodiscard]] std::shared_ptr<mcp::Refusals> look_at_refusals(
      const std::string& server) const override {
    return of_->look_at_refusals(server);
  }
  void call_failed(const std::string& server, std::string_view said) const override {
    of_->call_failed(server, said);
  }

 private:
  std::shared_ptr<const ServerConfiner> of_;
  project::ServerPlaces places_;
};

std::shared_ptr<const mcp::Confiner> ServerConfiner::at_this_moment(
    const std::string& server) const {
  return std::make_shared<AtOneMoment>(shared_from_this(), rules_->of(server));
}

// Of the projects that these servers are of, which is one.
std::set<const ServerConfiner*> confiners_of(const mcp::Config& config) {
  std::set<const ServerConfiner*> all;
  for (const auto& server : config.servers) {
    const auto* confiner = dynamic_cast<const ServerConfiner*>(server.confiner.get());
    if (confiner != nullptr) all.insert(confiner);
  }
  return all;
}

}  // namespace

void RecordedConnections::record_in(audit::Sink* log) const {
  for (const ServerConfiner* confiner : confiners_of(config_)) {
    // Those of the run are in its record.
    if (log == nullptr) confiner->look_at_names();
    confiner->connections()->record_in(log);
  }
}

void ToldRefusals::tell_to(ServerConnections::Tell tell) const {
  for (const ServerConfiner* confiner : confiners_of(config_))
    confiner->connections()->tell_refusals(tell);
}

Result<void> check_confined_start(const mcp::ServerConfig& server) {
  const auto* confiner = dynamic_cast<const ServerConfiner*>(server.confiner.get());
  if (confiner == nullptr || !server.sandbox || server.disabled) return {};
  return confiner->check_start(server);
}

void confine_servers(project::Project& project, const project::Folders& folders,
                     sandbox::Tier lowest) {
  const auto is_confined = [](const mcp::ServerConfig& server) {
    return server.sandbox.has_value();
  };
  if (std::ranges::none_of(project.config.servers, is_confined)) return;
  project.confined = std::make_shared<ConfinedRules>();
  const auto warden = std::make_shared<ServerWarden>(folders.warden());
  project.confined->accept(lowest, [warden] { return warden->makes_roots(); });
  // Before it refers to a confiner: that would keep itself alive.
  const auto copy = std::make_shared<const project::Project>(project);
  const auto confiner = std::make_shared<ServerConfiner>(copy, folders, warden);
  for (auto& server : project.config.servers) {
    if (is_confined(server)) server.confiner = confiner;
  }
}

mcp::ServerConfig with_rules(mcp::ServerConfig server, std::shared_ptr<ConfinedRules> rules) {
  if (const auto* confiner = dynamic_cast<const ServerConfiner*>(server.confiner.get()))
    server.confiner = std::make_shared<ServerConfiner>(*confiner, std::move(rules));
  return server;
}

}  // namespace mcpac::servers
