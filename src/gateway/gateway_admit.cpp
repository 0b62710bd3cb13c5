// Start of one client's run: its rules, its gate, its record, and its user's view of it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include "core/printable.h"
#include "core/rfc3339.h"
#include "gateway/code_mode/definitions.h"
#include "gateway/gateway.h"
#include "history/records/run_record.h"
#include "project/claimed_needs.h"
#include "run/asking/run_binding.h"
#include "run/live/gate_control.h"
#include "servers/confine/server_places.h"
#include "servers/tool_tables.h"

namespace mcpac::gateway {
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
