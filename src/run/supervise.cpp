// SPDX-License-Identifier: Apache-2.0

#include "run/supervise.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <boost/asio/post.hpp>

#include "audit/log.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/file.h"
#include "core/ids.h"
#include "core/printable.h"
#include "core/rfc3339.h"
#include "core/shell_quote.h"
#include "gate/anomalies.h"
#include "history/changes/changes_watch.h"
#include "history/changes/changeset.h"
#include "history/changes/read_upper.h"
#include "history/records/run_record.h"
#include "project/files/file_mounts.h"
#include "run/agent_run.h"
#include "run/asking/approval_store.h"
#include "run/check/authorities.h"
#include "run/exit_report.h"
#include "run/kill_switch.h"
#include "run/live/gate_control.h"
#include "run/loop_talk.h"
#include "run/run_limits.h"
#include "servers/confine/confine_servers.h"

namespace mcpac::run {
namespace {

// RunChanges: the changeset of one run, where it has one: from before its program starts until what
// it changed is recorded. A run without does nothing here.
class RunChanges {
 public:
  // With limits.writes_to kChangeset, takes the writable mounts of `program` to a new changeset.
  [[nodiscard]] static Result<RunChanges> begin(const project::Folders& folders,
                                                const std::string& run, const std::string& called,
                                                const Clock& clock, const RunLimits& limits,
                                                AgentProgram& program);
  // Ends the program when it writes too much, beside what `outer` stops.
  [[nodiscard]] Result<StopSignal> watch(StopSignal outer, std::uint64_t limit);
  // The program has ended: what it changed is kept and audited, or nothing is, where it changed
  // nothing or more than it may (kChangesLimit). How many changes were kept.
  [[nodiscard]] Result<std::size_t> end(const Clock& clock, audit::RunLog& log);

