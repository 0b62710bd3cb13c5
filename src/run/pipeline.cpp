// SPDX-License-Identifier: Apache-2.0

#include "run/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/clock.h"
#include "core/printable.h"
#include "history/recording/run_recording.h"
#include "policy/policy_record.h"
#include "run/asking/program_review.h"
#include "run/asking/run_binding.h"
#include "run/check/attenuate.h"
#include "run/check/authorities.h"
#include "run/check/check_uses.h"
#include "run/check/declared_conditions.h"
#include "run/check/granted_servers.h"
#include "run/check/require_granted.h"
#include "run/declared.h"
#include "run/give_files.h"
#include "run/live/leftovers.h"
#include "run/prewarmed_run.h"
#include "run/supervise.h"
#include "servers/confine/server_places.h"
#include "servers/host.h"
#include "servers/tool_tables.h"
#include "toolchain/named_servers.h"
#include "toolchain/prepare.h"
#include "toolchain/program_build.h"

namespace mcpac::run {
namespace {

// DelayedTask: does `work` once, a moment after this is made or when it ends: of what is not needed
// any more, while something else is waited for. On a thread of its own.
class DelayedTask {
 public:
  explicit DelayedTask(std::function<void()> work)
      : thread_([this, work = std::move(work)](const std::stop_token& now) {
          std::unique_lock lock(mutex_);
          wake_.wait_for(lock, now, kMoment, [] { return false; });
          work();
        }) {}

 private:
  static constexpr auto kMoment = std::chrono::milliseconds(200);
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // the first to end
};

}  // namespace

namespace {

// One run as it goes: what the stages share, and nothing that outlives them.
class Run {
 public:
  Run(const project::Project& project, const project::Folders& folders, ExecuteRequest& request,
      const Listener& listener, Outcome& outcome)
      : project_(project),
        folders_(folders),
        request_(request),
        listener_(listener),
        outcome_(outcome),
        interrupt_(request.hosted == nullptr ? std::nullopt : std::optional(request.hosted->stop)) {
  }

  Result<void> all();
  // A run that was refused before it began is recorded, too.
  void record_refused(const Error& error) const;
  [[nodiscard]] const Interrupt& interrupt() const { return interrupt_; }

 private:
  Result<void> load();
  Result<void> check_findings() const;
  void warn_of_findings() const;
  Result<void> check_grants();
  // By a yes: servers have more by the rules than was known when some of them were started.
  void give_more_places(const RunHost& own) const;
  // What the run stands on: rules, declaration and the digests of everything.
  Result<void> settle_authority(const toolchain::Snapshot& snapshot);
  Result<void> review(servers::Host& host, RunApprover* approver);
  // A runner that waits while the program is looked at, in the sandbox that most programs have; or
  // null: then the program gets its sandbox when it runs, which says what is wrong with it.
  // `waiting`: one that was opened before.
  [[nodiscard]] std::shared_ptr<Slot> open_slot(sandbox::Warden& warden,
                                                const toolchain::Prepared& prepared,
                                                std::optional<Slot> waiting) const;
  Result<void> run_program(sandbox::Warden& warden, servers::Host& host,
                           const toolchain::Program& program, std::shared_ptr<Slot> slot,
                           RunApprover* approver);
  [[nodiscard]] gate::Declared declared() const { return declared_by(*outcome_.report); }
  // Servers that the rules may let it call, whatever it will declare.
  [[nodiscard]] std::set<std::string> admitted() const;

  // Times one stage and says so.
  template <class Work>
  auto stage(const char* name, Work work) {
    const auto start = clock_.steady_now();
    auto result = work();
    const StageTime time{
        name, std::chrono::duration_cast<std::chrono::microseconds>(clock_.steady_now() - start)};
    outcome_.stages.push_back(time);
    listener_.stage(time);
    return result;
  }

