// SPDX-License-Identifier: Apache-2.0

#include "run/call_tool.h"

#include <fmt/format.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audit/log.h"
#include "core/clock.h"
#include "core/denial_text.h"
#include "core/ids.h"
#include "core/rfc3339.h"
#include "core/shell_quote.h"
#include "gate/gate.h"
#include "history/records/denials.h"
#include "history/records/run_record.h"
#include "project/claimed_needs.h"
#include "project/project_use.h"
#include "run/asking/approval_store.h"
#include "run/asking/run_binding.h"
#include "run/check/authorities.h"
#include "run/check/require_granted.h"
#include "run/exit_report.h"
#include "run/live/gate_control.h"
#include "servers/confine/confine_servers.h"
#include "servers/confine/server_places.h"
#include "servers/host.h"
#include "servers/tool_tables.h"

namespace mcpac::run {
namespace {

constexpr const char* kProgram = "mcpac tools call";

// The rule that decided is the caller's own here, so it is named.
Error to_error(const history::Denial& denial, bool has_ceiling) {
  std::string why = denial_text(denial.reason, denial.rule, denial.other_rules);
  if (has_ceiling && denial.rule.empty() && denial.layer != kPolicyLayer)
    why += fmt::format("; {} {}", kPolicyLayer, kOnlyLimits);
  if (!denial.taken_for.empty()) why += "; " + denial.taken_for;
  return {ErrorId::kCallDenied, fmt::format("{} was not granted for this call", denial.permission),
          "", std::move(why), history::fix_of(denial)};
}

// Advice for the caller and no program: the gate's refusals do not have it.
struct Beside {
  std::optional<history::Denial> denial;
  bool has_ceiling = false;   // which people take for a grant
  std::string last_words;     // of the server, where it ended
  Sent sent = Sent::kUnsaid;  // of a call that was taken back as a signal came
};

// The gate's refusal in the words of a person at a terminal.
Error in_words(const gate::CallError& error, const Permission& tool, const Beside& beside) {
  using Kind = gate::ErrorKind;
  switch (error.kind) {
    case Kind::kDenied:
      if (beside.denial) return to_error(*beside.denial, beside.has_ceiling);
      return {ErrorId::kCallDenied, error.message, "", string_member(error.data, "reason"), ""};
    case Kind::kInvalidArguments:
      return {ErrorId::kCallInvalid, error.message,
              fmt::format("arguments of {}{}", tool.text(), string_member(error.data, "pointer")),
              "the locked input schema of the tool",
              fmt::format("mcpac tools describe {}", shell_quoted(tool.text()))};
    case Kind::kUnknownTool:
      return {ErrorId::kCallUnknownTool, error.message, "", "", "mcpac tools list"};
    case Kind::kRevoked:
      if (!error.data.contains("id"))
        return {ErrorId::kCallDenied, error.message, "", "its user took it back", ""};
      return {ErrorId::kLockDrift, error.message, fmt::format("server {}", tool.server()), "",
              fmt::format("mcpac lock diff {}", tool.server())};
    case Kind::kInternal: return {ErrorId::kAuditUnwritable, error.message, "", "", ""};
    default:
      return {server_error_id(string_member(error.data, "id")), error.message,
              fmt::format("server {}", tool.server()), beside.last_words,
              string_member(error.data, "fix")};
  }
}

Error to_error(const gate::CallError& error, const Permission& tool, const Beside& beside) {
  Error told = in_words(error, tool, beside);
  told.sent = gate::sent_of(error);
  return told;
}

// The rules of the call. A call that they say nothing for is recorded as a run that never began.
Result<policy::Authority> rules_of(const project::Project& project, const project::Folders& folders,
                                   const PolicyWorld& world, const policy::LayerText& granted,
                                   const Questions& questions) {
  auto authority = load_authority(project, world, {granted});
  if (authority) {
    warn_of_open_ends(questions.warning, granted, &world.tools);
    warn_of_idle_rules(*authority, questions.warning);
    return authority;
  }
  if (!history::is_refusal(authority.error().id)) return authority;
  const auto noted = history::record_refusal({.program = kProgram, .error = authority.error()},
                                             folders.audit(), world.clock);
  if (!noted) questions.warning("the refusal could not be recorded: " + noted.error().what);
  return authority;
}

// One call through a gate of its own, on the host's loop.
struct OwnCall {
  servers::Host& host;
  const project::Folders& folders;
  const std::string& run_id;
  const Interrupt& interrupt;
  Beside& beside;

