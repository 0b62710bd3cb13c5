#include "cli/permissions_diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include <CLI/CLI.hpp>

#include "analyzer/use_text.h"
#include "cli/read_report.h"
#include "cli/run_options.h"
#include "core/printable.h"
#include "run/check/report_diff.h"

namespace mcpac::cli {
namespace {

struct Options {
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

std::string to_text(const run::ReportDiff& diff) {
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

void diff(Context& context, const Options& options) {
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
    fmt::print("{}", to_text(difference));
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

}  // namespace

void add_permissions_diff(CLI::App& permissions, Context& context) {
  auto options = std::make_shared<Options>();
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

}  // namespace mcpac::cli
