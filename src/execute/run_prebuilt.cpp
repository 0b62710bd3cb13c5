#include "execute/run_prebuilt.h"

#include <fmt/format.h>

#include <system_error>

#include "core/clock.h"
#include "core/ids.h"
#include "execute/agent_run.h"
#include "execute/authorities.h"
#include "execute/host.h"
#include "execute/program_file.h"
#include "execute/tool_tables.h"

namespace mcpac::execute {
namespace {

// The only interpreter that we mount (x86-64 psABI); a program with another one does not run.
constexpr std::string_view kInterpreter = "/lib64/ld-linux-x86-64.so.2";

Result<AgentProgram> make_program(const RunRequest& request) {
  auto file = inspect_program(request.program);
  if (!file) return pass_on(file);
  AgentProgram program{.file = request.program,
                       .arguments = request.arguments,
                       .mounts = {},
                       .profile = sandbox::Profile::kAgent};
  if (file->interpreter.empty()) return program;
  if (file->interpreter != kInterpreter) {
    return fail(
        ErrorId::kProgramUnusable,
        fmt::format("{} wants the interpreter {}", request.program.string(), file->interpreter),
        {.why = "only the system's own loader is there",
         .fix = "link the program statically (-static)"});
  }
  using Access = sandbox::Mount::Access;
  program.profile = sandbox::Profile::kAgentDynamic;
  program.mounts = {
      {"/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", Access::kReadExecute},
      {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", Access::kReadExecute},
      {"/lib64", "/lib64", Access::kReadExecute}};
  return program;
}

// Every tool that some rule of the grants may admit: what the program can be said to have.
std::set<Permission> granted_tools(const policy::Authority& authority,
                                   const policy::ToolSchemas& tools) {
  std::set<Permission> granted;
  for (const auto& [tool, schema] : tools) {
    if (authority.coverage(tool, "") != policy::Coverage::kMissing) granted.insert(tool);
  }
  return granted;
}

Result<void> run(const Project& project, const Folders& folders, RunRequest& request,
                 const Listener& listener, Outcome& outcome) {
  const SystemClock clock;
  const Interrupt interrupt;
  auto warden = sandbox::Warden::start(folders.warden());
  if (!warden) return pass_on(warden);
  auto program = make_program(request);
  if (!program) return pass_on(program);
  auto lock = load_lock(project);
  if (!lock) return pass_on(lock);
  PolicyWorld world(project, clock);
  world.tools = tool_schemas(*lock);
  auto authority = load_authority(project, world, {request.granted});
  if (!authority) return pass_on(authority);
  gate::Declared declared{.permissions = request.enforcement == Enforcement::kObserve
                                             ? std::set<Permission>{}
                                             : granted_tools(*authority, world.tools),
                          .texts = {}};
  if (request.enforcement == Enforcement::kObserve) {
    listener.warning(
        "permission checks are off: calls that would be denied are made, and audited as such");
    for (const auto& [tool, schema] : world.tools) declared.permissions.insert(tool);
  }
  std::set<std::string> servers;
  for (const auto& tool : declared.permissions) {
    servers.insert(tool.server());
    declared.texts.push_back(tool.text());
  }
  Host host(project.config, *lock);
  host.start(servers);
  if (auto ready = host.wait_for(declared.permissions, interrupt); !ready) return ready;

  const auto compiled = compile_tools(*lock, servers);
  outcome.run_id = new_uuid_v7(clock);
  auto log = audit::RunLog::create(folders.audit(), outcome.run_id, clock);
  if (!log) return pass_on(log);
  gate::GateSetup setup{.tools = &compiled.table,
                        .authority = std::move(*authority),
                        .declared = std::move(declared),
                        .upstream = &host.upstreams(),
                        .audit = log->get(),
                        .clock = &clock,
                        .mode = request.enforcement == Enforcement::kObserve
                                    ? gate::Mode::kObserve
                                    : gate::Mode::kEnforce};
  const AgentIo io{.standard_output = listener.standard_output,
                   .standard_error = listener.standard_error,
                   .log = listener.log};
  auto ended =
      run_agent(host, *warden, *program, request.limits, std::move(setup), **log, io, interrupt);
  if (!ended) return pass_on(ended);
  outcome.tier = ended->tier;
  outcome.verdict = ended->verdict;
  outcome.exit_code = exit_code_of(*ended);
  outcome.error = error_of(*ended, request.limits);
  if (const auto signal = interrupt.received()) outcome.exit_code = 128 + *signal;
  outcome.result = std::move(ended->result);
  return {};
}

}  // namespace

Outcome run_prebuilt(const Project& project, const Folders& folders, RunRequest request,
                     const Listener& listener) {
  Outcome outcome;
  if (auto done = run(project, folders, request, listener, outcome); !done) {
    outcome.error = std::move(done.error());
    outcome.exit_code = static_cast<int>(exit_code_of(outcome.error->id));
  }
  return outcome;
}

}  // namespace mcpac::execute
