// SPDX-License-Identifier: Apache-2.0

#include "gateway/gateway.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include "core/printable.h"
#include "core/rfc3339.h"
#include "gate/servers.h"
#include "gateway/bounded_warnings.h"
#include "gateway/code_mode/definitions.h"
#include "gateway/kept_memory.h"
#include "history/records/run_record.h"
#include "project/claimed_needs.h"
#include "run/asking/run_binding.h"
#include "run/live/gate_control.h"
#include "servers/confine/server_places.h"
#include "servers/tool_tables.h"

namespace mcpac::gateway {
namespace {

// The end of the gateway waits no longer for a collector.
constexpr auto kLastSpans = std::chrono::seconds(5);
constexpr auto kLook = std::chrono::milliseconds(20);

}  // namespace

Result<std::unique_ptr<TraceSending>> TraceSending::begin(const tracing::Settings& settings,
                                                          const Setup& setup) {
  auto collector = tracing::Collector::make(setup.host->executor(), settings);
  if (!collector) return pass_on(collector);
  auto exporter = tracing::Exporter::start({.executor = setup.host->executor(),
                                            .collector = std::move(*collector),
                                            .service_name = settings.service_name,
                                            .warning = setup.warning});
  auto tracer = std::make_shared<tracing::Tracer>(
      *setup.clock, settings.sampler,
      [exporter](const tracing::Span& span) { exporter->add(span); });
  return std::unique_ptr<TraceSending>(
      new TraceSending(setup, std::move(exporter), std::move(tracer)));
}

void TraceSending::end() {
  host_.on_loop([this] { exporter_->finish(); });
  const auto until = std::chrono::steady_clock::now() + kLastSpans;
  while (std::chrono::steady_clock::now() < until) {
    if (host_.on_loop([this] { return exporter_->is_done(); })) break;
    std::this_thread::sleep_for(kLook);
  }
  host_.on_loop([this] { close(); });
}

namespace {

constexpr auto kSweep = std::chrono::seconds(30);

}  // namespace

Result<std::unique_ptr<Gateway>> Gateway::open(GatewaySetup setup) {
  auto lock = project::load_lock(setup.project);
  if (!lock) return pass_on(lock);
  std::unique_ptr<Gateway> made(new Gateway(std::move(setup), std::move(*lock)));
  auto recording =
      history::RunRecording::open(made->setup_.recording, made->lock_, made->setup_.warning);
  if (!recording) return pass_on(recording);
  made->recording_ = std::move(*recording);
  made->recording_->join(*made->host_);
  const auto warnings = std::make_shared<BoundedWarnings>(made->setup_.warning, made->clock_);
  // What is asked of servers takes the way of their calls.
  made->host_->on_loop([&made, &warnings] {
    const auto warn = [warnings](const std::string& text) { (*warnings)(text); };
    made->offers_ = std::make_unique<Offers>(made->host_->offering(), made->host_->executor(),
                                             made->clock_, warn);
    made->announcements_ = std::make_unique<Announcements>(
        *made->offers_, made->runs_, made->clock_, made->host_->executor(), warn);
  });
  made->upstream_ = std::make_unique<TimedUpstream>(
      made->host_->servers(), made->clock_,
      [warnings](const Error& error) { (*warnings)(error.to_text()); });
  made->refusals_ = std::make_unique<servers::ToldRefusals>(
      made->setup_.project.config,
      [executor = made->host_->executor(), warnings, warning = made->setup_.warning](
          const std::string& text, bool is_bounded) {
        // Other warnings, which a server can cause in numbers, silence none of these.
        boost::asio::post(executor, [warnings, warning, text, is_bounded] {
          is_bounded ? warning(text) : (*warnings)(text);
        });
      });
  made->begin_own_servers();
  if (auto begun = made->begin_tracing(); !begun) return pass_on(begun);
  made->begin_preparing();
  return made;
}

void Gateway::begin_own_servers() {
  if (recording_->is_replay()) return;  // no process is started
  auto own = std::make_unique<OwnServers>(OwnServers::Setup{
      .upstreams = &host_->upstreams(),
      .config = &setup_.project.config,
      .clock = &clock_,
      .executor = host_->executor(),
      .places = [this](const std::string& client) { return places_for(client); },
      .is_in_use =
          [this](const std::string& client) {
            return std::ranges::any_of(runs_.all(), [&](const auto& run) {
              return run->identity() == client && !run->has_ended() && run->is_in_use();
            });
          },
      .started =
          [this](const std::string& client, const std::string& process) {
            offers_->use({process});
            announcements_->let_in(client, {process});
          }});
  if (!own->servers().empty()) own_ = std::move(own);
}

void Gateway::begin_preparing() {
  if (!setup_.code) return;
  tools_ = std::make_unique<code_mode::ReadyTools>(setup_.folders);
  const auto say = [executor = host_->executor(),
                    warning = setup_.warning](const std::string& text) {
    boost::asio::post(executor, [warning, text] { warning("code mode: " + text); });
  };
  auto begun = code_mode::Preparation::start(setup_.folders, setup_.code->limits, say);
  // Then the first program does it.
  if (begun)
    preparation_ = std::move(*begun);
  else
    setup_.warning(begun.error().to_text());
}

Result<void> Gateway::begin_tracing() {
  if (!setup_.tracing) return {};
  const auto warnings = std::make_shared<BoundedWarnings>(setup_.warning, clock_);
  auto begun = TraceSending::begin(
      *setup_.tracing, {.host = host_.get(),
                        .clock = &clock_,
                        .inner = upstream_.get(),
                        .transport = [this](const std::string& server) -> std::string {
                          const auto* config = setup_.project.config.find(server);
                          return config != nullptr && config->is_http() ? "tcp" : "pipe";
                        },
                        .warning = [warnings](const std::string& text) { (*warnings)(text); }});
  if (!begun) return pass_on(begun);
  traces_ = std::move(*begun);
  return {};
}

void Gateway::end_tracing() {
  if (traces_) traces_->end();
}

Result<void> Gateway::end_recording() {
  return recording_->end(*host_, "", setup_.warning);
}

Gateway::Gateway(GatewaySetup setup, codegen::Lock lock)
    : setup_(std::move(setup)),
      lock_(std::move(lock)),
      lock_digests_(project::digests_of(lock_)),
      world_(setup_.project, clock_),
      approvals_(setup_.folders.approvals(), setup_.warning, clock_),
      use_(setup_.folders, setup_.project.config_file),
      host_(std::make_unique<servers::Host>(setup_.project.config, lock_)),
      programs_(std::make_unique<code_mode::Programs>(host_->executor())) {
  keep_memory_of_results();
  world_.tools = servers::tool_schemas(lock_);
  host_->on_loop([this] {
    // What servers ask while they work on a call goes to the client that made it, if that answers.
    const Json nothing_special = Json::object();
    host_->upstreams().declare({{"elicitation", {{"form", nothing_special}}},
                                {"sampling", nothing_special},
                                {"roots", nothing_special}});
    host_->upstreams().on_notified(
        [this](const std::string& server, const std::string& method, const Json& params) {
          announcements_->heard(server, method, params);
        });
    host_->upstreams().start_again_what_ends();
    tell_of_states();
    // Asked at each start, so that clients that came or lost rights since count.
    if (setup_.project.confined)
      setup_.project.confined->find_by([this] { return places_for_all(); });
    sweep_ = std::make_shared<boost::asio::steady_timer>(host_->executor());
    sweep_later();
    host_->upstreams().on_drift([this](std::string_view what, const std::string& name) {
      for (const auto& run : runs_.all()) run->heard_of_drift(what, name);
    });
    host_->upstreams().on_ended([this](const std::string& server) {
      for (const auto& run : runs_.all()) run->heard_of_end(server);
    });
  });
}

// To the person with all that is known; to clients, where they hear logs, without words of servers.
void Gateway::tell_of_states() {
  if (!setup_.warning) return;
  const auto tell = [this](const std::string& process, std::string_view text) {
    for (const auto& run : runs_.all()) run->heard_of_state(process, std::string(text));
  };
  host_->upstreams().on_failed([this, tell](const std::string& process, const Error& error) {
    const std::string server = gate::server_of(process);
    setup_.warning(fmt::format("{}: {}", server, error.to_text()));
    tell(process, fmt::format("the server {} has ended, or cannot be used", server));
  });
  host_->upstreams().on_slow_start([this, tell](const std::string& process, std::string_view text) {
    setup_.warning(text);
    tell(process, fmt::format("the server {} is still starting", gate::server_of(process)));
  });
  host_->upstreams().on_tools([this, tell](const std::string& process,
                                           const servers::Drifted& drifted,
                                           const std::set<std::string>& gained) {
    const std::string server = gate::server_of(process);
    if (!drifted.empty()) {
      std::string names;
      for (const auto& [tool, how] : drifted) names += (names.empty() ? "" : ", ") + tool;
      const auto text =
          fmt::format("{}: not offered, since {} not what mcpac.lock approved: {}", server,
                      drifted.size() == 1 ? "it is" : "they are", printable(names));
      setup_.warning(text + fmt::format("; `mcpac lock diff {}` shows how, `mcpac lock accept` "
                                        "approves it, and mcpac serve reads it when it starts",
                                        server));
      tell(process, text);
    }
    if (gained.empty()) return;
    const auto names = fmt::format("{}", fmt::join(gained, ", "));
    // Some never get into the lock: at each start the same would be said again.
    const auto* config = setup_.project.config.find(server);
    if (config != nullptr) {
      const mcp::Finding told(*config, "told of tools that are not locked: " + names);
      if (told.is_kept()) return;
      told.keep();
    }
    const auto text = fmt::format("{}: the server has tools that mcpac.lock does not: {}", server,
                                  printable(names));
    // Lock commands answer no questions of servers, and are not offered what is for clients that
    // do.
    setup_.warning(text +
                   fmt::format("; they wait for `mcpac lock accept {}` (which finds none that "
                               "a server has only for clients that it may ask); this is not said "
                               "again for 30 days",
                               server));
    tell(process, text);
  });
}

Gateway::~Gateway() {
  preparation_.reset();
  refusals_.reset();
  std::promise<void> ended;
  host_->on_loop([&] {
    host_->upstreams().on_drift(nullptr);
    host_->upstreams().on_ended(nullptr);
    host_->upstreams().on_notified(nullptr);
    end_all("gateway-ended");
    programs_->stop_all([&ended] { ended.set_value(); });
  });
  // Programs need the loop to end.
  ended.get_future().wait();
  host_->on_loop([this] {
    if (setup_.project.confined) setup_.project.confined->find_by(nullptr);
    runs_.clear();
    own_.reset();
    announcements_.reset();
    offers_.reset();
    sweep_.reset();
    if (traces_) traces_->close();
  });
}

Result<std::shared_ptr<ClientGrant>> Gateway::let_in(const Principal& principal,
                                                     const Rules& rules) {
  // A run that begins now would never be ended.
  if (ending_) return fail(ErrorId::kCallDenied, "mcpac serve ends");
  if (runs_.has_lost(principal)) {
    return fail(ErrorId::kCallDenied, "what this client held was taken back",
                {.fix = "start mcpac serve again"});
  }
  if (auto run = runs_.find(principal.client)) return run;
  auto read = rules();
  if (!read) return pass_on(read);
  auto run = begin(principal, std::move(*read));
  if (run) runs_.add(principal.client, *run);
  if (setup_.project.confined)
    setup_.project.confined->find_by([this] { return places_for_all(); });
  if (run && own_) own_->give_more_places((*run)->identity());
  return run;
}

// The timer goes on the loop, before this object: a handler that was on its way finds it gone.
void Gateway::sweep_later() {
  sweep_->expires_after(kSweep);
  sweep_->async_wait([this, timer = std::weak_ptr(sweep_)](const auto& error) {
    if (error || timer.expired()) return;
    runs_.sweep();
    if (own_) own_->sweep();
    if (upstream_ && upstream_->figures().in_work == 0) give_back_memory();
    sweep_later();
  });
}

Figures Gateway::figures() const {
  Figures figures;
  runs_.count(figures);
  figures.upstream = upstream_->figures();
  if (traces_) figures.spans = traces_->figures();
  figures.server_restarts = host_->upstreams().restarts();
  return figures;
}

void Gateway::end_all(std::string_view verdict) {
  ending_ = true;
  runs_.end_all(verdict);
}

namespace {

constexpr std::size_t kMostToldOfRules = 100;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);) lines.push_back(line);
  return lines;
}

