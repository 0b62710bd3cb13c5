#include "cli/report_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>

#include "analyzer/github_annotations.h"
#include "analyzer/sarif.h"

namespace mcpac::cli {
namespace {

Format format_named(const std::string& name) {
  if (name == "json") return Format::kJson;
  if (name == "sarif") return Format::kSarif;
  return name == "github" ? Format::kGithub : Format::kHuman;
}

}  // namespace

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

}  // namespace mcpac::cli
