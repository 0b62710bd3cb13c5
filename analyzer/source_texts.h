// SPDX-License-Identifier: Apache-2.0

// SourceTexts: the text of each source of a program, so that what is said about a line can show it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/report.h"

namespace mcpac::analyzer {

class SourceTexts {
 public:
  SourceTexts() = default;
  // By the names that findings give the files.
  explicit SourceTexts(std::map<std::string, std::string> texts) : texts_(std::move(texts)) {}
  // Of a program of one file.
  SourceTexts(const Report& report, std::string_view text)
      : texts_{{report.file, std::string(text)}} {}

  // Empty where the text is not known.
  [[nodiscard]] std::string_view of(const std::string& file) const {
    const auto found = texts_.find(file);
    return found == texts_.end() ? std::string_view() : std::string_view(found->second);
  }

 private:
  std::map<std::string, std::string> texts_;
};

// As those of report.h, with lines from every file.
[[nodiscard]] std::string findings_text(const Report& report, const SourceTexts& sources,
                                        Colours colours);
[[nodiscard]] std::string to_human_text(const Report& report, const SourceTexts& sources,
                                        Colours colours);

}  // namespace mcpac::analyzer