 private:
  std::optional<history::OpenChangeset> open_;
  std::unique_ptr<KillSwitch> over_;  // where it does not move
  std::optional<history::ChangesWatch> watch_;
  std::uint64_t limit_ = 0;
};

Result<RunChanges> RunChanges::begin(const project::Folders& folders, const std::string& run,
                                     const std::string& called, const Clock& clock,
                                     const RunLimits& limits, AgentProgram& program) {
  RunChanges made;
  const bool writes = std::ranges::any_of(program.mounts, [](const sandbox::Mount& mount) {
    return mount.access == sandbox::Mount::Access::kReadWrite;
  });
  if (limits.writes_to != WritesTo::kChangeset || !writes) return made;
  auto kept = program.files ? program.files->kept_places : std::vector<std::string>();
  auto open = history::OpenChangeset::create(history::changes_folder(folders.state), run, called,
                                             program.mounts, clock, std::move(kept));
  if (!open) return pass_on(open);
  made.open_.emplace(std::move(*open));
  return made;
}

Result<StopSignal> RunChanges::watch(StopSignal outer, std::uint64_t limit) {
  if (!open_) return outer;
  auto over = KillSwitch::beside(outer);
  if (!over) return pass_on(over);
  over_ = std::make_unique<KillSwitch>(std::move(*over));
  limit_ = limit;
  watch_.emplace(open_->uppers(), limit, [over = over_.get()] { over->pull(); });
  return over_->stop();
}

Result<std::size_t> RunChanges::end(const Clock& clock, audit::RunLog& log) {
  if (!open_) return 0U;
  watch_.reset();
  // A program that ended between two looks is judged as the others.
  if (over_->was_pulled() || history::hold_more_than(open_->uppers(), limit_)) {
    if (history::hold_too_many_files(open_->uppers())) {
      return fail(ErrorId::kChangesLimit,
                  fmt::format("the program changed more than {} files", history::kMostChanges),
                  {.why = "a changeset holds no more; nothing of it was kept",
                   .fix = "let it write fewer files, or give it the folder without --changeset"});
    }
    return fail(
        ErrorId::kChangesLimit,
        fmt::format("the program changed more than {} bytes of files", limit_),
        {.why = "changes are limited, and counted where they can be read; nothing of them was kept",
         .fix = "--changes-limit SIZE"});
  }
  auto kept = open_->keep(clock);
  if (!kept) return pass_on(kept);
  if (!*kept) return 0U;
  const history::Changeset& changes = **kept;
  auto noted = log.append("ChangesKept", {{"changes", changes.count()},
                                          {"digest", string_member(to_json(changes), "digest")}});
  if (!noted) return pass_on(noted);
  return changes.count();
}

}  // namespace

namespace {

// The reader is waited for as long as the program may run, and a moment in any case.
constexpr auto kPatience = std::chrono::seconds(2);

// A run whose record has no signed end proves less than its user believes. An error of the program
// itself is not hidden by it.
void note_unclosed(const Result<void>& closed, LoopTalk& talk, Outcome& outcome) {
  if (closed) return;
  if (outcome.error) {
    talk.warn("the audit log could not be closed: " + closed.error().what);
    return;
  }
  outcome.error = closed.error();
  outcome.exit_code = static_cast<int>(exit_code_of(closed.error().id));
}

// Connections are the program's own: there is no answer in the name of a host that is not there.
AgentIo::Network network_of(const RunParts& parts, const policy::Authority& authority) {
  if (parts.hosted != nullptr && parts.hosted->is_replay) return AgentIo::Network::kNone;
  if (parts.recording == nullptr || !authority.speaks_of_network())
    return AgentIo::Network::kOfHost;
  if (parts.recording->is_recorded())
    parts.listener.warning("connections that the program opens are not recorded");
  return parts.recording->is_replay() ? AgentIo::Network::kNone : AgentIo::Network::kOfHost;
}

std::string one_text(const Error& error) {
  return error.why.empty() ? error.what : fmt::format("{}: {}", error.what, error.why);
}

// What was otherwise than recorded may be why the run ended as it did: both are said.
void end_recording(const RunParts& parts, const std::string& program, LoopTalk& talk,
                   Outcome& outcome) {
  if (parts.recording == nullptr) return;
  const auto recorded = parts.recording->end(parts.host, program,
                                             [&talk](std::string_view text) { talk.warn(text); });
  if (recorded) return;
  if (outcome.error) return talk.warn(one_text(recorded.error()));
  outcome.error = recorded.error();
  outcome.exit_code = static_cast<int>(exit_code_of(recorded.error().id));
}

void note_end(AgentOutcome ended, const RunLimits& limits, Outcome& outcome) {
  outcome.tier = ended.tier;
  outcome.verdict = ended.verdict;
  outcome.exit_code = exit_code_of(ended);
  outcome.error = error_of(ended, limits);
  outcome.result = std::move(ended.result);
  outcome.calls = std::move(ended.calls);
}

// What a program that ended by itself ended with; whatever else went wrong says more than that.
void note_own_end(const std::optional<gate::Uncaught>& uncaught, const std::string& expelled,
                  Outcome& outcome) {
  if (outcome.error || outcome.verdict->kind != sandbox::Verdict::Kind::kExited) return;
  if (!expelled.empty()) {
    outcome.error = expelled_error(expelled);
    if (outcome.exit_code == 0)
      outcome.exit_code = static_cast<int>(exit_code_of(outcome.error->id));
  } else if (uncaught && outcome.exit_code != 0) {
    outcome.error = uncaught_error(*uncaught);
    outcome.is_error_said = true;
  }
}

// `kept`: how many there are.
void note_changes(Result<std::size_t> kept, LoopTalk& talk, Outcome& outcome) {
  if (kept) {
    outcome.changes = *kept;
  } else if (!outcome.error || kept.error().id == ErrorId::kChangesLimit) {
    outcome.exit_code = static_cast<int>(exit_code_of(kept.error().id));
    outcome.error = std::move(kept.error());
  } else {
    talk.warn("the changes of files were not kept: " + kept.error().what);
  }
}

// The socket by which the run's user sees, revokes and ends it. It lives on the loop, as long as
// the gate.
class LiveSocket {
 public:
  LiveSocket(const RunParts& parts, const std::string& run_id, LiveFacts facts, KillSwitch& kill)
      : parts_(parts), run_id_(run_id), facts_(std::move(facts)), kill_(kill) {}

  // On the loop. Null: the gate is going. The program waits for its gate and no client for this
  // socket, so that is opened in the next turn.
  void show(gate::Gate* gate) {
    control_.reset();
    gate_ = gate;
    if (gate != nullptr) boost::asio::post(parts_.host.executor(), [this] { open(); });
  }
  // Once the gate has gone; what went wrong, if anything did.
  [[nodiscard]] const std::optional<Error>& trouble() const { return trouble_; }

