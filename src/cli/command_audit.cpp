#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "audit/log.h"
#include "cli/audit_commands.h"
#include "cli/commands.h"
#include "core/printable.h"
#include "execute/check/authorities.h"

namespace mcpac::cli {
namespace {

bool is_true(const Json& payload, const char* name) {
  const Json* value = find_member(payload, name);
  return value != nullptr && *value == true;
}

// OBSERVED: rules deny it, and with --no-permission-check it was made.
const char* word_of(const Json& payload) {
  if (is_true(payload, "would_deny")) return "OBSERVED";
  return is_true(payload, "allowed") ? "allowed" : "DENIED ";
}

// The texts `name` of the items in the list, behind a word for all of them.
std::string texts_of(const char* word, const Json* list, const char* name) {
  std::string texts;
  if (list == nullptr || !list->is_array()) return texts;
  for (const Json& item : *list) {
    const std::string text = item.is_string() ? item.get<std::string>() : string_member(item, name);
    texts += (texts.empty() ? fmt::format("; {}: ", word) : ", ") + printable(text, 200);
  }
  return texts;
}

// What people look for: whether it was only observed, what it declares, and under which rules.
std::string started_text(const Json& payload) {
  std::string text = string_member(payload, "mode") == "observe" ? " (permission checks off)" : "";
  if (const std::string by = string_member(payload, "lifted_by"); !by.empty())
    text += "; by the word of " + printable(by, 200);
  text += texts_of("declares", find_member(payload, "declared"), "");
  const Json* policy = find_member(payload, "policy");
  const Json* layers = policy == nullptr ? nullptr : find_member(*policy, "layers");
  if (layers == nullptr || !layers->is_array()) return text;
  for (const Json& layer : *layers) {
    const std::string name = string_member(layer, "name");
    if (name == execute::kDeclarationLayer) continue;
    text += texts_of(printable(name, 80).c_str(), find_member(layer, "rules"), "rule");
    text += texts_of(printable(name, 80).c_str(), find_member(layer, "places"), "statement");
  }
  return text;
}

// Targets and reasons hold what programs and servers wrote: none of it may draw a line of its own.
std::string line_of(const audit::Event& event) {
  const Json& payload = event.payload;
  if (event.kind == "RunStarted") {
    return fmt::format("{}  {}  RunStarted {}{}", event.time, event.run_id.substr(0, 13),
                       printable(string_member(payload, "program")), started_text(payload));
  }
  if (event.kind == "RunRefused") {
    return fmt::format("{}  {}  RunRefused {}: {}: {}{}", event.time, event.run_id.substr(0, 13),
                       printable(string_member(payload, "program")),
                       string_member(payload, "error"), printable(string_member(payload, "what")),
                       started_text(payload));
  }
  if (event.kind != "CapabilityCheck") {
    // The policy of a run is some pages of text: shown with --json.
    Json shown = payload;
    if (shown.is_object()) shown.erase("policy");
    return fmt::format("{}  {}  {} {}", event.time, event.run_id.substr(0, 13), event.kind,
                       printable(to_text(shown)));
  }
  return fmt::format("{}  {}  {}  {}  {}  {}", event.time, event.run_id.substr(0, 13),
                     word_of(payload), printable(string_member(payload, "capability")),
                     printable(string_member(payload, "target")),
                     printable(string_member(payload, "reason")));
}

void list_events(Context& context, const std::string& run, const std::string& kind) {
  audit::Query query;
  if (!run.empty()) query.run_id = run;
  auto events = audit::read_events(context.folders.audit(), query);
  if (!events) return context.fail(events.error());
  if (!run.empty() && events->empty()) {
    return context.fail({ErrorId::kUnknownRun, fmt::format("there is no run {}", run),
                         context.folders.audit().string(), "", "mcpac audit list"});
  }
  Json all = Json::array();
  std::size_t shown = 0;
  for (const auto& event : *events) {
    // The log's own signatures are no events of the run: shown to who asks for them.
    if (kind.empty() ? event.kind == audit::kCheckpointKind : event.kind != kind) continue;
    ++shown;
    if (context.json) {
      all.push_back(audit::to_json(event));
    } else {
      fmt::print("{}\n", line_of(event));
    }
  }
  if (context.json) return context.print(all);
  if (shown == 0) context.say("nothing of that is recorded");
}

}  // namespace

void add_audit(CLI::App& app, Context& context) {
  auto* audit = app.add_subcommand("audit", "the record of every decision");
  audit->require_subcommand(1);
  add_common_options(*audit, context);
  add_audit_verify(*audit, context);
  add_audit_accept(*audit, context);
  add_audit_replay(*audit, context);
  add_audit_query(*audit, context);
  auto run = std::make_shared<std::string>();
  auto kind = std::make_shared<std::string>();
  auto* command = audit->add_subcommand("list", "the recorded events, oldest first");
  add_common_options(*command, context);
  command->add_option("--run", *run, "only this run; the start of its id is enough")
      ->type_name("ID");
  command->add_option("--kind", *kind, "only events of this kind")
      ->check(
          CLI::IsMember({"CapabilityCheck", "CallFinished", "RunStarted", "RunRefused", "RunEnded",
                         "Approval", "NetworkCheck", "ConnectionEnded", "Revoked", "ClientAsked",
                         "ClientReplied", "Anomaly", "ChangesKept", "Checkpoint"}));
  command->callback([&context, run, kind] { list_events(context, *run, *kind); });
}

}  // namespace mcpac::cli