// A client's programs are held to what the client was admitted with, whatever becomes of the
// file.
Result<project::Project> with_kept_policy(project::Project project) {
  auto ceiling = run::read_ceiling(project);
  if (!ceiling) return pass_on(ceiling);
  auto kept = std::make_shared<project::KeptProject>();
  kept->policy = std::move(*ceiling);
  project.kept = std::move(kept);
  return project;
}

bool is_any(const policy::LayerText& rules) {
  return !rules.grants.empty() || !rules.asks.empty() || !rules.files.empty();
}

}  // namespace

Result<std::shared_ptr<ClientGrant>> Gateway::begin(const Principal& principal,
                                                    policy::LayerText rules) {
  const std::string& client = principal.client;
  auto project = with_kept_policy(setup_.project);
  if (!project) return pass_on(project);
  auto authority = run::load_authority(*project, world_, {rules});
  if (!authority) return pass_on(authority);
  // Once for all clients: they mostly have the same rules.
  const auto tell_once = [this](std::string_view text) {
    if (told_of_rules_.size() < kMostToldOfRules && told_of_rules_.emplace(text).second)
      setup_.warning(std::string(text));
  };
  run::warn_of_idle_rules(*authority, tell_once);
  ClientGrant::Parts parts;
  parts.name = client;
  parts.subject = principal.subject;
  // By this client's own rules: what a shared server has by those of others goes with them.
  const auto own_places = servers::places_of_servers(
      *project, setup_.folders,
      servers::reach_of_servers(*project, lock_, *authority, policy::Callers::kClients));
  std::set<Permission> withheld;
  for (const auto& [tool, needs] : project::unmet_needs(setup_.project, lock_, &own_places)) {
    if (authority->coverage(tool, "") == policy::Coverage::kMissing) continue;
    if (needs.is_withheld()) withheld.insert(tool);
    tell_once(fmt::format("{} is {}; where it is meant to: {}", printable(tool.text()),
                          project::needs_text(needs), project::needs_remedy(needs)));
  }
  parts.catalog =
      Catalog::make(lock_, *authority, setup_.names,
                    setup_.code ? code_mode::names() : std::set<std::string>(), withheld);
  for (const std::string& note : parts.catalog->notes()) tell_once(note);
  if (parts.catalog->permissions().empty() && is_any(rules))
    tell_once(fmt::format(
        "the rules of {} admit nothing of what mcpac.lock has: it sees no tool{}", client,
        project->kept->policy ? fmt::format("; {} {}: a call needs its rules as well",
                                            run::kPolicyLayer, run::kOnlyLimits)
                              : std::string()));
  auto compiled = servers::compile_tools(lock_, parts.catalog->servers(),
                                         project::server_checks_of(setup_.project.config));
  for (const Error& error : compiled.unusable)
    tell_once(fmt::format("{} cannot be called: {}{}{}", error.where, error.what,
                          error.fix.empty() ? "" : "; ", error.fix));
  for (const auto& permission : parts.catalog->permissions()) {
    const auto tool = compiled.table.find(permission);
    if (tool == compiled.table.end()) continue;
    for (const SchemaRemark& standard : tool->second.input->refused_defaults())
      tell_once(fmt::format("{} {}: its default is refused by its own schema, and not filled in",
                            permission.text(), standard.pointer));
  }
  servers::add_offers(parts.catalog->permissions(), lock_, compiled.table);
  parts.tools = std::make_shared<const gate::ToolTable>(std::move(compiled.table));
  parts.reach = reach_by(parts.catalog->permissions(), parts.catalog->servers());
  const auto reach = parts.reach(*authority);
  parts.upstream = upstream_.get();
  if (traces_) {
    parts.upstream = &traces_->upstream();
    parts.tracer = traces_->tracer();
  }
  parts.offers = offers_.get();
  if (setup_.approver)
    parts.approver = setup_.approver(host_->executor());
  else
    parts.approver = std::make_unique<ClientApprover>(host_->executor());
  const auto binding = run::bind_run(client, lock_digests_, setup_.project.config, *authority);
  parts.memory = std::make_unique<run::RunMemory>(approvals_, binding, client);
  auto log =
      ClientRecord::create({.folder = setup_.folders.audit(),
                            .clock = &clock_,
                            .client = client,
                            .said = [this](const std::string& text) { setup_.warning(text); }});
  if (!log) return pass_on(log);
  parts.log = std::move(*log);
  parts.identity = runs_.identity_of(client, parts.log->run_id());
  if (own_) {
    parts.own = own_.get();
    parts.upstream = &own_->before(*parts.upstream, parts.identity);
  }
  parts.amiss = [this, client = parts.identity](const std::set<std::string>& servers) {
    std::set<std::string> processes;
    for (const std::string& server : servers)
      processes.insert(own_ ? own_->process_of(client, server) : server);
    return host_->upstreams().amiss(processes);
  };
  const std::string granted = authority->print();
  const auto view = setup_.code ? std::make_shared<const code_mode::GrantedView>(
                                      lock_, parts.catalog->permissions(), *authority, *project)
                                : nullptr;
  for (const auto& [server, one] : reach) last_reach_.insert_or_assign(server, one);
  const auto places = places_for_all(reach);
  auto gate = gate_setup(std::move(*authority), binding, parts);
  auto started = history::record_start({.program = client,
                                        .declared_in = "grants",
                                        .replayed = recording_->replayed_digest(),
                                        .server_places = shown_places(parts.identity, reach)},
                                       gate, lock_, setup_.folders.audit(), *parts.log);
  if (!started) return pass_on(started);
  // The server may start at once, and this client is not among the runs yet (let_in()).
  if (setup_.project.confined) setup_.project.confined->find_by([places] { return places; });
  give_more_places(places);
  std::set<std::string> used = parts.catalog->servers();
  if (own_) std::erase_if(used, [&](const std::string& server) { return own_->is_own(server); });
  host_->start(used);
  const auto running = host_->started();
  std::erase_if(used, [&](const std::string& server) { return !running.contains(server); });
  offers_->use(used);
  announcements_->let_in(client, used);
  auto run = std::make_shared<ClientGrant>(std::move(parts), std::move(gate));
  if (view) run->offer(code_for(*run, view, std::move(rules)));
  show_as_live(run, client, granted);
  return run;
}