 private:
  // The loop may be that of others, too: nothing is thrown into it.
  void open() {
    try {
      if (gate_ != nullptr) try_to_open();
    } catch (const std::exception& bug) {
      trouble_ = Error{ErrorId::kInternal, "the run cannot be watched", "", bug.what(), ""};
    }
  }
  void try_to_open() {
    auto opened = RunControl::open(parts_.host.executor(), parts_.folders.runs(), run_id_,
                                   controls_of(*gate_, facts_, [this] { kill_.pull(); }));
    if (opened)
      control_ = std::move(*opened);
    else
      trouble_ = std::move(opened.error());
  }

  const RunParts& parts_;
  const std::string& run_id_;
  LiveFacts facts_;
  KillSwitch& kill_;
  gate::Gate* gate_ = nullptr;
  std::optional<Error> trouble_;
  std::unique_ptr<RunControl> control_;
};

std::function<Json()> shown_places(const RunParts& parts) {
  if (!parts.server_places.is_object()) return nullptr;
  return [places = parts.server_places] { return places; };
}

// Tools that drift and servers that end while the program runs are noted in its record, until this
// is gone; a server's last words are its user's alone, and may say why. Of a client's program
// the owner of the servers hears of it.
class ServerNotes {
 public:
  ServerNotes(const RunParts& parts, audit::RunLog& log, LoopTalk& talk)
      : parts_(parts), anomalies_(log) {
    parts_.host.on_loop([this, &talk] {
      if (parts_.hosted != nullptr) return;
      parts_.host.upstreams().on_drift(
          [this](std::string_view what, const std::string& name) { anomalies_.note(what, name); });
      parts_.host.upstreams().on_ended([this](const std::string& server) {
        anomalies_.note("the connection to a server ended during the run", server);
      });
      parts_.host.upstreams().on_failed([this, &talk](const std::string&, const Error& error) {
        const std::string text = one_text(error);
        if (told_.size() < kMostTold && told_.insert(text).second) talk.warn(text);
      });
    });
  }
  ~ServerNotes() {
    parts_.host.on_loop([this] {
      if (parts_.hosted == nullptr) {
        parts_.host.upstreams().on_drift(nullptr);
        parts_.host.upstreams().on_ended(nullptr);
        parts_.host.upstreams().on_failed(nullptr);
      }
      anomalies_.summarize();
    });
  }
  ServerNotes(const ServerNotes&) = delete;
  ServerNotes& operator=(const ServerNotes&) = delete;

 private:
  // A server may fail as often as it likes, and each time with other words.
  static constexpr std::size_t kMostTold = 16;

  const RunParts& parts_;
  gate::Anomalies anomalies_;
  std::set<std::string> told_;  // on the host's loop
};

// Nothing of it was made; the program saw an error, and may have gone on without it.
void warn_of_refused_names(const AgentOutcome& ended, LoopTalk& talk) {
  const std::uint32_t count = ended.verdict.kept_refusals;
  if (count == 0) return;
  talk.warn(fmt::format(
      "the program was not let make or change {}{}, which tools may run or obey; with --changeset "
      "it may, and such changes are not applied",
      printable(ended.verdict.kept_path),
      count == 1 ? "" : fmt::format(" ({} such calls)", count)));
}

// Why an open fails with EROFS a program seldom says, and nothing of mcpac sees it: the kernel
// refuses it. So of one that ended with an error it is told which of its files are read-only.
void warn_of_read_only(const AgentProgram& program, const Outcome& outcome, LoopTalk& talk) {
  const bool failed = outcome.verdict && outcome.exit_code != 0 &&
                      outcome.verdict->kind == sandbox::Verdict::Kind::kExited;
  if (!failed || !program.files) return;
  const auto& places = program.files->places;
  const auto read_only =
      std::ranges::find(places, policy::FileMode::kReadOnly, &project::GrantedPlace::mode);
  if (read_only == places.end()) return;
  talk.warn(fmt::format(
      "{} was granted read-only, where the program may have failed to write: {}",
      printable(read_only->path.string()),
      outcome.tier == sandbox::Tier::kA
          ? "--files PATH:rw lets it, and --changeset beside that keeps what it writes apart"
          : "programs write files in tier A only; `mcpac doctor` says what this machine lacks "
            "for it"));
}

// A worktree or a submodule has its repository elsewhere, which a file .git names: of a program
// that ended with an error it is told where that was not granted.
void warn_of_git_outside(const AgentProgram& program, const Outcome& outcome, LoopTalk& talk) {
  const bool failed = outcome.verdict && outcome.exit_code != 0 &&
                      outcome.verdict->kind == sandbox::Verdict::Kind::kExited;
  if (!failed || !program.files) return;
  constexpr std::string_view kLabel = "gitdir: ";
  constexpr std::size_t kLargest = 4'096;
  const auto& places = program.files->places;
  for (const auto& place : places) {
    const auto git = place.path / ".git";
    std::error_code error;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(git, error))) continue;
    const auto text = read_file(git, kLargest);
    if (!text || !text->starts_with(kLabel)) continue;
    const std::string named =
        text->substr(kLabel.size(), text->find_first_of("\r\n") - kLabel.size());
    const auto folder = (place.path / named).lexically_normal();
    const bool is_granted = std::ranges::any_of(places, [&](const auto& one) {
      const auto rest = folder.lexically_relative(one.path);
      return !rest.empty() && *rest.begin() != "..";
    });
    if (is_granted) continue;
    talk.warn(fmt::format(
        "{} leads to {}, which was not granted, and where git has the repository: --files {} lets "
        "the program read it",
        printable(git.string()), printable(folder.string()),
        shell_quoted(printable(folder.string()))));
  }
}

