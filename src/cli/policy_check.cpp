// mcpac policy check: whether files of rules load, hold their self-tests, and what they cannot do.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/policy_commands.h"
#include "cli/rule_reader.h"
#include "core/printable.h"
#include "policy/explain/lint.h"

namespace mcpac::cli {
namespace {

// The file as a layer by itself, as mcpac.policy or --policy would have it.
Result<policy::FileSummary> check_file(const RuleReader& reader, const std::string& file) {
  auto rules = execute::read_rules(file);
  if (!rules) return pass_on(rules);
  auto loaded = reader.load(*rules);
  if (!loaded) return pass_on(loaded);
  auto summary = policy::summarize({rules->name, rules->text});
  if (!summary) return summary;
  for (const auto& asked : loaded->asked_allows())
    summary->notes.push_back({asked.allow_place, asked.in_words()});
  return summary;
}

Json to_json(const std::string& file, const Result<policy::FileSummary>& summary) {
  Json json = {{"file", file}, {"ok", summary.has_value()}};
  if (!summary) {
    json["error"] = cli::to_json(summary.error())["error"];
    return json;
  }
  json["rules"] = summary->rules;
  json["places"] = summary->places;
  json["self_tests"] = summary->self_tests;
  json["profiles"] = summary->profiles;
  json["notes"] = Json::array();
  for (const auto& note : summary->notes)
    json["notes"].push_back({{"place", note.place}, {"note", note.text}});
  return json;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void check_files(Context& context, const std::vector<std::string>& files) {
  auto reader = RuleReader::open(context);
  if (!reader) return context.fail(reader.error());
  Json all = Json::array();
  for (const std::string& file : files) {
    const auto summary = check_file(**reader, file);
    all.push_back(to_json(file, summary));
    if (!summary && context.json)
      context.exit_code = static_cast<int>(exit_code_of(summary.error().id));
    if (context.json) continue;
    if (!summary) {
      context.fail(summary.error());
      continue;
    }
    const std::string places = summary->places == 0 ? "" : ", " + counted(summary->places, "place");
    fmt::print("{}: ok, {}{}, {}\n", printable(file), counted(summary->rules, "rule"), places,
               counted(summary->self_tests, "self-test"));
    for (const auto& note : summary->notes)
      fmt::print("{}: note: {}\n", printable_in_place(note.place), printable_in_place(note.text));
  }
  if (context.json) context.print({{"files", std::move(all)}});
}

}  // namespace

void add_policy_check(CLI::App& policy, Context& context) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto* command = policy.add_subcommand(
      "check",
      "load files of rules against the lock and run their self-tests; exit 78 when one "
      "does not hold up");
  add_common_options(*command, context);
  command->add_option("FILE", *files, "files of rules")->required();
  command->callback([&context, files] { check_files(context, *files); });
}

}  // namespace mcpac::cli
