#include "gateway/gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include "core/ids.h"
#include "core/rfc3339.h"
#include "execute/asking/run_binding.h"
#include "execute/host/tool_tables.h"
#include "execute/live/gate_control.h"
#include "execute/records/run_record.h"
#include "gateway/bounded_warnings.h"
#include "gateway/code_mode/definitions.h"

namespace mcpac::gateway {
namespace {

constexpr auto kSweep = std::chrono::seconds(30);
// Whoever ends the gateway waits no longer for a collector.
constexpr auto kLastSpans = std::chrono::seconds(5);
constexpr auto kLook = std::chrono::milliseconds(20);

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);) lines.push_back(line);
  return lines;
}

// What a client's programs are held to is what the client was let in with, whatever becomes of the
// file.
Result<execute::Project> with_kept_policy(execute::Project project) {
  auto ceiling = execute::read_ceiling(project);
  if (!ceiling) return pass_on(ceiling);
  auto kept = std::make_shared<execute::KeptProject>();
  kept->policy = std::move(*ceiling);
  project.kept = std::move(kept);
  return project;
}

}  // namespace

Result<std::unique_ptr<Gateway>> Gateway::open(GatewaySetup setup) {
  auto lock = execute::load_lock(setup.project);
  if (!lock) return pass_on(lock);
  std::unique_ptr<Gateway> made(new Gateway(std::move(setup), std::move(*lock)));
  auto recording =
      execute::RunRecording::open(made->setup_.recording, made->lock_, made->setup_.warning);
  if (!recording) return pass_on(recording);
  made->recording_ = std::move(*recording);
  made->recording_->join(*made->host_);
  const auto warnings = std::make_shared<BoundedWarnings>(made->setup_.warning, made->clock_);
  // What is asked of servers takes the way of their calls.
  made->host_->on_loop([&made, &warnings] {
    made->offers_ =
        std::make_unique<Offers>(made->host_->offering(), made->host_->executor(), made->clock_,
                                 [warnings](const std::string& text) { (*warnings)(text); });
  });
  made->upstream_ = std::make_unique<TimedUpstream>(
      made->host_->servers(), made->clock_,
      [warnings](const Error& error) { (*warnings)(error.to_text()); });
  if (auto begun = made->begin_tracing(); !begun) return pass_on(begun);
  return made;
}

Result<void> Gateway::begin_tracing() {
  if (!setup_.tracing) return {};
  auto collector = tracing::Collector::make(host_->executor(), *setup_.tracing);
  if (!collector) return pass_on(collector);
  const auto warnings = std::make_shared<BoundedWarnings>(setup_.warning, clock_);
  exporter_ = tracing::Exporter::start(
      {.executor = host_->executor(),
       .collector = std::move(*collector),
       .service_name = setup_.tracing->service_name,
       .warning = [warnings](const std::string& text) { (*warnings)(text); }});
  tracer_ = std::make_shared<tracing::Tracer>(
      clock_, setup_.tracing->sampler,
      [exporter = exporter_](const tracing::Span& span) { exporter->add(span); });
  const auto transport = [this](const std::string& server) -> std::string {
    const auto* config = setup_.project.config.find(server);
    return config != nullptr && config->is_http() ? "tcp" : "pipe";
  };
  traced_ = std::make_unique<tracing::TracedUpstream>(*upstream_, tracer_, transport);
  return {};
}

void Gateway::end_tracing() {
  if (!exporter_) return;
  host_->on_loop([this] { exporter_->finish(); });
  const auto until = std::chrono::steady_clock::now() + kLastSpans;
  while (std::chrono::steady_clock::now() < until) {
    if (host_->on_loop([this] { return exporter_->is_done(); })) break;
    std::this_thread::sleep_for(kLook);
  }
  host_->on_loop([this] { exporter_->close(); });
}

Result<void> Gateway::end_recording() {
  return recording_->end(*host_, "", setup_.warning);
}

