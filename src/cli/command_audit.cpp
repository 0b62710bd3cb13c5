#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "audit/log.h"
#include "cli/audit_commands.h"
#include "cli/commands.h"
#include "core/printable.h"

namespace mcpac::cli {
namespace {

// Targets and reasons hold what programs and servers wrote: none of it may draw a line of its own.
std::string line_of(const audit::Event& event) {
  const Json& payload = event.payload;
  if (event.kind != "CapabilityCheck") {
    // The policy of a run is some pages of text: shown with --json.
    Json shown = payload;
    if (shown.is_object()) shown.erase("policy");
    return fmt::format("{}  {}  {} {}", event.time, event.run_id.substr(0, 13), event.kind,
                       printable(to_text(shown)));
  }
  const Json* allowed = find_member(payload, "allowed");
  const bool yes = allowed != nullptr && allowed->is_boolean() && allowed->get<bool>();
  return fmt::format("{}  {}  {}  {}  {}  {}", event.time, event.run_id.substr(0, 13),
                     yes ? "allowed" : "DENIED ", printable(string_member(payload, "capability")),
                     printable(string_member(payload, "target")),
                     printable(string_member(payload, "reason")));
}

void list(Context& context, const std::string& run, const std::string& kind) {
  audit::Query query;
  if (!run.empty()) query.run_id = run;
  auto events = audit::read_events(context.folders.audit(), query);
  if (!events) return context.fail(events.error());
  if (!run.empty() && events->empty()) {
    return context.fail({ErrorId::kUnknownRun, fmt::format("there is no run {}", run),
                         context.folders.audit().string(), "", "mcpac audit list"});
  }
  Json all = Json::array();
  for (const auto& event : *events) {
    // The log's own signatures are no events of the run: shown to who asks for them.
    if (kind.empty() ? event.kind == audit::kCheckpointKind : event.kind != kind) continue;
    if (context.json) {
      all.push_back(audit::to_json(event));
    } else {
      fmt::print("{}\n", line_of(event));
    }
  }
  if (context.json) context.print(all);
}

}  // namespace

void add_audit(CLI::App& app, Context& context) {
  auto* audit = app.add_subcommand("audit", "the record of every decision");
  audit->require_subcommand(1);
  add_common_options(*audit, context);
  add_audit_verify(*audit, context);
  add_audit_replay(*audit, context);
  add_audit_query(*audit, context);
  auto run = std::make_shared<std::string>();
  auto kind = std::make_shared<std::string>();
  auto* command = audit->add_subcommand("list", "the recorded events, oldest first");
  add_common_options(*command, context);
  command->add_option("--run", *run, "only this run; the start of its id is enough")
      ->type_name("ID");
  command->add_option("--kind", *kind, "only events of this kind")
      ->check(CLI::IsMember({"CapabilityCheck", "CallFinished", "RunStarted", "RunEnded",
                             "Approval", "NetworkCheck", "ConnectionEnded", "Revoked", "Anomaly",
                             "ChangesKept", "Checkpoint"}));
  command->callback([&context, run, kind] { list(context, *run, *kind); });
}

}  // namespace mcpac::cli
