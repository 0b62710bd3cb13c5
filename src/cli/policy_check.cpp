// SPDX-License-Identifier: Apache-2.0

// mcpac policy check: whether files of rules load, hold their self-tests, and what they cannot do.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>

#include <CLI/CLI.hpp>

#include "cli/confine_entry.h"
#include "cli/policy_commands.h"
#include "cli/rule_reader.h"
#include "cli/written.h"
#include "core/file.h"
#include "core/printable.h"
#include "core/quantity.h"
#include "policy/explain/lint.h"
#include "run/check/server_root.h"

namespace mcpac::cli {
namespace {

// Rules that no file has yet come over standard input, or a pipe of the shell (`<(…)`): a command
// that names one waits for it.
Result<policy::PolicyFile> rules_of(const std::string& file) {
  constexpr std::size_t kMostRules = std::size_t{1} << 20U;
  const bool is_input = file == "-" || file == "/dev/stdin";
  if (!is_input && !file.starts_with("/dev/fd/") && !file.starts_with("/proc/self/fd/"))
    return run::read_rules(file);
  const std::string name = is_input ? "standard input" : file;
  const UniqueFd opened(is_input ? ::dup(0)
                                 : ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!opened)
    return mcpac::fail(ErrorId::kFileUnreadable, fmt::format("cannot open {}", printable(name)),
                       {.where = printable(name), .fix = "name a file, or - for standard input"});
  auto text = read_descriptor(opened.get(), name, kMostRules);
  if (!text) return pass_on(text);
  return policy::PolicyFile(std::move(*text), printable(name));
}

// The file as a layer by itself, as mcpac.policy or --policy would have it.
Result<policy::FileSummary> check_file(const RuleReader& reader, const std::string& file) {
  auto rules = rules_of(file);
  if (!rules) return pass_on(rules);
  auto loaded = reader.load(*rules);
  if (!loaded) return pass_on(loaded);
  const policy::SourceText source{rules->name, rules->text};
  auto summary = policy::summarize(source, &reader.world().tools);
  if (!summary) return summary;
  // One line for each kind of look at a file that loads.
  const auto add = [&summary](std::vector<policy::Note> notes) {
    std::ranges::move(notes, std::back_inserter(summary->notes));
  };
  const auto environment = reader.world().environment();
  add(policy::find_overlaps(source, environment));
  add(policy::find_wildcards(source, &environment));
  for (const auto& asked : loaded->asked_allows()) {
    const bool is_told = std::ranges::any_of(summary->notes, [&](const policy::Note& note) {
      return note.kind == "shadowed" && note.place == asked.allow_place;
    });
    if (!is_told) add({{.place = asked.allow_place, .text = asked.in_words(), .kind = "asked"}});
  }
  // Read beside the file, from its top.
  std::multimap<std::size_t, policy::Note> by_line;
  for (auto& note : summary->notes) {
    std::size_t line = 0;
    const std::string_view number = std::string_view(note.place).substr(note.place.rfind(':') + 1);
    std::from_chars(number.data(), number.data() + number.size(), line);
    by_line.emplace(line, std::move(note));
  }
  summary->notes.clear();
  for (auto& [line, note] : by_line) summary->notes.push_back(std::move(note));
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
    json["notes"].push_back({{"place", note.place},
                             {"note", note.text},
                             {"kind", note.kind},
                             {"why", note.why},
                             {"fix", note.fix}});
  return json;
}

void check_files(Context& context, const std::vector<std::string>& files) {
  auto reader = RuleReader::open(context);
  if (!reader) return context.fail(reader.error());
  Json all = Json::array();
  bool names_place_within = false;
  std::set<std::string> path_servers;
  for (const std::string& file : files) {
    const auto summary = check_file(**reader, file);
    names_place_within = names_place_within || (summary && summary->names_place_within);
    if (summary) path_servers.insert(summary->path_servers.begin(), summary->path_servers.end());
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
    for (const auto& note : summary->notes) {
      fmt::print("{}: note: {}\n", printable_in_place(note.place), printable_in_place(note.text));
      if (!note.why.empty()) fmt::print("  why: {}\n", printable_in_place(note.why));
      if (!note.fix.empty()) fmt::print("  fix: {}\n", printable_in_place(note.fix));
    }
  }
  const auto held = with_servers((*reader)->project(), path_servers);
  std::vector<std::string> hints = run::servers_without_root(held);
  std::ranges::move(notes_on_unconfined(held), std::back_inserter(hints));
  if (names_place_within)
    std::ranges::move(run::proposed_entry_only(held, (*reader)->lock()), std::back_inserter(hints));
  if (context.json) return context.print({{"files", std::move(all)}, {"hints", hints}});
  for (const auto& hint : hints) fmt::print("note: {}\n", printable_in_place(hint));
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
