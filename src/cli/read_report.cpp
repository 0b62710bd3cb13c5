// SPDX-License-Identifier: Apache-2.0

#include "cli/read_report.h"

#include <fmt/format.h>

#include "analyzer/saved_report.h"
#include "cli/persons_word.h"
#include "cli/run_options.h"
#include "cli/source_argument.h"
#include "run/analyze_source.h"
#include "toolchain/program_file.h"

namespace mcpac::cli {
namespace {

bool is_json(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

Result<ReadReport> analyzed(Context& context, const toolchain::Source& source,
                            const std::string& tier) {
  // The source may be hostile, and the compiler's sandbox is as weak as a run's.
  const sandbox::Tier lowest = to_tier(tier);
  if (auto word = word_for_tier(lowest); !word) return pass_on(word);
  auto project = context.project();
  if (!project) return pass_on(project);
  auto lock = project::load_lock(*project);
  if (!lock) return pass_on(lock);
  auto report = run::analyze_source(*project, *lock, context.folders, source, lowest,
                                    [&context](const char* what) {
                                      if (!context.json) context.say(fmt::format("note: {}", what));
                                    });
  if (!report) return pass_on(report);
  return ReadReport{std::move(*report), texts_of(source), std::move(*lock)};
}

}  // namespace

Result<ReadReport> read_report(Context& context, const std::vector<std::string>& files,
                               const std::string& code, const std::string& tier) {
  if (files.size() == 1 && code.empty() && files.front() != "-" &&
      toolchain::is_elf_file(files.front())) {
    auto report = toolchain::analyze_binary(files.front());
    if (!report) return pass_on(report);
    return ReadReport{std::move(*report), {}, std::nullopt};
  }
  auto source = read_source(files, code);
  if (!source) return pass_on(source);
  return analyzed(context, *source, tier);
}

Result<ReadReport> read_or_load_report(Context& context, const std::string& file,
                                       const std::string& tier) {
  if (file != "-" && toolchain::is_elf_file(file)) return read_report(context, {file}, "", tier);
  auto source = read_source({file}, "");
  if (!source) return pass_on(source);
  if (!is_json(source->text)) return analyzed(context, *source, tier);
  auto json = parse_json(source->text, file);
  if (!json) return pass_on(json);
  json->erase("suggestions");  // advice beside the report
  auto report = analyzer::saved_report_from_json(std::move(*json));
  if (!report) {
    return fail(ErrorId::kJsonSyntax, fmt::format("{} is no saved report", file),
                {.where = report.error().where,
                 .why = report.error().why,
                 .fix = "save what `mcpac permissions analyze --json` prints"});
  }
  return ReadReport{std::move(*report), {}, std::nullopt};
}

}  // namespace mcpac::cli
