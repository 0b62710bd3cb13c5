// SPDX-License-Identifier: Apache-2.0

#include "codegen/emit_comment.h"

#include <fmt/format.h>

#include <vector>

#include "codegen/text_escape.h"

namespace mcpac::codegen {
namespace {

constexpr std::size_t kMaxTitle = 400;
constexpr std::size_t kMaxFact = 400;
constexpr std::size_t kMaxTrailing = 200;
constexpr std::size_t kWidth = 96;

// The lines of one comment; only our own marks go in as they are.
class Lines {
 public:
  Lines(std::size_t indent, Dialect dialect) : indent_(indent), dialect_(dialect) {}

  void own(std::string_view line) {
    const std::string_view mark = dialect_ == Dialect::kDoxygen ? "///" : "//";
    text_ += fmt::format("{:{}}{}{}{}\n", "", indent_, mark, line.empty() ? "" : " ", line);
  }
  void blank() {
    if (!text_.empty()) own("");
  }
  // `mark` stands before the first line and is ours.
  void foreign(std::string_view text, std::string_view mark = "") {
    std::string before(mark);
    for (const std::string& line : safe_lines(text, kWidth)) {
      own(before + (dialect_ == Dialect::kDoxygen ? doxygen_line(line) : line));
      before.clear();
    }
  }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::size_t indent_;
  Dialect dialect_;
  std::string text_{};
};

void put_words(Lines& lines, const Words& words) {
  if (words.title != words.description) lines.foreign(cut(words.title, kMaxTitle));
  if (words.description.empty()) return;
  if (words.title != words.description) lines.blank();
  lines.foreign(words.description);
}

std::string joined(const std::vector<std::string>& facts) {
  std::string all;
  for (const std::string& fact : facts) all += (all.empty() ? "" : "; ") + cut(fact, kMaxFact);
  return all;
}

}  // namespace

std::string comment(const Words& words, std::size_t indent, Dialect dialect) {
  Lines lines(indent, dialect);
  // Beside a description the title of a field only repeats its name.
  put_words(lines, {.title = words.description.empty() ? words.title : "",
                    .description = words.description});
  if (!words.facts.empty()) {
    if (dialect == Dialect::kDoxygen) lines.blank();
    lines.foreign(joined(words.facts));
  }
  return std::move(lines).text();
}

std::string tool_comment(const ToolModel& tool, Dialect dialect) {
  Lines lines(0, dialect);
  put_words(lines, tool.words);
  if (!tool.words.facts.empty()) {
    lines.blank();
    lines.foreign(joined(tool.words.facts), dialect == Dialect::kDoxygen ? "@note " : "");
  }
  if (dialect == Dialect::kDoxygen) {
    lines.blank();
    lines.own("@throws mcpac::Error denied, invalid arguments, or the tool or its server failed");
  }
  return std::move(lines).text();
}

std::string trailing_comment(const std::string& words, Dialect dialect) {
  if (words.empty()) return "";
  const std::string line = safe_prose(cut(words, kMaxTrailing));
  return dialect == Dialect::kDoxygen ? "  ///< " + doxygen_line(line) : "  // " + line;
}

}  // namespace mcpac::codegen