project::PlacesOfServers Gateway::places_for_all(const servers::ReachOfServers& coming) const {
  servers::ReachOfServers all = coming;
  for (const auto& run : runs_.in_force()) servers::add_reach(all, run->reach());
  // A server that is started again while no client is there: as the last one's rules hold it.
  for (const auto& [server, last] : last_reach_) {
    const auto [held, is_alone] = all.try_emplace(server, last);
    if (!is_alone) continue;
    held->second.places.tools.clear();
    held->second.places.callable.clear();
    held->second.network_denied = "no client is there whose rules let it";
  }
  if (own_) std::erase_if(all, [&](const auto& one) { return own_->is_own(one.first); });
  return servers::places_of_servers(setup_.project, setup_.folders, all);
}

project::PlacesOfServers Gateway::places_for(const std::string& identity,
                                             const servers::ReachOfServers& coming) const {
  if (!own_) return {};
  servers::ReachOfServers all = coming;
  const auto held = runs_.in_force();
  for (const auto& run : runs_.all()) {
    if (run->identity() != identity) continue;
    auto reach = run->reach();
    // What the rules of one that is over hold back stays so.
    if (std::ranges::find(held, run) == held.end())
      servers::keep_callable(reach, [](const Permission&) { return false; });
    servers::add_reach(all, reach);
  }
  std::erase_if(all, [&](const auto& one) { return !own_->is_own(one.first); });
  return servers::places_of_servers(setup_.project, setup_.folders, all);
}

