// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "audit/log.h"
#include "cli/audit_commands.h"
#include "cli/commands.h"
#include "core/clock.h"
#include "core/nearest_name.h"
#include "core/printable.h"
#include "core/rfc3339.h"
#include "core/shell_quote.h"
#include "policy/places.h"
#include "policy/text/times.h"
#include "run/check/authorities.h"

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
    if (name == run::kDeclarationLayer) continue;
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

struct ListOptions {
  std::string run;
  std::string kind;
  std::optional<std::string> since;
  std::string tool;
  bool denied = false;
  std::size_t limit = 0;  // 0: all
};

// Whether a text has the shape of a span ("30d") or of a day ("2026-11-27…").
bool is_time_like(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto end = std::ranges::find_if_not(text, is_digit);
  const auto digits = static_cast<std::size_t>(end - text.begin());
  const std::string_view rest = text.substr(digits);
  const bool is_span = rest == "s" || rest == "m" || rest == "min" || rest == "h" || rest == "d";
  constexpr std::size_t kDate = 10;
  const bool is_day = digits == 4 && text.size() >= kDate && text[4] == '-' && text[7] == '-';
  return digits > 0 && (is_span || is_day);
}

// As records have it, so that texts compare as times do.
Result<std::string> since_of(const std::optional<std::string>& given) {
  if (!given) return std::string();
  const std::string& text = *given;
  if (const auto span = policy::parse_duration(text))
    return rfc3339_utc(SystemClock().wall_now() - *span);
  constexpr std::size_t kDate = 10;  // "2026-11-27"
  const auto time = policy::parse_rfc3339(text.size() == kDate ? text + "T00:00:00Z" : text);
  if (time) return rfc3339_utc(*time);
  return fail(
      ErrorId::kUsage,
      fmt::format("'{}' is {}", printable(text), is_time_like(text) ? "out of range" : "no time"),
      {.where = "--since",
       .fix = "a span before now (30m, 2h, 7d), a day (2026-11-27), or a time "
              "(2026-11-27T18:00:00Z)"});
}

// Of one event after the other, in their order.
class Chosen {
 public:
  Chosen(const ListOptions& options, std::string since)
      : options_(options), since_(std::move(since)) {}

  [[nodiscard]] bool has(const audit::Event& event) {
    const bool is_of_tool = options_.tool.empty() || is_about_tool(event);
    // The log's own signatures are no events of the run: shown where `--kind` names them.
    const bool is_of_kind =
        options_.kind.empty() ? event.kind != audit::kCheckpointKind : event.kind == options_.kind;
    return is_of_tool && is_of_kind && event.time >= since_ &&
           (!options_.denied || is_denial(event));
  }

 private:
  static bool is_denial(const audit::Event& event) {
    if (event.kind == "RunRefused") return true;
    const bool is_check = event.kind == "CapabilityCheck" || event.kind == "NetworkCheck";
    return is_check && (!is_true(event.payload, "allowed") || is_true(event.payload, "would_deny"));
  }

  // How a call ended has its number alone.
  bool is_about_tool(const audit::Event& event) {
    const Json* call = find_member(event.payload, "call_id");
    const auto key = std::pair(event.run_id, call == nullptr ? std::string() : to_text(*call));
    if (event.kind == "CallFinished") return calls_.contains(key);
    bool is_meant = event.kind == "NetworkCheck" && is_match(policy::kNetworkPermission);
    // A run that was refused made no call: it is about the tools that it declares.
    if (const Json* declared = find_member(event.payload, "declared");
        event.kind == "RunRefused" && declared != nullptr && declared->is_array()) {
      is_meant = is_meant || std::ranges::any_of(*declared, [this](const Json& one) {
                   return one.is_string() && is_match(permission_of(one.get<std::string>()));
                 });
    }
    for (const char* name : {"capability", "permission"})
      is_meant = is_meant || is_match(string_member(event.payload, name));
    if (is_meant && call != nullptr) calls_.insert(key);
    return is_meant;
  }

  // "server.tool" of "server.tool(where)".
  static std::string permission_of(const std::string& declared) {
    return declared.substr(0, declared.find('('));
  }

