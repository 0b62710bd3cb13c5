#include "execute/supervise.h"

#include <fmt/format.h>

#include <cstring>

#include "core/ids.h"
#include "execute/tool_tables.h"
#include "gate/anomalies.h"

namespace mcpac::execute {

std::set<std::string> servers_of(const std::set<Permission>& tools) {
  std::set<std::string> servers;
  for (const auto& tool : tools) servers.insert(tool.server());
  return servers;
}

void note_interrupt(const Interrupt& interrupt, Result<void>& done, Outcome& outcome) {
  const auto signal = interrupt.received();
  const bool ended_by_itself =
      done && outcome.verdict && outcome.verdict->kind != sandbox::Verdict::Kind::kKilled;
  if (!signal || ended_by_itself) return;
  outcome.error = Error{ErrorId::kInterrupted,
                        fmt::format("interrupted by {}", ::sigdescr_np(*signal)), "", "", ""};
  outcome.exit_code = 128 + *signal;
  done = {};
}

Result<void> supervise(const RunParts& parts, const AgentProgram& program, const RunLimits& limits,
                       RunAuthority authority, Outcome& outcome) {
  const auto compiled = compile_tools(parts.lock, servers_of(authority.declared.permissions));
  for (const Error& error : compiled.unusable) {
    const auto permission = Permission::parse(error.where);
    if (permission && authority.declared.permissions.contains(*permission))
      return std::unexpected(error);
  }
  outcome.run_id = new_uuid_v7(parts.clock);
  auto log = audit::RunLog::create(parts.folders.audit(), outcome.run_id, parts.clock);
  if (!log) return pass_on(log);
  gate::GateSetup setup{.tools = &compiled.table,
                        .authority = std::move(authority.authority),
                        .declared = std::move(authority.declared),
                        .upstream = &parts.host.upstreams(),
                        .audit = log->get(),
                        .clock = &parts.clock,
                        .mode = authority.enforcement == Enforcement::kObserve
                                    ? gate::Mode::kObserve
                                    : gate::Mode::kEnforce,
                        .on_denied = [&outcome](const gate::Check& check) {
                          outcome.denials.add(check);  // read when the loop is done with the gate
                        }};
  const AgentIo io{.standard_output = parts.listener.standard_output,
                   .standard_error = parts.listener.standard_error,
                   .output_sink = parts.listener.output_sink,
                   .error_sink = parts.listener.error_sink,
                   .log = parts.listener.log};
  gate::Anomalies anomalies(**log);
  parts.host.on_loop([&] {
    parts.host.upstreams().on_drift([&anomalies](std::string_view what, const std::string& name) {
      anomalies.note(what, name);
    });
  });
  auto ended = run_agent(parts.host, parts.warden, program, limits, std::move(setup), **log, io,
                         parts.interrupt);
  parts.host.on_loop([&] {
    parts.host.upstreams().on_drift(nullptr);
    anomalies.summarize();
  });
  if (!ended) return pass_on(ended);
  outcome.tier = ended->tier;
  outcome.verdict = ended->verdict;
  outcome.exit_code = exit_code_of(*ended);
  outcome.error = error_of(*ended, limits);
  outcome.result = std::move(ended->result);
  return {};
}

}  // namespace mcpac::execute
