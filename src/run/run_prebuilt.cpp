// SPDX-License-Identifier: Apache-2.0

#include "run/run_prebuilt.h"

#include <fmt/format.h>

#include <system_error>

#include "core/clock.h"
#include "core/offer.h"
#include "history/recording/run_recording.h"
#include "run/asking/program_review.h"
#include "run/asking/run_binding.h"
#include "run/check/authorities.h"
#include "run/check/require_granted.h"
#include "run/declared.h"
#include "run/give_files.h"
#include "run/live/leftovers.h"
#include "run/prewarmed_run.h"
#include "run/supervise.h"
#include "servers/confine/server_places.h"
#include "servers/host.h"
#include "servers/tool_tables.h"
#include "toolchain/program_file.h"

namespace mcpac::run {
namespace {

// The only interpreter that we mount (x86-64 psABI); a program with another one does not run.
constexpr std::string_view kInterpreter = "/lib64/ld-linux-x86-64.so.2";

Result<AgentProgram> make_program(const RunRequest& request, const toolchain::ProgramFile& file) {
  AgentProgram program{.file = request.program,
                       .arguments = request.arguments,
                       // A program without our runtime looks for its connection here
                       // (docs/protocol.md, "The connection").
                       .environment = {"MCPAC_FD=3"},
                       .mounts = {},
                       .admits = {},
                       .declared_in = file.declared ? "note" : "grants"};
  if (file.interpreter.empty()) return program;
  if (file.interpreter != kInterpreter) {
    return fail(
        ErrorId::kProgramUnusable,
        fmt::format("{} wants the interpreter {}", request.program.string(), file.interpreter),
        {.why = "only the system's own loader is there",
         .fix = "link the program statically (-static)"});
  }
  using Access = sandbox::Mount::Access;
  program.admits = program.admits.with(sandbox::OpensLibraries{});
  program.mounts = {
      {"/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", Access::kReadExecute},
      {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", Access::kReadExecute},
      {"/lib64", "/lib64", Access::kReadExecute}};
  return program;
}

// Assumed declaration of a program without a note: every tool that some grant may admit; when only
// observed, every tool there is.
gate::Declared declared_by_grants(Enforcement enforcement, const policy::Authority& authority,
                                  const policy::ToolSchemas& tools) {
  gate::Declared declared;
  for (const auto& [tool, schema] : tools) {
    if (offer_named(tool.tool())) continue;  // no program has a way to ask for one
    if (enforcement == Enforcement::kEnforce &&
        authority.coverage(tool, "") == policy::Coverage::kMissing)
      continue;
    declared.permissions.insert(tool);
    declared.texts.push_back(tool.text());
  }
  return declared;
}

// Declared ∩ granted where the program has a note, granted where it has none. The note is a claim
// of the program's builder: as a layer of its own it can only take away.
Result<RunAuthority> make_authority(const GrantCheck& parts, const toolchain::ProgramFile& file,
                                    RunRequest& request, const project::KnownLock& known,
                                    Outcome& outcome) {
  std::vector<policy::LayerText> layers;
  analyzer::Report report;
  if (file.declared) {
    report = toolchain::report_of_binary(request.program, *file.declared);
    if (auto offered = require_offered(parts.project, known.lock, {}, report, nullptr); !offered)
      return pass_on(offered);
    auto checked = require_granted(parts, report, request.granted, outcome.check);
    if (!checked) return pass_on(checked);
    auto rules = declared_rules(report);
    if (!rules) return pass_on(rules);
    layers.push_back(declaration_layer(std::move(*rules)));
  } else {
    parts.listener.warning(fmt::format(
        "{} does not say what it declares (it has no mcpac note): it may use all that is "
        "granted",
        request.program.string()));
    warn_of_open_ends(parts.listener.warning, request.granted, &parts.world.tools);
    if (parts.enforcement == Enforcement::kObserve) warn_of_observing(parts.listener);
  }
  layers.insert(layers.begin(), request.granted);
  auto digest = digest_of_program(request.program, request.arguments);
  if (!digest) return pass_on(digest);
  auto authority = load_authority(parts.project, parts.world, std::move(layers));
  if (!authority) return pass_on(authority);
  warn_of_idle_rules(*authority, parts.listener.warning);
  auto binding = bind_run(std::move(*digest), known.digests, parts.project.config, *authority);
  auto declared = file.declared
                      ? declared_by(report)
                      : declared_by_grants(request.enforcement, *authority, parts.world.tools);
  return RunAuthority{std::move(*authority), std::move(declared),      request.enforcement,
                      std::move(binding),    request.program.string(), request.lifted_by};
}

Result<void> review(const project::Project& project, const project::Folders& folders,
                    const RunRequest& request, const RunAuthority& authority, const RunParts& parts,
                    history::EarlyAnswers& answers) {
  const bool is_wanted = request.questions.review == ReviewWanted::kAlways;
  if (request.enforcement == Enforcement::kObserve && !is_wanted) return {};
  ReviewSubject subject{.program = authority.program,
                        .project = project.folder.string(),
                        .declared = {},
                        .authority = &authority.authority,
                        .binding = authority.binding};
  for (const std::string& text : authority.declared.texts) {
    for (const Permission& permission : authority.declared.permissions) {
      if (text == permission.text() || text.starts_with(permission.text() + " where "))
        subject.declared.emplace_back(permission, text);
    }
  }
  const ApprovalStore store(folders.approvals(), parts.listener.warning, parts.clock);
  return require_review(subject, request.questions.review, request.denied_uses, parts.approver,
                        store, parts.host, parts.interrupt, answers);
}

Result<void> run(const project::Project& project, const project::Folders& folders,
                 RunRequest& request, const Listener& listener, const Interrupt& interrupt,
                 Outcome& outcome) {
  const SystemClock clock;
  auto warden = warden_for_run(request.standby, folders);
  if (!warden) return pass_on(warden);
  PrewarmedTools unneeded = tools_for_run(request.standby);
  unneeded.let_go();
  sweep_leftovers(folders);
  auto file = toolchain::inspect_program(request.program);
  if (!file) return pass_on(file);
  auto program = make_program(request, *file);
  if (!program) return pass_on(program);
  auto known = lock_for_run(request.standby, project);
  if (!known) return pass_on(known);
  const codegen::Lock& lock = (*known)->lock;
  auto recording = history::RunRecording::open(request.recording, lock, listener.note);
  if (!recording) return pass_on(recording);
  auto arguments = (*recording)->arguments_for(std::move(request.given));
  if (!arguments) return pass_on(arguments);
  program->given = std::move(*arguments);
  PolicyWorld world(project, clock);
  world.tools = servers::tool_schemas(lock);
  auto authority = make_authority(
      {project, world, listener, request.enforcement, interrupt.stop(), &outcome.answers}, *file,
      request, **known, outcome);
  if (!authority) return pass_on(authority);
  authority->binding.arguments = digest_of_arguments(program->given);
  const auto& permissions = authority->declared.permissions;
  const auto places = servers::places_of_servers(project, folders, lock, authority->authority);
  if (file->declared) {
    const auto report = toolchain::report_of_binary(request.program, *file->declared);
    if (auto offered = require_offered(project, lock, listener, report, &places); !offered)
      return offered;
  }
  servers::give_places(project, places);
  const auto servers = host_for_run((*recording)->is_replay() ? nullptr : request.standby, folders,
                                    project, lock, servers_of(permissions));
  servers::Host& host = *servers.host;
  (*recording)->join(host);
  const LiveApprover approver(host, request.questions.approver);
  const RunParts parts{folders,
                       lock,
                       host,
                       *warden,
                       interrupt,
                       clock,
                       listener,
                       approver.get(),
                       recording->get(),
                       nullptr,
                       request.standby,
                       servers::to_json(servers::given_places(project))};
  host.start(servers_of(permissions));  // while a person may still be asked
  if (auto done = review(project, folders, request, *authority, parts, outcome.answers); !done)
    return done;
  auto drifted = host.drifted_of(permissions, interrupt, listener.wait);
  if (!drifted) return pass_on(drifted);
  // A grant may be wider than what the program uses: the other tools work, these are refused.
  if (!drifted->empty() && drifted->size() == permissions.size())
    return std::unexpected(servers::drift_error(drifted->begin()->first, drifted->begin()->second));
  for (const auto& [tool, how] : *drifted) {
    const Error error = servers::drift_error(tool, how);
    listener.warning(fmt::format("{}: calls to it are refused ({})", error.what, error.fix));
  }
  const std::vector<std::filesystem::path> sources{request.program};
  auto given =
      give_files(authority->authority, {project, folders, sources, request.limits.writes_to},
                 listener.note, *program);
  if (!given) return given;
  return supervise(parts, *program, request.limits, std::move(*authority), outcome);
}

}  // namespace

Outcome run_prebuilt(const project::Project& project, const project::Folders& folders,
                     RunRequest request, const Listener& listener) {
  Outcome outcome;
  const Interrupt interrupt;
  auto done = run(project, folders, request, listener, interrupt, outcome);
  if (!done) {
    record_refused_run({.program = request.program.native(),
                        .error = done.error(),
                        .not_granted = outcome.check.missing},
                       folders, listener, outcome);
  }
  conclude(interrupt, std::move(done), outcome);
  return outcome;
}

}  // namespace mcpac::run