  // "server.tool", or "server.*".
  [[nodiscard]] bool is_match(std::string_view permission) const {
    const std::string_view tool = options_.tool;
    if (permission.empty()) return false;
    return tool.ends_with(".*") ? permission.starts_with(tool.substr(0, tool.size() - 1))
                                : permission == tool;
  }

  const ListOptions& options_;
  const std::string since_;
  std::set<std::pair<std::string, std::string>> calls_;
};

// Of a tool that no event is about: what may have been meant by it.
std::string tool_hint(const std::string& tool, const std::vector<audit::Event>& events) {
  std::set<std::string> known;
  std::string server;  // that has recorded tools
  for (const auto& event : events) {
    for (const char* name : {"capability", "permission"}) {
      const std::string text = string_member(event.payload, name);
      if (text.empty()) continue;
      known.insert(text);
      if (text.starts_with(tool + ".")) server = tool;
    }
  }
  if (!server.empty())
    return fmt::format("  fix: --tool {}", shell_quoted(fmt::format("{}.*", printable(server))));
  if (known.contains(tool)) return {};
  std::vector<std::string> names(known.begin(), known.end());
  const auto near = did_you_mean(tool, names);
  return fmt::format("note: no event is about a tool '{}'{}", printable(tool, 100),
                     near.empty() ? std::string("; `mcpac tools list` names the tools of the "
                                                "project")
                                  : "; " + printable(near, 120));
}

void list_events(Context& context, const ListOptions& options) {
  const std::string& run = options.run;
  auto since = since_of(options.since);
  if (!since) return context.fail(since.error());
  audit::Query query;
  if (!run.empty()) query.run_id = run;
  auto events = audit::read_events(context.folders.audit(), query);
  if (!events) return context.fail(events.error());
  if (!run.empty() && events->empty()) {
    return context.fail({ErrorId::kUnknownRun, fmt::format("there is no run {}", run),
                         context.folders.audit().string(), "", "mcpac audit list"});
  }
  Chosen chosen(options, std::move(*since));
  std::vector<const audit::Event*> shown;
  for (const auto& event : *events) {
    if (chosen.has(event)) shown.push_back(&event);
  }
  const bool is_cut = options.limit > 0 && shown.size() > options.limit;
  const std::size_t first = is_cut ? shown.size() - options.limit : 0;
  Json all = Json::array();
  for (std::size_t i = first; i < shown.size(); ++i) {
    if (context.json) {
      all.push_back(audit::to_json(*shown[i]));
    } else {
      fmt::print("{}\n", line_of(*shown[i]));
    }
  }
  if (context.json) return context.print(all);
  if (shown.empty()) context.say("nothing of that is recorded");
  if (shown.empty() && !options.tool.empty()) {
    if (const auto hint = tool_hint(options.tool, *events); !hint.empty()) context.say(hint);
  }
  if (is_cut) context.say(fmt::format("{} earlier: --limit {}", first, shown.size()));
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
  auto options = std::make_shared<ListOptions>();
  auto* command = audit->add_subcommand("list", "the recorded events, oldest first");
  add_common_options(*command, context);
  command->add_option("--run", options->run, "only this run; the start of its id is enough")
      ->type_name("ID");
  command
      ->add_option("--since", options->since,
                   "only from then on: a span before now (30m, 2h, 7d), a day, a time in RFC 3339")
      ->type_name("TIME");
  command->add_flag("--denied", options->denied,
                    "only what was refused: calls, connections and runs, and calls that rules deny "
                    "and --no-permission-check made");
  command->add_option("--tool", options->tool, "only events about this tool, or all of a server's")
      ->type_name("SERVER.TOOL|SERVER.*");
  command->add_option("--limit", options->limit, "only the last so many")
      ->type_name("COUNT")
      ->check(CLI::PositiveNumber);
  command->add_option("--kind", options->kind, "only events of this kind")
      ->check(
          CLI::IsMember({"CapabilityCheck", "CallFinished", "RunStarted", "RunRefused", "RunEnded",
                         "Approval", "NetworkCheck", "ConnectionEnded", "Revoked", "ClientAsked",
                         "ClientReplied", "Anomaly", "ChangesKept", "Checkpoint"}));
  command->callback([&context, options] { list_events(context, *options); });
}

}  // namespace mcpac::cli
