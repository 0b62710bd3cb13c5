// SPDX-License-Identifier: Apache-2.0

#include "codegen/text_change.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "codegen/text_escape.h"

namespace mcpac::codegen {
namespace {

using Pieces = std::vector<std::string_view>;

constexpr std::size_t kMaxPiece = 600;      // bytes of one sentence, and of one line
constexpr std::size_t kMaxCells = 250'000;  // of the table below: 500 sentences against 500
constexpr std::size_t kShort = 160;         // bytes of a value that is shown whole
constexpr std::size_t kAround = 60;         // bytes shown on each side of what differs

bool inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

// Sentences and lines, without the space or line break that ends them.
Pieces pieces_of(std::string_view text) {
  Pieces pieces;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool line_ends = text[i] == '\n';
    const bool sentence_ends = text[i] == ' ' && i > 0 &&
                               std::string_view(".!?").find(text[i - 1]) != std::string_view::npos;
    const bool long_enough = i - begin >= kMaxPiece && !inside_character(text, i + 1);
    if (!line_ends && !sentence_ends && !long_enough) continue;
    const bool at_end = line_ends || sentence_ends;
    pieces.push_back(text.substr(begin, i - begin + (at_end ? 0 : 1)));
    begin = i + 1;
  }
  if (begin < text.size()) pieces.push_back(text.substr(begin));
  return pieces;
}

// length[i][j]: the longest common subsequence of before[i…] and after[j…].
class Table {
 public:
  Table(const Pieces& before, const Pieces& after)
      : columns_(after.size() + 1), cells_((before.size() + 1) * columns_) {
    for (std::size_t i = before.size(); i-- > 0;) {
      for (std::size_t j = after.size(); j-- > 0;) {
        at(i, j) =
            before[i] == after[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  std::size_t& at(std::size_t i, std::size_t j) { return cells_[i * columns_ + j]; }

 private:
  std::size_t columns_;
  std::vector<std::size_t> cells_;
};

class ChangedLines {
 public:
  void same() {
    if (lines_.empty() || lines_.back() != "  …") lines_.emplace_back("  …");
  }
  void removed(std::string_view piece) { lines_.push_back("- " + safe_line(piece)); }
  void added(std::string_view piece) { lines_.push_back("+ " + safe_line(piece)); }
  std::vector<std::string> take() && { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

// `text` without `front` bytes at its beginning and `back` at its end, but for a little of each.
std::string middle(std::string_view text, std::size_t front, std::size_t back) {
  std::size_t begin = front > kAround ? front - kAround : 0;
  while (begin > 0 && inside_character(text, begin)) --begin;
  std::size_t end = back > kAround ? text.size() - back + kAround : text.size();
  while (inside_character(text, end)) ++end;
  return (begin > 0 ? "…" : "") + std::string(text.substr(begin, end - begin)) +
         (end < text.size() ? "…" : "");
}

}  // namespace

std::vector<std::string> marked_lines(std::string_view mark, std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.size(), kMaxPiece);
    // What is not UTF-8 may look like the inside of a character for ever.
    for (int i = 0; i < 3 && inside_character(text, end); ++i) ++end;
    lines.push_back(std::string(mark) + safe_line(text.substr(0, end)));
    text.remove_prefix(end);
  }
  return lines;
}

std::vector<std::string> value_change(std::string_view before, std::string_view after) {
  std::size_t front = 0;
  std::size_t back = 0;
  // A value beside nothing is all new.
  if (!before.empty() && !after.empty() && std::max(before.size(), after.size()) > kShort) {
    const std::size_t both = std::min(before.size(), after.size());
    while (front < both && before[front] == after[front]) ++front;
    while (back < both - front &&
           before[before.size() - 1 - back] == after[after.size() - 1 - back])
      ++back;
  }
  std::vector<std::string> lines = marked_lines("- ", middle(before, front, back));
  std::ranges::move(marked_lines("+ ", middle(after, front, back)), std::back_inserter(lines));
  return lines;
}

std::vector<std::string> text_change(std::string_view before, std::string_view after) {
  if (before == after) return {};
  const Pieces old_pieces = pieces_of(before);
  const Pieces new_pieces = pieces_of(after);
  if (old_pieces == new_pieces) return {"~ only spaces and line breaks between sentences differ"};
  const auto [old_begin, new_begin] = std::ranges::mismatch(old_pieces, new_pieces);
  const Pieces old_rest(old_begin, old_pieces.end());
  const Pieces new_rest(new_begin, new_pieces.end());
  ChangedLines lines;
  if (old_begin != old_pieces.begin()) lines.same();
  std::size_t i = 0;
  std::size_t j = 0;
  if ((old_rest.size() + 1) * (new_rest.size() + 1) <= kMaxCells) {
    Table table(old_rest, new_rest);
    while (i < old_rest.size() && j < new_rest.size()) {
      if (old_rest[i] == new_rest[j]) {
        lines.same();
        ++i, ++j;
      } else if (table.at(i + 1, j) >= table.at(i, j + 1)) {
        lines.removed(old_rest[i++]);
      } else {
        lines.added(new_rest[j++]);
      }
    }
  }
  while (i < old_rest.size()) lines.removed(old_rest[i++]);
  while (j < new_rest.size()) lines.added(new_rest[j++]);
  return std::move(lines).take();
}

}  // namespace mcpac::codegen
