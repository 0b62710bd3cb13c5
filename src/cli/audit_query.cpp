// SPDX-License-Identifier: Apache-2.0

// mcpac audit query: questions to the recorded runs.
#include "history/records/audit_query.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/audit_commands.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "history/records/connection_query.h"
#include "history/records/run_files.h"
#include "history/records/run_record.h"

namespace mcpac::cli {
namespace {

using Events = std::vector<audit::Event>;

std::string short_id(const std::string& run_id) {
  return run_id.substr(0, 13);
}

// The rows as JSON, or a line each; what there is none of is said.
template <class Row>
void show(Context& context, const std::vector<Row>& rows, const char* none,
          const std::function<std::string(const Row&)>& line) {
  if (context.json) return context.print(history::to_json(rows));
  for (const Row& row : rows) fmt::print("{}\n", line(row));
  if (rows.empty()) context.say(none);
}

// When, in which runs, and what was asked for.
std::string where_denied(const history::DeniedByRule& row) {
  constexpr std::size_t kShownRuns = 3;
  std::string text =
      row.first == row.last ? row.last : fmt::format("{} to {}", row.first, row.last);
  std::size_t shown = 0;
  for (const auto& run : row.runs) {
    if (++shown > kShownRuns) break;
    text += (shown == 1 ? "  run " : ", ") + short_id(run);
  }
  if (row.runs.size() > kShownRuns)
    text += fmt::format(" and {} more", row.runs.size() - kShownRuns);
  shown = 0;
  for (const auto& value : row.values)
    text += (++shown == 1 ? "  of " : ", ") + printable(value, 200);
  if (row.more_values > 0) text += " and in " + counted(row.more_values, "more call") + " others";
  return text;
}

void denied(Context& context, const Events& events, const std::string& rule) {
  auto rows = history::denied_by_rule(events);
  std::erase_if(rows,
                [&rule](const auto& row) { return row.rule.find(rule) == std::string::npos; });
  show<history::DeniedByRule>(context, rows, "no call was denied", [](const auto& row) {
    return fmt::format("{:>6}  {}{}{}  {}: {}  ({})\n        {}", row.calls,
                       row.observed ? "OBSERVED, made all the same: " : "",
                       printable(row.capability),
                       row.target.empty() ? "" : " " + printable(row.target),
                       printable(row.layer.empty() ? "the gate" : row.layer),
                       printable(row.rule.empty() ? "no rule" : row.rule), printable(row.reason),
                       where_denied(row));
  });
}

void show_touches(Context& context, const Result<std::vector<history::Touch>>& rows) {
  if (!rows) return context.fail(rows.error());
  show<history::Touch>(context, *rows, "no run could", [](const auto& row) {
    return fmt::format(
        "{}  {}  {}  {}  {}", row.time, short_id(row.run_id),
        row.did      ? "did  "
        : row.failed ? "tried"
                     : "could",
        printable(row.program),
        printable(row.argument.empty() ? row.permission
                                       : fmt::format("{} by {}", row.permission, row.argument)));
  });
}

void connected(Context& context, const Events& events, const std::string& destination) {
  show_touches(context, history::who_could_connect(events, destination));
}

void touched(Context& context, const Events& events, const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error).lexically_normal();
  const auto folder = context.folders.audit();
  show_touches(context,
               history::who_could_touch(events, absolute.string(), [&folder](const auto& digest) {
                 return history::kept_lock(folder, digest);
               }));
}

void first_use(Context& context, const Events& events, const std::string& permission) {
  auto rows = history::first_uses(events);
  std::erase_if(rows, [&permission](const auto& row) {
    return !permission.empty() && row.capability != permission;
  });
  show<history::FirstUse>(context, rows, "no call was allowed", [](const auto& row) {
    return fmt::format("{}  {}  {}  {}", row.time, short_id(row.run_id), printable(row.capability),
                       printable(row.target));
  });
}

void unused(Context& context, const Events& events) {
  const auto rows = history::granted_never_used(events);
  show<history::Unused>(context, rows, "all that was granted was used", [](const auto& row) {
    std::string text = fmt::format("{}  {}", short_id(row.run_id), printable(row.program));
    for (const auto& rule : row.rules) text += "\n    " + printable(rule);
    for (const auto& name : row.permissions) text += "\n    declared: " + printable(name);
    return text;
  });
}

void after_revocation(Context& context, const Events& events) {
  const auto rows = history::calls_after_revocation(events);
  show<history::LateCall>(context, rows, "none, as it must be", [](const auto& row) {
    return fmt::format("{}  {}  {} was allowed, and taken back at {}", row.time,
                       short_id(row.run_id), printable(row.capability), row.revoked);
  });
  if (rows.empty()) return;
  context.fail({ErrorId::kCallAfterRevocation,
                counted(rows.size(), "call") + (rows.size() == 1 ? " was" : " were") +
                    " allowed after the permission was taken back",
                context.folders.audit().string(), "a revocation holds for all later calls",
                "mcpac audit verify says whether the log is the one that was written"});
}

// Without a run all of them, which the empty name stands for.
Result<history::RunEvents> read_runs(const std::filesystem::path& folder, const std::string& run) {
  if (!run.empty()) return history::events_of_run(folder, run);
  auto events = audit::read_events(folder, {.run_id = std::nullopt});
  if (!events) return pass_on(events);
  return history::RunEvents{{""}, std::move(*events)};
}

using Ask = std::function<void(Context&, const Events&, const std::string&)>;

void add_question(CLI::App& query, Context& context, const char* name, const char* what,
                  const char* argument, const Ask& ask) {
  auto run = std::make_shared<std::string>();
  auto value = std::make_shared<std::string>();
  auto* command = query.add_subcommand(name, what);
  add_common_options(*command, context);
  command
      ->add_option("--run", *run,
                   "only this run, in all its files; the start of the id of one is enough")
      ->type_name("ID");
  const std::string option = argument;
  if (!option.empty()) {
    auto* given = command->add_option(option, *value);
    if (option == "PATH" || option == "DESTINATION") given->required();
  }
  command->callback([&context, run, value, ask] {
    const auto folder = context.folders.audit();
    const auto read = read_runs(folder, *run);
    if (!read) return context.fail(read.error());
    std::set<std::string> tampered;
    for (const std::string& file : read->files) {
      auto found = tampered_runs(folder, file);
      if (!found) return context.fail(found.error());
      tampered.merge(*found);
    }
    ask(context, read->events, *value);
    // After the answer: it is what the records say, and that they say it is worth nothing.
    if (!tampered.empty()) context.fail(tampered_error(folder, *tampered.begin()));
  });
}

}  // namespace

void add_audit_query(CLI::App& audit, Context& context) {
  auto* query = audit.add_subcommand("query", "questions to the recorded runs");
  query->require_subcommand(1);
  add_question(*query, context, "denied",
               "denied calls and connections by rule: which, how often, why", "--rule", denied);
  add_question(*query, context, "touched",
               "which runs did touch PATH, and which could have, by which tool and argument",
               "PATH", touched);
  add_question(*query, context, "connected",
               "which runs did connect to DESTINATION (HOST:PORT), tried to, and could have",
               "DESTINATION", connected);
  add_question(*query, context, "first-use",
               "when each tool was first used on each target, and each destination connected to",
               "PERMISSION", first_use);
  add_question(*query, context, "unused", "what runs were granted and never used", "",
               [](Context& c, const Events& events, const std::string&) { unused(c, events); });
  add_question(
      *query, context, "after-revocation",
      "calls that were allowed after their permission was taken back: there must be none; exit 77",
      "",
      [](Context& c, const Events& events, const std::string&) { after_revocation(c, events); });
}

}  // namespace mcpac::cli