Gateway::Gateway(GatewaySetup setup, codegen::Lock lock)
    : setup_(std::move(setup)),
      lock_(std::move(lock)),
      world_(setup_.project, clock_),
      approvals_(setup_.folders.approvals(), setup_.warning, clock_),
      use_(setup_.folders, setup_.project.config_file),
      host_(std::make_unique<execute::Host>(setup_.project.config, lock_)),
      programs_(std::make_unique<code_mode::Programs>(host_->executor())) {
  world_.tools = execute::tool_schemas(lock_);
  host_->on_loop([this] {
    // What servers ask while they work on a call goes to the client that made it, if that answers.
    const Json nothing_special = Json::object();
    host_->upstreams().declare({{"elicitation", {{"form", nothing_special}}},
                                {"sampling", nothing_special},
                                {"roots", nothing_special}});
    host_->upstreams().on_notified([this](const std::string& server, const std::string& method,
                                          const Json& params) { heard(server, method, params); });
    pace_ = std::make_unique<Pace>(host_->executor());
    host_->upstreams().start_again_what_ends();
    if (setup_.warning) {
      host_->upstreams().on_failed([this](const std::string& server, const Error& error) {
        setup_.warning(fmt::format("{}: {}", server, error.to_text()));
      });
    }
    sweep_ = std::make_shared<boost::asio::steady_timer>(host_->executor());
    sweep_later();
    host_->upstreams().on_drift([this](std::string_view what, const std::string& name) {
      for (const auto& run : all_runs()) run->heard_of_drift(what, name);
    });
  });
}

Gateway::~Gateway() {
  std::promise<void> ended;
  host_->on_loop([&] {
    host_->upstreams().on_drift(nullptr);
    host_->upstreams().on_notified(nullptr);
    end_all("gateway-ended");
    programs_->stop_all([&ended] { ended.set_value(); });
  });
  // Programs need the loop to end.
  ended.get_future().wait();
  host_->on_loop([this] {
    runs_.clear();
    former_.clear();
    pace_.reset();
    offers_.reset();
    sweep_.reset();
    if (exporter_) exporter_->close();
  });
}

Result<std::shared_ptr<ClientRun>> Gateway::let_in(const Comer& comer, const Rules& rules) {
  // Nobody would end a run that begins now.
  if (ending_) return fail(ErrorId::kCallDenied, "mcpac serve ends");
  const auto found = runs_.find(comer.client);
  if (is_barred(comer) || (found != runs_.end() && found->second->has_ended())) {
    return fail(ErrorId::kCallDenied, "what this client held was taken back",
                {.fix = "start mcpac serve again"});
  }
  if (found != runs_.end()) return found->second;
  auto read = rules();
  if (!read) return pass_on(read);
  auto run = begin(comer, std::move(*read));
  if (run) runs_.emplace(comer.client, *run);
  return run;
}

// Another name of a subject is no way around what it lost under one. What is left of a run itself
// says so to its own client.
bool Gateway::is_barred(const Comer& comer) const {
  return barred_.contains(comer.subject) || std::ranges::any_of(runs_, [&](const auto& entry) {
           const auto& [client, run] = entry;
           return client != comer.client && run->subject() == comer.subject &&
                  run->gate().is_cut_off() && !run->has_ended();
         });
}

void Gateway::bar(const std::string& subject) {
  barred_.insert(subject);
  for (const auto& run : all_runs()) {
    if (run->subject() == subject) run->end("killed-by-user");
  }
}

void Gateway::end_client(const std::string& client, std::string_view verdict) {
  for (const auto& run : all_runs()) {
    if (run->name() == client) run->end(verdict);
  }
}

void Gateway::hang_up(const std::string& client) {
  for (const auto& run : all_runs()) {
    if (run->name() == client) run->hang_up();
  }
}

