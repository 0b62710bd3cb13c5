#include "codegen/text_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "codegen/text_escape.h"

namespace mcpac::codegen {
namespace {

using Pieces = std::vector<std::string_view>;

constexpr std::size_t kMaxLines = 60;       // shown; a description beyond this is read in the lock
constexpr std::size_t kMaxPiece = 600;      // bytes of one sentence
constexpr std::size_t kMaxCells = 250'000;  // of the table below: 500 sentences against 500

// Sentences and lines, without the space or line break that ends them.
Pieces pieces_of(std::string_view text) {
  Pieces pieces;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool line_ends = text[i] == '\n';
    const bool sentence_ends = text[i] == ' ' && i > 0 &&
                               std::string_view(".!?").find(text[i - 1]) != std::string_view::npos;
    const bool inside_character =
        i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xC0U) == 0x80U;
    const bool long_enough = i - begin >= kMaxPiece && !inside_character;
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

class Lines {
 public:
  void same() {
    if (lines_.empty() || lines_.back() != "  …") lines_.emplace_back("  …");
  }
  void removed(std::string_view piece) { lines_.push_back("- " + safe_line(piece)); }
  void added(std::string_view piece) { lines_.push_back("+ " + safe_line(piece)); }
  std::vector<std::string> take() && {
    if (lines_.size() > kMaxLines) {
      const std::size_t more = lines_.size() - kMaxLines;
      lines_.resize(kMaxLines);
      lines_.push_back(fmt::format("  … {} more lines; --json has all of both", more));
    }
    return std::move(lines_);
  }

 private:
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> text_change(std::string_view before, std::string_view after) {
  if (before == after) return {};
  const Pieces old_pieces = pieces_of(before);
  const Pieces new_pieces = pieces_of(after);
  if (old_pieces == new_pieces) return {"~ only spaces and line breaks between sentences differ"};
  const auto [old_begin, new_begin] = std::ranges::mismatch(old_pieces, new_pieces);
  const Pieces old_rest(old_begin, old_pieces.end());
  const Pieces new_rest(new_begin, new_pieces.end());
  Lines lines;
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