// Of a changeset they are never applied.
void warn_of_new_names(const AgentProgram& program, const RunLimits& limits,
                       const sandbox::Verdict* ended, LoopTalk& talk) {
  if (!program.files || limits.writes_to == WritesTo::kChangeset) return;
  if (ended != nullptr && ended->limit && ended->limit->name == "file-wait") {
    return talk.warn(
        "its folders are not looked through for names that tools may run or obey, as a file system "
        "in them does not answer");
  }
  const auto made = project::new_protected_names(*program.files);
  if (!made) return talk.warn("after the run: " + made.error().what);
  for (const auto& path : made->names)
    talk.warn(
        fmt::format("{} came to be while the program ran, which may not make such names itself: "
                    "tools may run or obey it",
                    printable(path.string())));
  for (const auto& path : made->closed)
    talk.warn(fmt::format(
        "the program left {} so that it cannot be looked through for names that tools may run or "
        "obey",
        printable(path.string())));
}

}  // namespace

std::set<std::string> servers_of(const std::set<Permission>& tools) {
  std::set<std::string> servers;
  for (const auto& tool : tools) servers.insert(tool.server());
  return servers;
}

void record_refused_run(history::RefusedRun run, const project::Folders& folders,
                        const Listener& listener, Outcome& outcome) {
  if (!outcome.run_id.empty() || !history::is_refusal(run.error.id)) return;
  if (run.bound != nullptr && !run.bound->take()) return;
  if (outcome.report) {
    for (const auto& item : outcome.report->declared) run.declared.push_back(item.text());
  }
  run.answers = outcome.answers;
  auto id = history::record_refusal(run, folders.audit(), SystemClock());
  if (id)
    outcome.refused_id = std::move(*id);
  else
    listener.warning("the refusal could not be recorded: " + id.error().what);
}

void conclude(const Interrupt& interrupt, Result<void> done, Outcome& outcome) {
  const auto signal = interrupt.received();
  const bool ended_by_itself =
      done && outcome.verdict && outcome.verdict->kind != sandbox::Verdict::Kind::kKilled;
  if (signal && !ended_by_itself) {
    outcome.error =
        Error{ErrorId::kInterrupted, fmt::format("interrupted by SIG{}", ::sigabbrev_np(*signal)),
              "", outcome.verdict ? what_was_done(outcome.calls) : "", ""};
    outcome.exit_code = 128 + *signal;
  } else if (!done) {
    outcome.error = std::move(done.error());
    outcome.exit_code = static_cast<int>(exit_code_of(outcome.error->id));
  }
}