Result<std::shared_ptr<ClientRun>> Gateway::begin(const Comer& comer, policy::LayerText rules) {
  const std::string& client = comer.client;
  auto project = with_kept_policy(setup_.project);
  if (!project) return pass_on(project);
  auto authority = execute::load_authority(*project, world_, {rules});
  if (!authority) return pass_on(authority);
  ClientRun::Parts parts;
  parts.name = client;
  parts.subject = comer.subject;
  parts.catalog = Catalog::make(lock_, *authority, setup_.names,
                                setup_.code ? code_mode::names() : std::set<std::string>());
  auto compiled = execute::compile_tools(lock_, parts.catalog->servers());
  for (const Error& error : compiled.unusable)
    setup_.warning(fmt::format("{}: {}", error.where, error.what));
  execute::add_offers(parts.catalog->permissions(), lock_, compiled.table);
  parts.tools = std::make_shared<const gate::ToolTable>(std::move(compiled.table));
  if (traced_)
    parts.upstream = traced_.get();
  else
    parts.upstream = upstream_.get();
  parts.tracer = tracer_;
  parts.offers = offers_.get();
  if (setup_.approver)
    parts.approver = setup_.approver(host_->executor());
  else
    parts.approver = std::make_unique<ClientApprover>(host_->executor());
  const auto binding = execute::bind_run(client, lock_, setup_.project.config, *authority);
  parts.memory = std::make_unique<execute::RunMemory>(approvals_, binding, client);
  auto log = audit::RunLog::create(setup_.folders.audit(), new_uuid_v7(clock_), clock_);
  if (!log) return pass_on(log);
  parts.log = std::move(*log);
  const std::string granted = authority->print();
  const auto view = setup_.code ? std::make_shared<const code_mode::GrantedView>(
                                      lock_, parts.catalog->permissions(), *authority, *project)
                                : nullptr;
  auto gate = gate_setup(std::move(*authority), binding, parts);
  auto started = execute::record_start(
      {.program = client, .declared_in = "grants", .replayed = recording_->replayed_digest()}, gate,
      lock_, setup_.folders.audit(), *parts.log);
  if (!started) return pass_on(started);
  host_->start(parts.catalog->servers());
  std::set<std::string> used = parts.catalog->servers();
  const auto running = host_->started();
  std::erase_if(used, [&](const std::string& server) { return !running.contains(server); });
  offers_->use(used);
  for (const std::string& server : used) clients_of_[server].insert(client);
  auto run = std::make_shared<ClientRun>(std::move(parts), std::move(gate));
  if (view) run->offer(code_for(*run, view, std::move(rules)));
  show_as_live(run, client, granted);
  return run;
}

std::unique_ptr<code_mode::CodeMode> Gateway::code_for(
    ClientRun& run, std::shared_ptr<const code_mode::GrantedView> view, policy::LayerText rules) {
  return std::make_unique<code_mode::CodeMode>(
      code_mode::Setup{.host = host_.get(),
                       .programs = programs_.get(),
                       .gate = &run.gate(),
                       .lock = &lock_,
                       .folders = &setup_.folders,
                       .clock = &clock_,
                       .view = std::move(view),
                       .rules = std::move(rules),
                       .client_run = run.log().run_id(),
                       .offer = *setup_.code,
                       .is_replay = recording_->is_replay(),
                       .tracer = tracer_});
}