Json Gateway::shown_places(const std::string& identity,
                           const servers::ReachOfServers& coming) const {
  auto places = places_for_all(coming);
  places.merge(places_for(identity, coming));
  return servers::to_json(places);
}

std::function<servers::ReachOfServers(const policy::Authority&)> Gateway::reach_by(
    std::set<Permission> tools, std::set<std::string> servers) const {
  return [this, tools = std::move(tools),
          servers = std::move(servers)](const policy::Authority& authority) {
    auto reach =
        servers::reach_of_servers(setup_.project, lock_, authority, policy::Callers::kClients);
    std::erase_if(reach, [&](const auto& entry) { return !servers.contains(entry.first); });
    servers::keep_callable(reach, [&](const Permission& tool) { return tools.contains(tool); });
    return reach;
  };
}

void Gateway::give_more_places(const project::PlacesOfServers& places) {
  for (const auto& [server, wanted] : places) {
    const auto last =
        setup_.project.confined ? setup_.project.confined->last_start(server) : std::nullopt;
    if (last && servers::gives_more(wanted, last->places)) host_->upstreams().start_anew(server);
  }
}

std::unique_ptr<code_mode::CodeMode> Gateway::code_for(
    ClientGrant& run, std::shared_ptr<const code_mode::GrantedView> view, policy::LayerText rules) {
  return std::make_unique<code_mode::CodeMode>(
      code_mode::Setup{.host = host_.get(),
                       .programs = programs_.get(),
                       .tools = tools_.get(),
                       .gate = &run.gate(),
                       .servers = &run.upstream(),
                       .lock = &lock_,
                       .folders = &setup_.folders,
                       .clock = &clock_,
                       .view = std::move(view),
                       .rules = std::move(rules),
                       .client_run = run.log().run_id(),
                       .offer = *setup_.code,
                       .is_replay = recording_->is_replay(),
                       .tracer = traces_ ? traces_->tracer() : nullptr});
}

