// SPDX-License-Identifier: Apache-2.0

#include "run/agent_run.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>
#include <exception>

#include "core/file.h"
#include "core/printable.h"
#include "network/host_dialer.h"
#include "run/image_memory.h"
#include "run/image_start.h"
#include "toolchain/child/backtrace.h"
#include "toolchain/child/elf_code.h"

namespace mcpac::run {
namespace {

// The program has ended; what it sent before is read within this time.
constexpr auto kLastWords = std::chrono::seconds(2);

// Gate and door as they live on the loop; made and taken down there.
struct Service {
  std::unique_ptr<network::HostDialer> dialer;  // outlives the gate
  std::unique_ptr<gate::Gate> gate;
  std::shared_ptr<gate::AgentDoor> door;
  const Json* given = nullptr;  // to the program
  std::optional<Json> result;
  std::optional<gate::Uncaught> uncaught;
  std::string expelled;
  std::promise<void> closed;
  bool is_closed = false;
};

void open_service(servers::Host& host, Service& service, UniqueFd channel, gate::GateSetup setup,
                  audit::RunLog& log, const AgentIo& io) {
  if (setup.authority.speaks_of_network() && io.network == AgentIo::Network::kOfHost) {
    service.dialer = std::make_unique<network::HostDialer>(
        host.executor(), network::system_resolver(host.executor()));
    setup.dialer = service.dialer.get();
  }
  service.gate = std::make_unique<gate::Gate>(std::move(setup));
  io.gate(service.gate.get());
  gate::DoorCallbacks callbacks;
  callbacks.arguments = [&service] { return *service.given; };
  callbacks.on_log = io.log;
  callbacks.on_result = [&service](Json value) { service.result = std::move(value); };
  callbacks.on_uncaught = [&service](gate::Uncaught uncaught) {
    service.uncaught = std::move(uncaught);
  };
  callbacks.on_closed = [&service](gate::DoorCallbacks::End end, std::string_view reason) {
    if (end == gate::DoorCallbacks::End::kViolation) service.expelled = reason;
    if (!std::exchange(service.is_closed, true)) service.closed.set_value();
  };
  service.door = gate::AgentDoor::open(host.executor(), std::move(channel), *service.gate, log,
                                       std::move(callbacks));
}

std::string verdict_name(const AgentOutcome& outcome) {
  using Kind = sandbox::Verdict::Kind;
  if (outcome.output_limit) return "output-limit";
  if (outcome.killed_by_user) return "killed-by-user";
  switch (outcome.verdict.kind) {
    case Kind::kExited: return "exited";
    case Kind::kSignalled: return "signalled";
    case Kind::kViolated: return "violated";
    case Kind::kTimedOut: return "timed-out";
    case Kind::kCpuLimit: return "cpu-limit";
    case Kind::kMemoryLimit: return "memory-limit";
    case Kind::kKilled: return "killed";
  }
  return "ended";
}

std::string what_crashed(const sandbox::Verdict& verdict) {
  const bool both = !verdict.detail.empty() && !verdict.note.empty();
  return verdict.detail + (both ? ", " : "") + verdict.note;
}

Json ended_record(const AgentOutcome& outcome, const RunLimits& limits) {
  const auto& verdict = outcome.verdict;
  Json record{{"verdict", verdict_name(outcome)},
              {"code", verdict.code},
              {"tier", sandbox::to_string(outcome.tier)},
              {"wall_us", verdict.wall.count()},
              {"peak_memory", verdict.peak_memory}};
  if (verdict.call_number >= 0) {
    record["call"] = {{"number", verdict.call_number},
                      {"name", verdict.call},
                      {"path", printable(verdict.path)},
                      {"callers", outcome.callers}};
  }
  const bool seen = !verdict.frames.empty() || !verdict.note.empty();
  if (verdict.kind == sandbox::Verdict::Kind::kSignalled && seen)
    record["crash"] = {{"what", what_crashed(verdict)}, {"callers", outcome.callers}};
  if (!outcome.expelled.empty()) record["expelled"] = printable(outcome.expelled);
  auto limit = verdict.limit;
  if (outcome.output_limit) limit = {{"output", limits.output, limits.output}};
  if (limit)
    record["limit"] = {{"name", limit->name}, {"allowed", limit->allowed}, {"used", limit->used}};
  return record;
}

// The program's process before the gate's door is open: a runner that waits already, or only the
// channel that a new process is given.
struct Beginning {
  UniqueFd ours;
  UniqueFd theirs;  // of a new process
  std::optional<toolchain::PipedChild> waiting;
  std::optional<ImageMemory> memory;  // that is ready
};

Result<Beginning> begin(const AgentProgram& program, const sandbox::Spec& spec) {
  if (program.slot) {
    Slot slot = std::move(*program.slot);
    if (slot.fits(spec)) {
      return Beginning{
          std::move(slot.channel()), {}, std::move(slot.child()), std::move(slot.memory())};
    }
  }
  auto channel = make_channel();
  if (!channel) return pass_on(channel);
  return Beginning{.ours = std::move(channel->ours),
                   .theirs = std::move(channel->theirs),
                   .waiting = std::nullopt,
                   .memory = std::nullopt};
}

Result<void> give_image(const toolchain::Image& image, std::optional<ImageMemory> ready,
                        int channel, const std::vector<std::string>& arguments) {
  auto memory = ready ? Result<ImageMemory>(std::move(*ready)) : ImageMemory::make();
  if (!memory) return pass_on(memory);
  auto sealed = std::move(*memory).sealed_with(image.mapped());
  if (!sealed) return pass_on(sealed);
  return send_image(channel, sealed->get(), {image.entry(), image.segments()}, arguments);
}

// Nothing of the program runs before this. `channel` is where a runner takes its image from.
Result<toolchain::PipedChild> start(sandbox::Warden& warden, const AgentProgram& program,
                                    sandbox::Spec spec, Beginning beginning,
                                    const UniqueFd& channel) {
  spec.channel = beginning.theirs.get();
  auto child = beginning.waiting ? Result<toolchain::PipedChild>(std::move(*beginning.waiting))
                                 : toolchain::start_child(warden, std::move(spec));
  if (!child || !program.image) return child;
  auto given =
      give_image(*program.image, std::move(beginning.memory), channel.get(), program.arguments);
  if (!given) return pass_on(given);
  return child;
}

// Who called what a program ended at. Names are a help, and come from an untrusted file: whatever
// becomes of them, the end of the run is recorded.
std::vector<std::string> callers_or_none(const AgentProgram& program,
                                         const sandbox::Verdict& verdict) {
  try {
    if (verdict.frames.empty()) return {};
    std::vector<toolchain::ElfCode> codes;
    const auto add = [&codes](Result<toolchain::ElfCode> code) {
      if (code) codes.push_back(std::move(*code));
    };
    add(program.image ? toolchain::ElfCode::of(program.image->bytes(), "the program", verdict.entry)
                      : toolchain::ElfCode::read(program.file, verdict.entry));
    if (program.image) add(toolchain::ElfCode::read(program.runner, verdict.entry));
    return toolchain::callers_of(verdict, codes);
  } catch (const std::exception&) {
    return {};
  }
}

std::unexpected<Error> ended_by(std::string_view verdict, audit::RunLog& log, Error error) {
  auto noted = log.append("RunEnded", {{"verdict", verdict}, {"error", to_string(error.id)}});
  return std::unexpected(noted ? std::move(error) : std::move(noted.error()));
}

std::unexpected<Error> not_started(audit::RunLog& log, Error error) {
  return ended_by("not-started", log, std::move(error));
}

}  // namespace

sandbox::Spec agent_spec(const AgentProgram& program, const RunLimits& limits) {
  sandbox::Spec spec;
  const bool is_image = !program.runner.empty();  // which a slot is made before
  spec.program = is_image ? program.runner : program.file;
  // A runner is given those of its program with the image.
  spec.arguments = is_image ? std::vector<std::string>{"mcpac-runner"} : program.arguments;
  spec.environment = program.environment;
  spec.mounts = program.mounts;
  spec.admits = is_image ? program.admits.with(sandbox::ReceivesDescriptors{}) : program.admits;
  spec.lowest_tier = limits.lowest_tier;
  spec.limits.wall = limits.wall;
  // Processor time ends a program that spins; wall time ends one that waits. One thread cannot use
  // more processor time than wall time, several can: they get the double.
  spec.limits.cpu = std::chrono::ceil<std::chrono::seconds>(limits.wall * 2);
  spec.limits.memory = limits.memory;
  spec.work_directory = program.work_directory;
  const bool writes = program.files && program.files->writes();
  spec.limits.file_size = writes ? limits.file_size : 0;
  // Below, protected names in a writable folder could not be held: Landlock only adds.
  if (writes) spec.lowest_tier = sandbox::Tier::kA;
  // Of a changeset apply takes none.
  if (writes && limits.writes_to != WritesTo::kChangeset) {
    spec.kept_names = project::guarded_names();
    spec.kept_folders = program.files->folders_of_kept;
    spec.kept_places = program.files->kept_places;
    spec.new_file_mask = own_umask();
  }
  return spec;
}

Result<AgentOutcome> run_agent(servers::Host& host, sandbox::Warden& warden,
                               const AgentProgram& program, const RunLimits& limits,
                               gate::GateSetup setup, audit::RunLog& log, const AgentIo& io,
                               StopSignal stop) {
  auto spec = agent_spec(program, limits);
  if (setup.authority.speaks_of_network())
    spec.admits = spec.admits.with(sandbox::ReceivesDescriptors{});
  if (!program.runner.empty() && !program.image)
    return not_started(log, Error{ErrorId::kInternal, "a runner has no image", "", "", ""});
  auto beginning = begin(program, spec);
  if (!beginning) return not_started(log, std::move(beginning.error()));
  // The door may close its own at any time.
  UniqueFd channel(::fcntl(beginning->ours.get(), F_DUPFD_CLOEXEC, 3));
  if (!channel)
    return not_started(log,
                       Error{ErrorId::kInternal, "cannot keep the program's channel", "", "", ""});

  Service service;
  service.given = &program.given;
  host.on_loop(
      [&] { open_service(host, service, std::move(beginning->ours), std::move(setup), log, io); });
  AgentOutcome outcome;
  std::uint64_t written = 0;
  const auto counted = [&](const std::function<void(std::string_view)>& to) {
    return [&, to](std::string_view piece) {
      const auto room =
          static_cast<std::size_t>(limits.output - std::min<std::uint64_t>(written, limits.output));
      to(piece.substr(0, room));
      written += piece.size();
      outcome.output_limit = outcome.output_limit || piece.size() > room;
      return !outcome.output_limit;
    };
  };
  auto child = start(warden, program, std::move(spec), std::move(*beginning), channel);
  channel.reset();
  Result<sandbox::Verdict> verdict = fail(ErrorId::kInternal, "the program was not started");
  const bool started = child.has_value();
  if (started) {
    outcome.tier = child->child.tier();
    verdict = toolchain::attend(std::move(*child),
                                {.standard_output = counted(io.standard_output),
                                 .standard_error = counted(io.standard_error),
                                 .output_sink = io.output_sink,
                                 .error_sink = io.error_sink,
                                 .gate = io.output_gate,
                                 .beside = io.beside},
                                stop);
  } else {
    verdict = pass_on(child);
  }
  // What the program said last (its result) may still be on its way through the loop.
  service.closed.get_future().wait_for(kLastWords);
  host.on_loop([&] {
    io.gate(nullptr);
    service.door->close();
    service.gate->close();
    outcome.calls = {service.gate->ended(), service.gate->unanswered()};
    service.door.reset();
    service.gate.reset();
    service.dialer.reset();
  });
  // A program that was started has ended in any case, as it never outlives its warden; how is not
  // known.
  if (!verdict)
    return ended_by(started ? "not-known" : "not-started", log, std::move(verdict.error()));
  outcome.verdict = std::move(*verdict);
  outcome.result = std::move(service.result);
  outcome.uncaught = std::move(service.uncaught);
  outcome.expelled = std::move(service.expelled);
  // Also one that ended by itself meanwhile, as its calls were taken back.
  outcome.killed_by_user = io.was_killed();
  outcome.callers = callers_or_none(program, outcome.verdict);
  auto noted = log.append("RunEnded", ended_record(outcome, limits));
  if (!noted) return pass_on(noted);
  return outcome;
}

int exit_code_of(const AgentOutcome& outcome) {
  using Kind = sandbox::Verdict::Kind;
  if (outcome.killed_by_user || outcome.output_limit) return static_cast<int>(ExitCode::kKilled);
  switch (outcome.verdict.kind) {
    case Kind::kExited: return outcome.verdict.code;
    case Kind::kSignalled: return 128 + outcome.verdict.code;
    case Kind::kTimedOut: return static_cast<int>(ExitCode::kTimeout);
    case Kind::kViolated:
    case Kind::kCpuLimit:
    case Kind::kMemoryLimit:
    case Kind::kKilled: return static_cast<int>(ExitCode::kKilled);
  }
  return static_cast<int>(ExitCode::kInternal);
}

namespace {

std::optional<Error> end_of(const AgentOutcome& outcome, const RunLimits& limits) {
  using Kind = sandbox::Verdict::Kind;
  const bool violated = outcome.verdict.kind == Kind::kViolated;
  const std::string how =
      "the program " + (violated ? toolchain::describe_violation(outcome.verdict, outcome.callers)
                                 : toolchain::describe(outcome.verdict));
  if (outcome.output_limit) {
    return Error{ErrorId::kRunOutputLimit,
                 fmt::format("the program wrote more than {} bytes and was stopped", limits.output),
                 "", "output is limited", "--output-limit BYTES"};
  }
  if (outcome.killed_by_user)
    return Error{ErrorId::kRunKilledByUser, "the run was killed by its user", "", "", ""};
  switch (outcome.verdict.kind) {
    case Kind::kExited: return std::nullopt;
    case Kind::kTimedOut:
      return Error{ErrorId::kRunTimeout, how, "", "", "--timeout SECONDS gives it more time"};
    case Kind::kViolated:
      return Error{
          ErrorId::kRunViolation, how, "",
          "a program talks to its tools and computes; files, sockets and processes are not there",
          "use a tool for it"};
    case Kind::kSignalled:
    case Kind::kMemoryLimit:
      return Error{ErrorId::kRunKilled, how + toolchain::describe_place(outcome.callers), "", "",
                   toolchain::remedy_of(outcome.verdict)};
    case Kind::kCpuLimit:
    case Kind::kKilled: return Error{ErrorId::kRunKilled, how, "", "", ""};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> error_of(const AgentOutcome& outcome, const RunLimits& limits) {
  auto error = end_of(outcome, limits);
  if (!error) return error;
  // A program that waits is not slow, and one that is ended in the middle has done the rest.
  if (!error->why.empty()) error->why += "; ";
  error->why += what_was_done(outcome.calls);
  return error;
}

}  // namespace mcpac::run