  const project::Project& project_;
  const project::Folders& folders_;
  ExecuteRequest& request_;
  const Listener& listener_;
  Outcome& outcome_;
  SystemClock clock_;
  Interrupt interrupt_;
  std::shared_ptr<const codegen::Lock> lock_;
  project::LockDigests lock_digests_;
  std::unique_ptr<history::RunRecording> recording_;
  Json given_ = Json::object();  // to the program
  PolicyWorld world_{project_, clock_};
  std::optional<policy::Authority> granted_;    // for what starts early, and then with a yes
  bool was_asked_ = false;                      // and granted more
  std::optional<policy::Authority> authority_;  // of the run
  gate::Binding binding_;
  Json client_policy_ = nullptr;
};

// Where the program was read from; of text that came in another way there is nothing.
std::vector<std::filesystem::path> files_of(const toolchain::Source& source) {
  std::vector<std::filesystem::path> files;
  if (source.folder.empty() || source.display.starts_with('<')) return files;
  files.push_back(source.folder / source.name);
  for (const auto& file : source.further) files.push_back(source.folder / file.name);
  return files;
}

std::set<std::string> Run::admitted() const {
  std::set<std::string> servers;
  for (const auto& server : lock_->servers) {
    const bool all = request_.enforcement == Enforcement::kObserve;
    if (all || is_granted(server, *granted_)) servers.insert(server.name);
  }
  return servers;
}

Result<void> Run::load() {
  if (request_.hosted != nullptr) {
    lock_ = {std::shared_ptr<void>(), &request_.hosted->lock};  // borrowed
    lock_digests_ = project::digests_of(*lock_);
    world_.tools = request_.hosted->schemas;
  } else {
    auto known = lock_for_run(request_.standby, project_);
    if (!known) return pass_on(known);
    lock_ = {*known, &(*known)->lock};
    lock_digests_ = (*known)->digests;
    world_.tools = servers::tool_schemas(*lock_);
  }
  auto recording = history::RunRecording::open(request_.recording, *lock_, listener_.note);
  if (!recording) return pass_on(recording);
  recording_ = std::move(*recording);
  auto given = recording_->arguments_for(std::move(request_.arguments));
  if (!given) return pass_on(given);
  given_ = std::move(*given);
  if (request_.hosted == nullptr) {
    if (auto named = name_as_locked(request_.granted, *lock_, listener_); !named) return named;
  }
  auto granted = load_authority(project_, world_, {request_.granted});
  if (!granted) return pass_on(granted);
  if (request_.hosted == nullptr) warn_of_idle_rules(*granted, listener_.warning);
  granted_ = std::move(*granted);
  return {};
}

// Before the program runs: what will not work in the sandbox is better known than found out.
void Run::warn_of_findings() const {
  for (const auto& finding : outcome_.report->findings) {
    if (finding.severity != analyzer::Severity::kWarns || !finding.allowed.empty()) continue;
    // On one line: what a source brings in must not look like lines of ours.
    listener_.warning(printable(fmt::format("{}:{}:{}: {} [{}]", finding.file, finding.line,
                                            finding.column, finding.message, finding.rule)));
  }
}

Result<void> Run::check_findings() const {
  const auto& report = *outcome_.report;
  if (report.verdict == analyzer::Verdict::kOk) {
    warn_of_findings();
    return {};
  }
  const bool compile_error = report.verdict == analyzer::Verdict::kCompileError;
  const auto worst = std::ranges::find(report.findings, analyzer::Severity::kRefuses,
                                       &analyzer::Finding::severity);
  const std::string where = worst == report.findings.end()
                                ? report.file
                                : fmt::format("{}:{}:{}", worst->file, worst->line, worst->column);
  return fail(compile_error ? ErrorId::kSourceDoesNotCompile : ErrorId::kFindingRefuses,
              compile_error ? fmt::format("{} does not compile", report.file)
                            : fmt::format("{} is refused", report.file),
              {.where = where,
               .why = worst == report.findings.end() ? "" : worst->message,
               .fix = worst == report.findings.end() ? "" : worst->fix});
}

Result<void> Run::check_grants() {
  for (const auto& text : outcome_.report->unused) {
    listener_.note(fmt::format("{} is declared, but never used", text));
  }
  // A client's rules were not made for this program: what it leaves unused is nothing to say.
  static const Listener kQuiet;
  const Listener& heard = request_.hosted == nullptr ? listener_ : kQuiet;
  if (auto offered = require_offered(project_, *lock_, kQuiet, *outcome_.report, nullptr); !offered)
    return offered;
  const GrantCheck parts{project_,          world_,           heard, request_.enforcement,
                         interrupt_.stop(), &outcome_.answers};
  const auto before = request_.granted.grants.size();
  auto granted = require_granted(parts, *outcome_.report, request_.granted, outcome_.check);
  if (!granted) {
    outcome_.report->not_granted = outcome_.check.missing;
    outcome_.report->grant_fix = outcome_.check.fix;
    return granted;
  }
  if (request_.granted.grants.size() > before) {  // a person said yes
    auto more = load_authority(project_, world_, {request_.granted});
    if (!more) return pass_on(more);
    granted_ = std::move(*more);
    was_asked_ = true;
  }
  const auto places = servers::places_of_servers(project_, folders_, *lock_, *granted_);
  if (auto offered = require_offered(project_, *lock_, heard, *outcome_.report, &places); !offered)
    return offered;
  return require_admitted(parts, *outcome_.report, request_.granted, request_.denied_uses);
}

void Run::give_more_places(const RunHost& own) const {
  const auto places = servers::places_of_servers(project_, folders_, *lock_, *granted_);
  servers::give_places(project_, places);
  if (!own.rules) return;
  own.rules->set(places);
  own.host->on_loop([&] {
    for (const auto& [server, wanted] : places) {
      const auto last = own.rules->last_start(server);
      if (last && servers::gives_more(wanted, last->places))
        own.host->upstreams().start_anew(server);
    }
  });
}

Result<void> Run::settle_authority(const toolchain::Snapshot& snapshot) {
  auto rules = declared_rules(*outcome_.report);
  if (!rules) return pass_on(rules);
  auto authority =
      load_authority(project_, world_, {request_.granted, declaration_layer(std::move(*rules))});
  if (authority && request_.hosted != nullptr) {
    client_policy_ = policy::policy_record(*authority);
    authority = attenuate(*authority, declared().permissions, world_);
  }
  if (!authority) return pass_on(authority);
  authority_ = std::move(*authority);
  binding_ = bind_run(snapshot.digest(), lock_digests_, project_.config, *authority_);
  binding_.arguments = digest_of_arguments(given_);
  return {};
}

Result<void> Run::review(servers::Host& host, RunApprover* approver) {
  const bool is_wanted = request_.questions.review == ReviewWanted::kAlways;
  const bool is_lifted = request_.enforcement == Enforcement::kObserve && !is_wanted;
  if (is_lifted || request_.hosted != nullptr) return {};
  ReviewSubject subject{.program = outcome_.report->file,
                        .project = project_.folder.string(),
                        .declared = {},
                        .authority = &*authority_,
                        .binding = binding_,
                        .report = &*outcome_.report};
  for (const auto& item : outcome_.report->declared) {
    if (auto permission = Permission::parse(item.permission))
      subject.declared.emplace_back(std::move(*permission), item.text());
  }
  const ApprovalStore store(folders_.approvals(), listener_.warning, clock_);
  return require_review(subject, request_.questions.review, request_.denied_uses, approver, store,
                        host, interrupt_, outcome_.answers);
}

std::shared_ptr<Slot> Run::open_slot(sandbox::Warden& warden, const toolchain::Prepared& prepared,
                                     std::optional<Slot> waiting) const {
  // Granted files are in no usual sandbox.
  if (request_.mode != RunMode::kRun || !granted_->files().empty()) return nullptr;
  AgentProgram usual;
  usual.runner = prepared.folder / "runner";
  const auto spec = agent_spec(usual, request_.limits);
  if (waiting && waiting->fits(spec)) {
    listener_.note("a runner waited for the program");
    return std::make_shared<Slot>(std::move(*waiting));
  }
  auto slot = Slot::open(warden, spec);
  return slot ? std::make_shared<Slot>(std::move(*slot)) : nullptr;
}

Result<void> Run::run_program(sandbox::Warden& warden, servers::Host& host,
                              const toolchain::Program& program, std::shared_ptr<Slot> slot,
                              RunApprover* approver) {
  AgentProgram agent{.file = program.file,
                     .arguments = {outcome_.report->file},
                     .environment = {},
                     .mounts = {},
                     .admits = {},
                     .declared_in = "source",
                     .image = program.image,
                     .runner = program.runner,
                     .slot = std::move(slot),
                     .given = given_};
  const auto sources = files_of(request_.source);
  if (auto given = give_files(*authority_, {project_, folders_, sources, request_.limits.writes_to},
                              listener_.note, agent);
      !given)
    return given;
  return supervise({folders_, *lock_, host, warden, interrupt_, clock_, listener_, approver,
                    recording_.get(), request_.hosted, request_.standby,
                    request_.hosted == nullptr ? servers::to_json(servers::given_places(project_))
                                               : Json(nullptr)},
                   agent, request_.limits,
                   {std::move(*authority_), declared(), request_.enforcement, binding_,
                    outcome_.report->file, request_.lifted_by, std::move(client_policy_)},
                   outcome_);
}

void Run::record_refused(const Error& error) const {
  const DelegatedRun* const hosted = request_.hosted;
  record_refused_run({.run_id = hosted == nullptr ? std::string_view() : hosted->run_id,
                      .program = outcome_.report ? outcome_.report->file : request_.source.display,
                      .client_run = hosted == nullptr ? std::string_view() : hosted->client_run,
                      .error = error,
                      .not_granted = outcome_.check.missing,
                      .policy = granted_ ? policy::policy_record(*granted_) : Json(nullptr),
                      .bound = hosted == nullptr ? nullptr : hosted->refusals},
                     folders_, listener_, outcome_);
}

Result<void> Run::all() {
  // The warden starts first: nothing that comes later may reach it or its children. A program that
  // was seen before and is only looked at has no question for it.
  auto warden = warden_for_run(
      request_.standby, folders_,
      request_.mode == RunMode::kRun ? sandbox::Explore::kAtOnce : sandbox::Explore::kWhenAsked);
  if (!warden) return pass_on(warden);
  PrewarmedTools tools = tools_for_run(request_.standby);
  if (auto loaded = load(); !loaded) return loaded;
  std::optional<RunHost> own;
  if (request_.hosted == nullptr) {
    servers::give_places(project_,
                         servers::places_of_servers(project_, folders_, *lock_, *granted_));
    own.emplace(host_for_run(recording_->is_replay() ? nullptr : request_.standby, folders_,
                             project_, *lock_, admitted()));
  }
  servers::Host& host = own ? *own->host : request_.hosted->host;
  // What a client's program does is recorded where its client's calls are.
  if (own) recording_->join(host);
  const bool starts = own && request_.mode == RunMode::kRun;
  if (starts) {
    const auto named = granted_->named_tools();
    host.start(servers_of({named.begin(), named.end()}));
  }
  if (request_.standby == nullptr) sweep_leftovers(folders_);  // else it was done before
  const sandbox::Tier lowest = request_.limits.lowest_tier;
  auto snapshot = toolchain::Snapshot::take(request_.source);
  if (!snapshot) return pass_on(snapshot);
  const auto headers = toolchain::named_servers(*snapshot, *lock_);
  if (starts) host.start(granted_servers(headers, *lock_, *granted_));
  auto prepared = stage("prepare", [&] {
    return toolchain::prepare(
        project_, *lock_, headers, {folders_, *warden, lowest, interrupt_.stop()},
        [&](const char* what) { listener_.wait(what); },
        tools.prepared ? &*tools.prepared : nullptr);
  });
  if (!prepared) return pass_on(prepared);
  toolchain::ProgramBuild build(
      {*snapshot, *prepared, folders_, *warden, lowest, interrupt_.stop()}, *lock_,
      std::move(tools.build));
  build.begin();
  auto slot = open_slot(*warden, *prepared, std::exchange(tools.slot, std::nullopt));
  auto report = stage("analyse", [&] { return build.analyze(); });
  if (!report) return pass_on(report);
  if (build.analyzer_waited()) listener_.note("an analyzer waited for the program");
  check_conditions(world_, *report);
  outcome_.report = std::move(*report);
  if (auto done = check_findings(); !done) return done;
  if (auto done = stage("check", [&] { return check_grants(); }); !done) return done;
  if (was_asked_ && own) give_more_places(*own);
  if (auto done = settle_authority(*snapshot); !done) return done;
  const LiveApprover approver(host, request_.questions.approver);
  if (request_.mode == RunMode::kRun) {
    if (auto done = review(host, approver.get()); !done) return done;
    if (starts) host.start(servers_of(declared().permissions));
  }
  auto program = stage("compile", [&] { return build.build(*outcome_.report); });
  if (!program) return pass_on(program);
  outcome_.was_compiled = !build.was_seen();
  if (build.compiler_waited()) listener_.note("a compiler waited for the program");
  if (request_.mode == RunMode::kDryRun) {
    build.keep(*program);
    return {};
  }
  if (own) {
    auto ready = stage("servers", [&] {
      return host.wait_for(declared().permissions, interrupt_, listener_.wait);
    });
    if (!ready) return ready;
  }
  auto done = stage("run", [&] {
    const DelayedTask frees_memory([&build] { build.let_go_of_tools(); });
    return run_program(*warden, host, *program, std::move(slot), approver.get());
  });
  build.keep(*program);
  return done;
}

}  // namespace

Outcome execute(const project::Project& project, const project::Folders& folders,
                ExecuteRequest request, const Listener& listener) {
  Outcome outcome;
  Run run(project, folders, request, listener, outcome);
  auto done = run.all();
  if (!done && request.mode == RunMode::kRun) run.record_refused(done.error());
  conclude(run.interrupt(), std::move(done), outcome);
  return outcome;
}

}  // namespace mcpac::run