gate::GateSetup Gateway::gate_setup(policy::Authority authority, const gate::Binding& binding,
                                    const ClientGrant::Parts& parts) const {
  gate::Declared declared{.permissions = parts.catalog->permissions(), .texts = {}};
  for (const Permission& tool : declared.permissions) declared.texts.push_back(tool.text());
  // For its programs, and so that it can be taken back.
  if (setup_.code && authority.speaks_of_network())
    declared.texts.emplace_back(policy::kNetworkPermission);
  return {.tools = parts.tools.get(),
          .authority = std::move(authority),
          .declared = std::move(declared),
          .upstream = parts.upstream,
          .audit = parts.log.get(),
          .clock = &clock_,
          .asking = {
              .approver = parts.approver.get(), .memory = parts.memory.get(), .binding = binding}};
}

void Gateway::show_as_live(const std::shared_ptr<ClientGrant>& run, const std::string& client,
                           const std::string& granted) {
  run::LiveFacts facts{
      .program = client,
      .started = rfc3339_utc(clock_.wall_now()),
      .granted = lines_of(granted),
      .server_places = [this, client = run->identity()] { return shown_places(client); }};
  // The socket that asks for it goes with the run, after its answer.
  auto kill = [this, weak = std::weak_ptr(run)] {
    boost::asio::post(host_->executor(), [this, alive = std::weak_ptr(sweep_), weak] {
      const auto killed = weak.lock();
      if (killed && !alive.expired()) runs_.bar(killed->subject());
    });
  };
  auto controls = run::controls_of(run->gate(), std::move(facts), std::move(kill));
  controls.revoke = [weak = std::weak_ptr(run),
                     revoke = std::move(controls.revoke)](const std::string& permission) {
    auto revoked = revoke(permission);
    const auto live = weak.lock();
    if (revoked && live && live->code() != nullptr) live->code()->heard_of_revocation(permission);
    return revoked;
  };
  auto control = run::RunControl::open(host_->executor(), setup_.folders.runs(),
                                       run->log().run_id(), std::move(controls));
  if (control)
    run->control_by(std::move(*control));
  else
    setup_.warning(control.error().what);
}

}  // namespace mcpac::gateway
