// The forms in which a report is printed: for people, for programs, for code scanning, for reviews.
#pragma once

#include <memory>
#include <string>

#include "analyzer/source_texts.h"
#include "cli/context.h"

namespace mcpac::cli {

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

}  // namespace mcpac::cli