  // Nothing: a signal came before the answer.
  std::optional<gate::Answer> make(gate::GateSetup setup, LiveFacts facts,
                                   gate::CallRequest request) const {
    std::promise<gate::Answer> answered;
    std::unique_ptr<gate::Gate> gate;
    std::unique_ptr<RunControl> control;
    host.on_loop([&] {
      host.upstreams().on_failed(
          [this](const std::string&, const Error& error) { beside.last_words = error.why; });
      gate = std::make_unique<gate::Gate>(std::move(setup));
      auto opened = RunControl::open(host.executor(), folders.runs(), run_id,
                                     controls_of(*gate, std::move(facts), [] {}));
      if (opened) control = std::move(*opened);
      gate->call(std::move(request),
                 [&answered](gate::Answer answer) { answered.set_value(std::move(answer)); });
    });
    auto future = answered.get_future();
    const bool in_time = wait_unless_stopped(future, interrupt);
    if (!in_time) host.on_loop([&] { gate->close(); });
    auto answer = future.get();
    host.on_loop([&] {
      host.upstreams().on_failed(nullptr);
      control.reset();
      gate.reset();
    });
    if (!in_time && !answer) beside.sent = gate::sent_of(answer.error());
    return in_time ? std::optional(std::move(answer)) : std::nullopt;
  }
};

}  // namespace

Result<Json> call_tool(const project::Project& project, const project::Folders& folders,
                       const Permission& tool, Json arguments, const policy::LayerText& granted,
                       const Questions& questions) {
  const SystemClock clock;
  const Interrupt interrupt;
  auto lock = project::load_lock(project);
  if (!lock) return pass_on(lock);
  if (lock->find_tool(tool.server(), tool.tool()) == nullptr) {
    return fail(ErrorId::kCallUnknownTool, fmt::format("mcpac.lock has no tool {}", tool.text()),
                {.fix = "mcpac tools list"});
  }
  PolicyWorld world(project, clock);
  world.tools = servers::tool_schemas(*lock);
  auto authority = rules_of(project, folders, world, granted, questions);
  if (!authority) return pass_on(authority);
  const auto by_rules = servers::places_of_servers(project, folders, *lock, *authority);
  // What is not granted at all is refused before a server is started for it; the gate says the
  // same.
  const bool hopeless = authority->coverage(tool, "") == policy::Coverage::kMissing;
  const auto needs = project::needs_of(project, *lock->find_server(tool.server()),
                                       *lock->find_tool(tool.server(), tool.tool()),
                                       hopeless ? nullptr : &by_rules);
  if (needs.is_withheld()) return std::unexpected(project::withheld_error(tool, needs));
  const auto compiled =
      servers::compile_tools(*lock, {tool.server()}, project::server_checks_of(project.config));
  const auto unusable = std::ranges::find(compiled.unusable, tool.text(), &Error::where);
  if (unusable != compiled.unusable.end()) return std::unexpected(*unusable);
  auto log = audit::RunLog::create(folders.audit(), new_uuid_v7(clock), clock);
  if (!log) return pass_on(log);

  const project::ProjectUse use(folders, project.config_file);
  servers::give_places(project, by_rules);
  servers::Host host(project.config, *lock);
  if (!hopeless) {
    host.start({tool.server()});
    if (auto ready = host.wait_for({tool}, interrupt, questions.warning); !ready)
      return pass_on(ready);
  }
  const LiveApprover approver(host, questions.approver);
  const ApprovalStore store(folders.approvals(), questions.warning, clock);
  const auto binding = bind_run(kProgram, project::digests_of(*lock), project.config, *authority);
  RunMemory memory(store, binding, kProgram);
  const auto ceiling = read_ceiling(project);
  Beside beside;  // written before the answer is
  beside.has_ceiling = ceiling && *ceiling;
  gate::GateSetup setup{
      .tools = &compiled.table,
      .authority = std::move(*authority),
      .declared = {.permissions = {tool}, .texts = {tool.text()}},
      .upstream = &host.upstreams(),
      .audit = log->get(),
      .clock = &clock,
      .mode = gate::Mode::kEnforce,
      .on_denied =
          [&beside](const gate::Check& check) { beside.denial = history::to_denial(check); },
      .asking = {.approver = approver.get(), .memory = &memory, .binding = binding}};
  const Json places = servers::to_json(servers::given_places(project));
  auto started = history::record_start(
      {.program = kProgram, .declared_in = "command line", .server_places = places}, setup, *lock,
      folders.audit(), **log);
  if (!started) return pass_on(started);
  std::optional<servers::RecordedConnections> connections(std::in_place, host.config(), **log);
  std::vector<std::string> refused;  // read when nothing tells any more
  std::optional<servers::ToldRefusals> refusals(
      std::in_place, host.config(),
      [&refused](const std::string& text, bool) { refused.push_back(text); });
  const OwnCall own{host, folders, (*log)->run_id(), interrupt, beside};
  auto answer = own.make(std::move(setup),
                         {.program = kProgram,
                          .started = rfc3339_utc(clock.wall_now()),
                          .granted = {},
                          .server_places = [&places] { return places; }},
                         {.permission = tool.text(), .arguments = std::move(arguments)});
  connections.reset();
  refusals.reset();
  for (const std::string& text : refused) questions.warning(text);
  // The call was made; that its record is whole is as much of an answer as its result.
  if (auto closed = (*log)->close(); !closed) return pass_on(closed);
  if (!answer) {
    const auto words = outcome_words(beside.sent);
    return fail(ErrorId::kInterrupted,
                words.empty() ? "interrupted" : fmt::format("interrupted; {}", words),
                {.sent = beside.sent});
  }
  if (!*answer) return std::unexpected(to_error(answer->error(), tool, beside));
  return std::move(**answer);
}

}  // namespace mcpac::run