gate::GateSetup Gateway::gate_setup(policy::Authority authority, const gate::Binding& binding,
                                    const ClientRun::Parts& parts) const {
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

void Gateway::show_as_live(const std::shared_ptr<ClientRun>& run, const std::string& client,
                           const std::string& granted) {
  execute::LiveFacts facts{
      .program = client, .started = rfc3339_utc(clock_.wall_now()), .granted = lines_of(granted)};
  // The socket that asks for it goes with the run, after its answer.
  auto kill = [this, weak = std::weak_ptr(run)] {
    boost::asio::post(host_->executor(), [this, alive = std::weak_ptr(sweep_), weak] {
      const auto killed = weak.lock();
      if (killed && !alive.expired()) bar(killed->subject());
    });
  };
  auto controls = execute::controls_of(run->gate(), std::move(facts), std::move(kill));
  controls.revoke = [weak = std::weak_ptr(run),
                     revoke = std::move(controls.revoke)](const std::string& permission) {
    auto revoked = revoke(permission);
    const auto live = weak.lock();
    if (revoked && live && live->code() != nullptr) live->code()->heard_of_revocation(permission);
    return revoked;
  };
  auto control = execute::RunControl::open(host_->executor(), setup_.folders.runs(),
                                           run->log().run_id(), std::move(controls));
  if (control)
    run->control_by(std::move(*control));
  else
    setup_.warning(control.error().what);
}

void Gateway::heard(const std::string& server, const std::string& method, const Json& params) {
  offers_->heard(server, method);
  if (method == "notifications/message") {
    if (!offers_->watch().is_too_much(server, clock_)) pass_on_to_clients(server, method, params);
    return;
  }
  Announced about{.server = server, .method = method, .watched = {}};
  const bool is_update = method == "notifications/resources/updated";
  const std::string uri = is_update ? string_member(params, "uri") : "";
  if (is_update) {
    // Names that a server makes up take nobody's place.
    const auto watched = offers_->watch().watched_whole(server, uri);
    if (!watched) return;
    about.watched = *watched;
  } else if (method != "notifications/resources/list_changed" &&
             method != "notifications/prompts/list_changed") {
    return;
  }
  pace_->tell(about, uri, [this, server, method, is_update](const std::string& told) {
    pass_on_to_clients(server, method, is_update ? Json{{"uri", told}} : Json());
  });
}

void Gateway::pass_on_to_clients(const std::string& server, const std::string& method,
                                 const Json& params) {
  // A log message of no call may be about anybody's: after several clients it is for none of them,
  // though all but one have gone.
  if (method == "notifications/message" && clients_of_[server].size() != 1) return;
  for (const auto& run : all_runs()) run->heard(server, method, params);
}

// The timer goes on the loop, before this object: a handler that was on its way finds it gone.
void Gateway::sweep_later() {
  sweep_->expires_after(kSweep);
  sweep_->async_wait([this, timer = std::weak_ptr(sweep_)](const auto& error) {
    if (error || timer.expired()) return;
    for (const auto& run : all_runs()) run->sweep();
    end_former();
    sweep_later();
  });
}

std::vector<std::shared_ptr<ClientRun>> Gateway::all_runs() const {
  auto all = former_;
  for (const auto& [client, run] : runs_) all.push_back(run);
  return all;
}

// A run that its user ended stays with the client: it is no way back in. What was revoked of one
// that goes on, and what its limits counted, is new for connections from then on (see
// docs/threat-model.md).
void Gateway::renew_rules() {
  for (auto at = runs_.begin(); at != runs_.end();) {
    if (at->second->has_ended()) {
      ++at;
      continue;
    }
    former_.push_back(at->second);
    at = runs_.erase(at);
  }
  end_former();
}

void Gateway::end_former() {
  std::erase_if(former_, [this](const auto& run) {
    // One that was ended may still have programs that end.
    const bool is_over = run->calls_in_flight() == 0 && (run->has_ended() || !run->is_in_use());
    if (is_over) {
      run->end("rules-renewed");
      const auto status = run->gate().status();
      ended_.allowed += status.allowed;
      ended_.denied += status.denied;
    }
    return is_over;
  });
}

Figures Gateway::figures() const {
  Figures figures = ended_;
  for (const auto& run : all_runs()) {
    const auto status = run->gate().status();
    figures.allowed += status.allowed;
    figures.denied += status.denied;
    if (!run->has_ended()) ++figures.clients;
  }
  figures.calls_in_flight = calls_in_flight();
  figures.upstream = upstream_->figures();
  if (exporter_) figures.spans = exporter_->figures();
  figures.server_restarts = host_->upstreams().restarts();
  return figures;
}

std::size_t Gateway::calls_in_flight() const {
  std::size_t calls = 0;
  for (const auto& run : all_runs()) calls += run->calls_in_flight();
  return calls;
}

void Gateway::end_all(std::string_view verdict) {
  ending_ = true;
  for (const auto& run : all_runs()) run->end(verdict);
}

}  // namespace mcpac::gateway
