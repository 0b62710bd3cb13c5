#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "analyzer/rules.h"
#include "cli/commands.h"
#include "cli/grant_options.h"
#include "cli/run_options.h"
#include "cli/source_argument.h"
#include "execute/analyze_source.h"
#include "execute/program_file.h"
#include "execute/require_granted.h"
#include "execute/suggest_narrow.h"

namespace mcpac::cli {
namespace {

enum class Question : std::uint8_t { kAnalyze, kValidate };

int exit_code_for(const analyzer::Report& report, Question question) {
  if (report.verdict == analyzer::Verdict::kCompileError) return static_cast<int>(ExitCode::kData);
  const bool refused = report.verdict == analyzer::Verdict::kRefused;
  return refused && question == Question::kValidate ? static_cast<int>(ExitCode::kRefused) : 0;
}

struct Options {
  std::string file;
  std::shared_ptr<std::string> tier;
  std::shared_ptr<GrantOptions> grants;  // of validate
  Question question = Question::kAnalyze;
};

bool are_grants_given(const GrantOptions& grants) {
  return !grants.grants.empty() || !grants.asks.empty() || !grants.denies.empty() ||
         !grants.policy_files.empty();
}

// Declared against granted, as a run would do it, where grants were given.
Result<void> check_grants(const Context& context, const analyzer::Report& report,
                          const Options& options) {
  if (!options.grants || !are_grants_given(*options.grants)) return {};
  auto project = context.project();
  if (!project) return pass_on(project);
  auto layer = to_layer(*options.grants);
  if (!layer) return pass_on(layer);
  execute::Listener listener;
  listener.warning = [&context](std::string_view text) { context.warn(text); };
  return execute::would_be_granted(*project, listener, report, std::move(*layer));
}

// What the program could do without, for who asks what it does.
std::vector<execute::Suggestion> suggestions(const Context& context,
                                             const analyzer::Report& report) {
  auto project = context.project();
  if (!project) return {};
  const auto lock = execute::load_lock(*project);
  if (!lock) return {};
  std::map<std::string, std::string> tags;
  for (const auto& server : lock->servers) {
    for (const auto& tool : server.tools) tags[server.name + "." + tool.name] = tool.cpp_name;
  }
  return execute::suggestions(report, tags);
}

void print_analysis(const Context& context, const analyzer::Report& report,
                    const std::string& source) {
  const auto found = suggestions(context, report);
  if (context.json) {
    Json json = analyzer::to_json(report);
    json["suggestions"] = Json::array();
    for (const auto& suggestion : found)
      json["suggestions"].push_back(execute::to_json(suggestion));
    return context.print(json);
  }
  fmt::print("{}", analyzer::to_human_text(report, source));
  for (const auto& suggestion : found) fmt::print("{}", execute::to_human_text(suggestion));
}

void answer(Context& context, const analyzer::Report& report, const std::string& source,
            const Options& options) {
  context.exit_code = exit_code_for(report, options.question);
  if (options.question == Question::kAnalyze) {
    print_analysis(context, report, source);
  } else if (context.json) {
    context.print(analyzer::to_json(report));
  } else {
    fmt::print(stderr, "{}", analyzer::findings_text(report, source));
  }
  if (context.exit_code != 0) return;
  if (auto granted = check_grants(context, report, options); !granted)
    context.fail(granted.error());
}

void ask(Context& context, const Options& options) {
  // A compiled program: its own note is all there is to read.
  if (options.file != "-" && execute::is_elf_file(options.file)) {
    auto report = execute::analyze_binary(options.file);
    return report ? answer(context, *report, "", options) : context.fail(report.error());
  }
  auto source = read_source(options.file, "");
  if (!source) return context.fail(source.error());
  auto project = context.project();
  if (!project) return context.fail(project.error());
  auto report = execute::analyze_source(*project, context.folders, *source, to_tier(*options.tier),
                                        [&context](const char* what) {
                                          if (context.interactive)
                                            context.say(fmt::format("note: {}", what));
                                        });
  if (!report) return context.fail(report.error());
  answer(context, *report, source->text, options);
}

CLI::App* add_question(CLI::App& permissions, Context& context, const char* name, const char* help,
                       const std::shared_ptr<Options>& options) {
  auto* command = permissions.add_subcommand(name, help);
  add_common_options(*command, context);
  command
      ->add_option("FILE", options->file,
                   "the program: its source, - for standard input, or a compiled one")
      ->required();
  options->tier = add_tier_option(*command);
  command->callback([&context, options] { ask(context, *options); });
  return command;
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
               std::make_shared<Options>());
  auto validate = std::make_shared<Options>();
  validate->question = Question::kValidate;
  auto* command = add_question(
      *permissions, context, "validate",
      "exit 77 when a finding refuses the program, or it declares more than is granted", validate);
  validate->grants = add_grant_options(*command);
  auto* rules = permissions->add_subcommand("rules", "every rule of the analyzer, with its reason");
  add_common_options(*rules, context);
  rules->callback([&context] { show_rules(context); });
}

}  // namespace mcpac::cli
