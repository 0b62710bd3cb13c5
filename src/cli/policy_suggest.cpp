// SPDX-License-Identifier: Apache-2.0

// mcpac policy suggest: the least policy that admits a program, or what a recorded run did.
#include <fmt/format.h>

#include <filesystem>

#include <CLI/CLI.hpp>

#include "cli/policy_commands.h"
#include "cli/read_report.h"
#include "cli/rule_reader.h"
#include "cli/run_options.h"
#include "core/file.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "history/records/run_files.h"
#include "policy/text/format.h"
#include "run/check/suggest_policy.h"

namespace mcpac::cli {
namespace {

namespace fs = std::filesystem;

struct SuggestOptions {
  std::string subject;
  std::string output;
  bool force = false;
  std::shared_ptr<std::string> tier;
};

// What looks like the start of a run's id and is no file.
bool is_run(const std::string& subject) {
  std::error_code error;
  return subject != "-" && !fs::exists(subject, error) && subject.size() >= 8 &&
         subject.find_first_not_of("0123456789abcdef-") == std::string::npos;
}

Result<std::vector<run::SuggestedRule>> of_run(const Context& context, const RuleReader& reader,
                                               const std::string& run) {
  auto recorded = history::events_of_run(context.folders.audit(), run);
  if (!recorded) return pass_on(recorded);
  return run::suggest_for(recorded->events, reader.world());
}

Result<std::vector<run::SuggestedRule>> of_source(Context& context, const RuleReader& reader,
                                                  const SuggestOptions& options) {
  auto read = read_report(context, {options.subject}, "", *options.tier);
  if (!read) return pass_on(read);
  if (read->report.verdict != analyzer::Verdict::kOk) {
    return fail(ErrorId::kFindingRefuses, fmt::format("{} would not run", options.subject),
                {.why = "what it needs can be told of a program without findings",
                 .fix = "mcpac permissions validate " + options.subject});
  }
  return run::suggest_for(read->report, reader.world());
}

// A policy file, in the spelling of `policy fmt`.
Result<std::string> file_of(const std::string& subject,
                            const std::vector<run::SuggestedRule>& rules) {
  std::string text = fmt::format("# The least that admits {}\n", printable(subject));
  for (const auto& rule : rules) {
    text += fmt::format("# {}\n", printable(rule.why));
    if (!rule.rule.empty()) text += rule.rule + "\n";
  }
  return policy::format({"a suggestion", text});
}

// Existing rules are not lost to a proposal.
Result<void> write_proposal(const SuggestOptions& options, const std::string& text) {
  std::error_code error;
  const bool is_there =
      fs::symlink_status(options.output, error).type() != fs::file_type::not_found;
  if (is_there && !options.force) {
    constexpr std::size_t kMost = std::size_t{1} << 20U;
    const auto known = read_file(options.output, kMost);
    if (known && *known == text) return {};
    const std::string name = shell_quoted(options.output);
    return fail(
        ErrorId::kUsage,
        fmt::format("{} is there already, and holds something else", printable(options.output)),
        {.where = "-o",
         .why = "what stands in it would be lost",
         .fix = fmt::format("another name; or --force, after `mcpac policy suggest {} | "
                            "diff {} -`",
                            printable(shell_quoted(options.subject)), printable(name))});
  }
  return write_file_atomic(options.output, text);
}

void suggest(Context& context, const SuggestOptions& options) {
  auto reader = RuleReader::open(context);
  if (!reader) return context.fail(reader.error());
  auto rules = is_run(options.subject) ? of_run(context, **reader, options.subject)
                                       : of_source(context, **reader, options);
  if (!rules) return context.fail(rules.error());
  const auto text = file_of(options.subject, *rules);
  if (!text) return context.fail(text.error());
  if (!options.output.empty()) {
    if (auto written = write_proposal(options, *text); !written)
      return context.fail(written.error());
  }
  if (context.json) {
    Json list = Json::array();
    for (const auto& rule : *rules) list.push_back({{"rule", rule.rule}, {"why", rule.why}});
    context.print({{"subject", options.subject}, {"rules", std::move(list)}, {"policy", *text}});
  } else if (options.output.empty()) {
    fmt::print("{}", printable_lines(*text));
  } else {
    context.say(fmt::format("wrote {}", printable(options.output)));
  }
}

}  // namespace

void add_policy_suggest(CLI::App& policy, Context& context) {
  auto options = std::make_shared<SuggestOptions>();
  auto* command = policy.add_subcommand(
      "suggest", "the least policy that admits a program, or what a recorded run did");
  add_common_options(*command, context);
  command
      ->add_option("SOURCE|RUN", options->subject,
                   "a program: its source or folder; or the start of a run's id")
      ->required();
  command->add_option("-o,--output", options->output, "write it here")->type_name("FILE");
  command->add_flag("--force", options->force, "overwrite FILE");
  options->tier = add_tier_option(*command);
  command->callback([&context, options] { suggest(context, *options); });
}

}  // namespace mcpac::cli