Result<void> supervise(const RunParts& parts, AgentProgram program, const RunLimits& limits,
                       RunAuthority authority, Outcome& outcome) {
  const auto compiled =
      compiled_for_run(parts.standby, parts.lock, servers_of(authority.declared.permissions),
                       project::server_checks_of(parts.host.config()));
  for (const Error& error : compiled->unusable) {
    const auto permission = Permission::parse(error.where);
    if (permission && authority.declared.permissions.contains(*permission))
      return std::unexpected(error);
  }
  const DelegatedRun* const hosted = parts.hosted;
  outcome.run_id = hosted == nullptr ? new_uuid_v7(parts.clock) : hosted->run_id;
  outcome.servers = servers_of(authority.declared.permissions);
  auto changes = RunChanges::begin(parts.folders, outcome.run_id, authority.program, parts.clock,
                                   limits, program);
  if (!changes) return pass_on(changes);
  auto log = audit::RunLog::create(parts.folders.audit(), outcome.run_id, parts.clock);
  if (!log) return pass_on(log);
  LoopTalk talk(parts.listener);
  const ApprovalStore store(
      parts.folders.approvals(), [&talk](std::string_view text) { talk.warn(text); }, parts.clock);
  RunMemory memory(store, authority.binding, authority.program);
  gate::GateSetup setup{
      .tools = &compiled->table,
      .authority = std::move(authority.authority),
      .declared = std::move(authority.declared),
      .upstream = hosted == nullptr ? &parts.host.servers() : &hosted->upstream,
      .audit = log->get(),
      .clock = &parts.clock,
      .mode = authority.enforcement == Enforcement::kObserve ? gate::Mode::kObserve
                                                             : gate::Mode::kEnforce,
      .on_denied =
          [&outcome](const gate::Check& check) {
            outcome.denials.add(check);  // read when the loop is done with the gate
          },
      .asking = {.approver = parts.approver, .memory = &memory, .binding = authority.binding}};
  auto kill = KillSwitch::beside(parts.interrupt.stop());
  if (!kill) return pass_on(kill);
  auto stop = changes->watch(kill->stop(), limits.changes);
  if (!stop) return pass_on(stop);
  LiveSocket socket(parts, outcome.run_id,
                    {.program = authority.program,
                     .started = rfc3339_utc(parts.clock.wall_now()),
                     .granted = stated_rules(setup.authority),
                     .mode = setup.mode,
                     .lifted_by = authority.lifted_by,
                     .server_places = shown_places(parts)},
                    *kill);
  const AgentIo io{
      .standard_output = parts.listener.standard_output,
      .standard_error = parts.listener.standard_error,
      .output_sink = parts.listener.output_sink,
      .error_sink = parts.listener.error_sink,
      .output_gate = parts.listener.gate,
      .log = [&talk](std::string_view level, std::string_view text) { talk.log(level, text); },
      .beside = talk.beside(),
      .gate = [&socket](gate::Gate* gate) { socket.show(gate); },
      .was_killed = [&kill] { return kill->was_pulled(); },
      .network = network_of(parts, setup.authority)};
  std::optional<ServerNotes> notes(std::in_place, parts, **log, talk);
  const std::string replayed = parts.recording == nullptr ? "" : parts.recording->replayed_digest();
  auto started = history::record_start(
      {.program = program.arguments.front(),
       .declared_in = program.declared_in,
       .replayed = replayed,
       .client_run = hosted == nullptr ? std::string_view() : hosted->client_run,
       .client_policy = std::move(authority.client_policy),
       .lifted_by = authority.lifted_by,
       .server_places = parts.server_places},
      setup, parts.lock, parts.folders.audit(), **log);
  if (!started) return pass_on(started);
  std::optional<servers::RecordedConnections> connections;
  std::optional<servers::ToldRefusals> refusals;
  if (hosted == nullptr) {
    connections.emplace(parts.host.config(), **log);
    refusals.emplace(parts.host.config(),
                     [&talk](const std::string& text, bool) { talk.warn(text); });
  }
  if (auto noted = history::record_answers(outcome.answers, **log); !noted) return pass_on(noted);
  const auto until = std::chrono::steady_clock::now() + limits.wall;
  auto ended =
      run_agent(parts.host, parts.warden, program, limits, std::move(setup), **log, io, *stop);
  // From here to the end of the record nothing is written that needs a reader.
  if (socket.trouble()) talk.warn(socket.trouble()->what);
  auto kept = changes->end(parts.clock, **log);
  if (ended) warn_of_refused_names(*ended, talk);
  warn_of_new_names(program, limits, ended ? &ended->verdict : nullptr, talk);
  notes.reset();
  connections.reset();
  refusals.reset();
  auto closed = (*log)->close();
  if (ended) {
    const auto uncaught = std::move(ended->uncaught);
    const std::string expelled = std::move(ended->expelled);
    note_end(std::move(*ended), limits, outcome);
    note_changes(std::move(kept), talk, outcome);
    end_recording(parts, authority.binding.program, talk, outcome);
    note_unclosed(closed, talk, outcome);
    note_own_end(uncaught, expelled, outcome);
    warn_of_read_only(program, outcome, talk);
    warn_of_git_outside(program, outcome, talk);
  }
  talk.pass_on_rest(*stop, std::max(until, std::chrono::steady_clock::now() + kPatience));
  if (!ended) return pass_on(ended);
  return {};
}

}  // namespace mcpac::run
