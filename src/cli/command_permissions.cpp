// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "analyzer/github_annotations.h"
#include "analyzer/rules.h"
#include "analyzer/sarif.h"
#include "analyzer/source_texts.h"
#include "analyzer/use_text.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "cli/grant_options.h"
#include "cli/read_report.h"
#include "cli/run_options.h"
#include "cli/source_argument.h"
#include "core/nearest_name.h"
#include "core/printable.h"
#include "run/check/report_diff.h"
#include "run/check/suggest_narrow.h"
#include "run/check/would_be_granted.h"

namespace mcpac::cli {
namespace {

// The forms in which a report is printed: for people, for programs, for code scanning, for reviews.
enum class Format : std::uint8_t { kHuman, kJson, kSarif, kGithub };

struct FormatOptions {
  std::string name;  // of --format; empty: not given
  bool sarif = false;
};

// --format=human|json|sarif|github and --sarif; --json is a common option.
[[nodiscard]] std::shared_ptr<FormatOptions> add_format_options(CLI::App& command);
// kUsage where two of them differ.
[[nodiscard]] Result<Format> chosen_format(const FormatOptions& options, Context& context);

// The whole report on standard output; for people of kProblems only those, on standard error.
enum class Extent : std::uint8_t { kWhole, kProblems };
void print_report(const Context& context, const analyzer::Report& report,
                  const analyzer::SourceTexts& sources, Format format, Extent extent);

Format format_named(const std::string& name) {
  if (name == "json") return Format::kJson;
  if (name == "sarif") return Format::kSarif;
  return name == "github" ? Format::kGithub : Format::kHuman;
}

std::shared_ptr<FormatOptions> add_format_options(CLI::App& command) {
  auto options = std::make_shared<FormatOptions>();
  command
      .add_option("--format", options->name,
                  "human, json, sarif (code scanning), github (annotations of a workflow)")
      ->check(CLI::IsMember({"human", "json", "sarif", "github"}));
  command.add_flag("--sarif", options->sarif, "short for --format=sarif");
  return options;
}

Result<Format> chosen_format(const FormatOptions& options, Context& context) {
  std::vector<Format> wanted;
  if (!options.name.empty()) wanted.push_back(format_named(options.name));
  if (options.sarif) wanted.push_back(Format::kSarif);
  if (context.json) wanted.push_back(Format::kJson);
  if (wanted.empty()) return Format::kHuman;
  if (std::ranges::adjacent_find(wanted, std::not_equal_to()) != wanted.end())
    return fail(ErrorId::kUsage, "--format, --json and --sarif name different formats",
                {.fix = "give one of them"});
  context.json = wanted.front() == Format::kJson;
  return wanted.front();
}

void print_report(const Context& context, const analyzer::Report& report,
                  const analyzer::SourceTexts& sources, Format format, Extent extent) {
  const auto colours = [](bool shows) {
    return shows ? analyzer::Colours::kYes : analyzer::Colours::kNo;
  };
  switch (format) {
    case Format::kJson: context.print(analyzer::to_json(report)); return;
    case Format::kSarif: context.print(analyzer::to_sarif(report, sources, MCPAC_VERSION)); return;
    case Format::kGithub: fmt::print("{}", analyzer::to_github_annotations(report)); return;
    case Format::kHuman: break;
  }
  if (extent == Extent::kWhole) {
    fmt::print("{}", analyzer::to_human_text(report, sources, colours(context.color_out)));
  } else {
    fmt::print(stderr, "{}", analyzer::findings_text(report, sources, colours(context.color)));
  }
}

}  // namespace

namespace {

// `mcpac permissions diff OLD NEW`: permissions that a new version of a program gains over the old.
void add_permissions_diff(CLI::App& permissions, Context& context);

struct DiffOptions {
  std::string before;
  std::string after;
  std::shared_ptr<std::string> tier;
  std::string format;
};

Json to_json(const run::ReportDiff& diff, const analyzer::Report& before,
             const analyzer::Report& after) {
  Json declared = Json::array();
  for (const auto& change : diff.declared) {
    declared.push_back({{"permission", change.permission},
                        {"change", run::to_string(change.kind)},
                        {"before", change.before},
                        {"after", change.after}});
  }
  // In the form that they have in a report.
  analyzer::Report added;
  added.uses = diff.uses;
  added.findings = diff.findings;
  const Json as_report = analyzer::to_json(added);
  return {{"old", before.file},
          {"new", after.file},
          {"more", diff.is_more()},
          {"declared", std::move(declared)},
          {"uses", as_report["uses"]},
          {"uses_hidden", diff.are_uses_hidden},
          {"findings", as_report["findings"]},
          {"refused", diff.is_refused}};
}

std::string text_of_diff(const run::ReportDiff& diff) {
  std::string text;
  for (const auto& change : diff.declared) {
    const std::string before = fmt::format("{}", fmt::join(change.before, ", "));
    const std::string after = fmt::format("{}", fmt::join(change.after, ", "));
    const std::string what = before.empty()  ? after
                             : after.empty() ? before
                                             : fmt::format("{} -> {}", before, after);
    text += fmt::format("{} {:<9} {}\n", change.is_more() ? '+' : '-', run::to_string(change.kind),
                        printable_in_place(what));
  }
  for (const auto& use : diff.uses)
    text += fmt::format("+ uses      {}\n", analyzer::use_text(use));
  if (diff.are_uses_hidden)
    text += "+ uses      what a binary calls cannot be seen: anything that it declares\n";
  for (const auto& finding : diff.findings) {
    text += fmt::format("{} found     {}:{}:{}: {}: {} [{}]\n",
                        finding.severity == analyzer::Severity::kNote ? ' ' : '+',
                        printable_in_place(finding.file), finding.line, finding.column,
                        analyzer::to_string(finding.severity), printable_in_place(finding.message),
                        printable_in_place(finding.rule));
  }
  return text;
}

// Of a program that does not compile nothing is known, so nothing can be said.
Result<analyzer::Report> readable(Context& context, const std::string& file,
                                  const std::string& tier) {
  auto read = read_or_load_report(context, file, tier);
  if (!read) return pass_on(read);
  if (read->report.verdict == analyzer::Verdict::kCompileError) {
    const auto& findings = read->report.findings;
    return fail(ErrorId::kSourceDoesNotCompile, fmt::format("{} does not compile", file),
                {.where = file,
                 .why = findings.empty() ? "" : findings.front().message,
                 .fix = "`mcpac permissions analyze` shows where"});
  }
  return std::move(read->report);
}

void diff(Context& context, const DiffOptions& options) {
  if (context.json && options.format == "human") {
    return context.fail({ErrorId::kUsage, "--format and --json name different formats", "", "",
                         "give one of them"});
  }
  context.json = context.json || options.format == "json";
  auto before = readable(context, options.before, *options.tier);
  if (!before) return context.fail(before.error());
  auto after = readable(context, options.after, *options.tier);
  if (!after) return context.fail(after.error());
  const auto difference = run::diff_reports(*before, *after);
  if (context.json) {
    context.print(to_json(difference, *before, *after));
  } else {
    const std::string name = printable_in_place(options.after);
    const std::string old_name = printable_in_place(options.before);
    fmt::print("{}", text_of_diff(difference));
    if (difference.is_refused) {
      fmt::print("{} is refused: `mcpac permissions analyze` shows why\n", name);
    } else if (difference.is_more()) {
      fmt::print("{} can do what {} could not\n", name, old_name);
    } else {
      fmt::print("{} can do nothing that {} could not\n", name, old_name);
    }
  }
  context.exit_code = difference.is_more() ? static_cast<int>(ExitCode::kRefused) : 0;
}

void add_permissions_diff(CLI::App& permissions, Context& context) {
  auto options = std::make_shared<DiffOptions>();
  auto* command = permissions.add_subcommand(
      "diff", "what a new version of a program can do that the old could not; exit 77 when it can");
  add_common_options(*command, context);
  const char* kinds = "a source, a compiled program, or what analyze --json printed";
  command->add_option("OLD", options->before, kinds)->required();
  command->add_option("NEW", options->after, kinds)->required();
  options->tier = add_tier_option(*command);
  command->add_option("--format", options->format, "human, json")
      ->check(CLI::IsMember({"human", "json"}));
  command->callback([&context, options] { diff(context, *options); });
}

}  // namespace

namespace {

enum class Question : std::uint8_t { kAnalyze, kValidate };

int exit_code_for(const analyzer::Report& report) {
  switch (overall(report)) {
    case analyzer::Verdict::kOk: return 0;
    case analyzer::Verdict::kRefused:
    case analyzer::Verdict::kDenied: return static_cast<int>(ExitCode::kRefused);
    case analyzer::Verdict::kCompileError: break;
  }
  return static_cast<int>(ExitCode::kData);
}

struct Options {
  SourceNames files;
  std::string code;
  std::shared_ptr<std::string> tier;
  std::shared_ptr<GrantOptions> grants;
  std::shared_ptr<FormatOptions> format;
  bool expect_denials = false;
  Question question = Question::kAnalyze;
};

// Declared and used against granted, as a run would do it, where there is a program that could run;
// without grants what it uses against what it declares.
Result<run::GrantAnswer> check_grants(const Context& context, ReadReport& read,
                                      const Options& options) {
  const bool are_given = options.grants->are_given();
  if (read.report.verdict != analyzer::Verdict::kOk) return run::GrantAnswer{};
  if (!are_given && (!read.lock || read.report.uses.empty())) return run::GrantAnswer{};
  auto project = context.project();
  if (!project) return pass_on(project);
  if (!read.lock) {
    auto lock = project::load_lock(*project);
    if (!lock) return pass_on(lock);
    read.lock = std::move(*lock);
  }
  const auto denied = options.expect_denials ? run::DeniedUses::kExpect : run::DeniedUses::kRefuse;
  if (!are_given) return run::would_be_declared(*project, *read.lock, read.report, denied);
  auto layer = to_layer(*options.grants);
  if (!layer) return pass_on(layer);
  run::Listener listener;
  listener.warning = [&context](std::string_view text) { context.warn(text); };
  return run::would_be_granted(*project, *read.lock, listener, read.report, std::move(*layer),
                               denied, context.folders);
}

// Declarations that the program could do without. Of a binary nothing is known to
// narrow.
std::vector<run::Suggestion> suggestions(const ReadReport& read) {
  if (!read.lock) return {};
  std::map<std::string, std::string> tags;
  for (const auto& server : read.lock->servers) {
    for (const auto& tool : server.tools) tags[server.name + "." + tool.name] = tool.cpp_name;
  }
  return run::suggestions(read.report, tags);
}

// A suggestion where its permission is declared.
void print_notice(const analyzer::Report& report, const run::Suggestion& suggestion) {
  const auto declared =
      std::ranges::find(report.declared, suggestion.permission, &analyzer::Declared::permission);
  if (declared == report.declared.end()) return;
  analyzer::Finding notice;
  notice.rule = "suggestion";
  notice.file = declared->file;
  notice.line = declared->line;
  notice.column = declared->column;
  notice.message = suggestion.message;
  notice.fix = suggestion.code;
  fmt::print("{}", analyzer::to_github_annotation(notice));
}

// The whole report, and what the program could do without.
void print_analysis(const Context& context, const ReadReport& read, Format format) {
  const auto found = suggestions(read);
  if (format == Format::kJson) {
    Json json = analyzer::to_json(read.report);
    json["suggestions"] = Json::array();
    for (const auto& suggestion : found) json["suggestions"].push_back(run::to_json(suggestion));
    return context.print(json);
  }
  print_report(context, read.report, read.sources, format, Extent::kWhole);
  if (format == Format::kGithub) {
    for (const auto& suggestion : found) print_notice(read.report, suggestion);
  }
  if (format != Format::kHuman) return;
  for (const auto& suggestion : found) fmt::print("{}", run::to_human_text(suggestion));
}

void answer(Context& context, ReadReport read, Format format, const Options& options) {
  auto granted = check_grants(context, read, options);
  if (!granted) return context.fail(granted.error());
  if (options.question == Question::kAnalyze) {
    print_analysis(context, read, format);
  } else {
    print_report(context, read.report, read.sources, format, Extent::kProblems);
  }
  context.exit_code = exit_code_for(read.report);
  if (!granted->refusal) return;
  Error& refusal = *granted->refusal;
  // Printed above already, with the line and the fix.
  if (format == Format::kHuman && refusal.id != ErrorId::kToolWithheld)
    refusal.why = refusal.fix = "";
  context.fail(refusal);
}

void ask(Context& context, const Options& options) {
  const auto format = chosen_format(*options.format, context);
  if (!format) return context.fail(format.error());
  auto read = read_report(context, options.files.all(), options.code, *options.tier);
  if (!read) return context.fail(read.error());
  answer(context, std::move(*read), *format, options);
}

void add_question(CLI::App& permissions, Context& context, const char* name, const char* help,
                  Question question) {
  auto options = std::make_shared<Options>();
  options->question = question;
  auto* command = permissions.add_subcommand(name, help);
  add_common_options(*command, context);
  command->add_option("FILE", options->files.arguments,
                      "the program: its sources or their folder, - for standard input, or a "
                      "compiled one");
  command->add_option("-f,--file", options->files.options, "the same")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("-c,--code", options->code, "the program's source as text");
  options->tier = add_tier_option(*command);
  options->grants = add_grant_options(*command);
  options->format = add_format_options(*command);
  add_expect_denials(*command, options->expect_denials);
  command->callback([&context, options] { ask(context, *options); });
}

// An unknown name gets the nearest one.
Error unknown_rule(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& rule : analyzer::rules()) names.emplace_back(rule.name);
  const std::string near = did_you_mean(name, names);
  return {ErrorId::kUsage, fmt::format("there is no rule '{}'", printable(name)), "", "",
          near.empty() ? "`mcpac permissions rules` lists them" : near};
}

void show_rules(Context& context, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (analyzer::find_rule(name) == nullptr) return context.fail(unknown_rule(name));
  }
  Json all = Json::array();
  for (const auto& rule : analyzer::rules()) {
    if (!names.empty() && std::ranges::find(names, rule.name) == names.end()) continue;
    all.push_back({{"rule", rule.name},
                   {"severity", analyzer::to_string(rule.severity)},
                   {"reason", rule.reason},
                   {"example", rule.example}});
    if (context.json) continue;
    fmt::print("{:<24} {:<8} {}\n", rule.name, analyzer::to_string(rule.severity), rule.reason);
    for (const auto line : std::views::split(rule.example, '\n'))
      fmt::print("{:33} {}\n", "", printable_in_place(std::string_view(line)));
  }
  if (context.json) context.print(all);
}

}  // namespace

void add_permissions(CLI::App& app, Context& context) {
  auto* permissions = app.add_subcommand("permissions", "what a program declares, uses and hides");
  permissions->require_subcommand(1);
  add_common_options(*permissions, context);
  add_question(*permissions, context, "analyze",
               "report what the program declares and uses, and what given grants make of it",
               Question::kAnalyze);
  add_question(*permissions, context, "validate",
               "the same question for scripts: prints what speaks against the program",
               Question::kValidate);
  add_permissions_diff(*permissions, context);
  auto* rules = permissions->add_subcommand("rules", "every rule of the analyzer, with its reason");
  add_common_options(*rules, context);
  auto names = std::make_shared<std::vector<std::string>>();
  rules->add_option("RULE", *names, "only these");
  rules->callback([&context, names] { show_rules(context, *names); });
}

}  // namespace mcpac::cli
