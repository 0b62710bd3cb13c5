#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "analyzer/rules.h"
#include "cli/commands.h"
#include "cli/run_options.h"
#include "cli/source_argument.h"
#include "execute/analyze_source.h"

namespace mcpac::cli {
namespace {

enum class Question : std::uint8_t { kAnalyze, kValidate };

int exit_code_for(const analyzer::Report& report, Question question) {
  if (report.verdict == analyzer::Verdict::kCompileError) return static_cast<int>(ExitCode::kData);
  const bool refused = report.verdict == analyzer::Verdict::kRefused;
  return refused && question == Question::kValidate ? static_cast<int>(ExitCode::kRefused) : 0;
}

void ask(Context& context, const std::string& file, sandbox::Tier lowest_tier, Question question) {
  auto source = read_source(file, "");
  if (!source) return context.fail(source.error());
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto report =
      execute::analyze_source(*project, context.folders, *source, lowest_tier, [&context] {
        if (context.interactive)
          context.say("note: first use of this lock: precompiling its headers, once");
      });
  if (!report) return context.fail(report.error());
  context.exit_code = exit_code_for(*report, question);
  if (context.json) return context.print(analyzer::to_json(*report));
  if (question == Question::kAnalyze) {
    fmt::print("{}", analyzer::to_human_text(*report, source->text));
  } else {
    fmt::print(stderr, "{}", analyzer::findings_text(*report, source->text));
  }
}

void add_question(CLI::App& permissions, Context& context, const char* name, const char* help,
                  Question question) {
  auto file = std::make_shared<std::string>();
  auto* command = permissions.add_subcommand(name, help);
  add_common_options(*command, context);
  command->add_option("FILE", *file, "the program's source, or - for standard input")->required();
  auto tier = add_tier_option(*command);
  command->callback(
      [&context, file, tier, question] { ask(context, *file, to_tier(*tier), question); });
}

void show_rules(const Context& context) {
  Json all = Json::array();
  for (const auto& rule : analyzer::rules()) {
    all.push_back({{"rule", rule.name},
                   {"severity", analyzer::to_string(rule.severity)},
                   {"reason", rule.reason},
                   {"example", rule.example}});
    if (!context.json)
      fmt::print("{:<24} {:<8} {}\n{:33} e.g. {}\n", rule.name, analyzer::to_string(rule.severity),
                 rule.reason, "", rule.example);
  }
  if (context.json) context.print(all);
}

}  // namespace

void add_permissions(CLI::App& app, Context& context) {
  auto* permissions = app.add_subcommand("permissions", "what a program declares, uses and hides");
  permissions->require_subcommand(1);
  add_common_options(*permissions, context);
  add_question(*permissions, context, "analyze", "report what the program declares and uses",
               Question::kAnalyze);
  add_question(*permissions, context, "validate", "exit 77 when any finding refuses the program",
               Question::kValidate);
  auto* rules = permissions->add_subcommand("rules", "every rule of the analyzer, with its reason");
  add_common_options(*rules, context);
  rules->callback([&context] { show_rules(context); });
}

}  // namespace mcpac::cli
