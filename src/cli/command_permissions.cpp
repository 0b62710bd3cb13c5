#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include <CLI/CLI.hpp>

#include "analyzer/github_annotations.h"
#include "analyzer/rules.h"
#include "cli/commands.h"
#include "cli/grant_options.h"
#include "cli/permissions_diff.h"
#include "cli/read_report.h"
#include "cli/report_format.h"
#include "cli/run_options.h"
#include "cli/source_argument.h"
#include "core/nearest_name.h"
#include "core/printable.h"
#include "run/check/suggest_narrow.h"
#include "run/check/would_be_granted.h"

namespace mcpac::cli {
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
