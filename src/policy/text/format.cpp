// SPDX-License-Identifier: Apache-2.0

#include "policy/text/format.h"

#include <algorithm>

#include "policy/text/parser.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

class Formatter {
 public:
  Formatter(const SourceText& source, const Layout& layout) : source_(source), layout_(layout) {}

  std::string text() {
    for (const auto& piece : layout_.pieces) {
      const bool closes = piece.kind == Piece::Kind::kClose;
      // Comments before the piece, and those inside of it, for which there is no place there.
      comments_until(piece.end);
      blank_line(piece.begin, closes);
      depth_ -= closes ? 1 : 0;
      line(piece.text);
      depth_ += piece.kind == Piece::Kind::kOpen ? 1 : 0;
      opened_ = piece.kind == Piece::Kind::kOpen;
      reached_ = piece.end;
      trailing_comment();
    }
    comments_until(source_.text.size() + 1);
    return std::move(text_);
  }

 private:
  void line(std::string_view content) {
    text_.append(2 * depth_, ' ').append(content).append("\n");
  }

  // One where the source has any since the last thing, but none at the edges of a block.
  void blank_line(std::size_t before, bool closes) {
    if (text_.empty() || opened_ || closes || before < reached_) return;
    const auto between = source_.text.substr(reached_, before - reached_);
    if (std::ranges::count(between, '\n') > 1) text_ += "\n";
  }

  std::string comment_at(std::size_t index) const {
    const auto& comment = layout_.comments[index];
    auto content = source_.text.substr(comment.begin, comment.end - comment.begin);
    content = content.substr(0, content.find_last_not_of(" \t\r") + 1);
    return std::string(content);
  }

  void comments_until(std::size_t end) {
    for (; next_comment_ < layout_.comments.size() && layout_.comments[next_comment_].begin < end;
         ++next_comment_) {
      const auto& comment = layout_.comments[next_comment_];
      blank_line(comment.begin, false);
      line(comment_at(next_comment_));
      opened_ = false;
      reached_ = std::max(reached_, comment.end);
    }
  }

  // On the line on which the last piece ended.
  void trailing_comment() {
    if (next_comment_ == layout_.comments.size()) return;
    const auto& comment = layout_.comments[next_comment_];
    const auto between = source_.text.substr(reached_, comment.begin - reached_);
    if (between.find_first_not_of(" \t") != std::string_view::npos) return;
    text_.pop_back();
    text_ += "  " + comment_at(next_comment_) + "\n";
    reached_ = comment.end;
    ++next_comment_;
  }

  const SourceText& source_;
  const Layout& layout_;
  std::string text_;
  std::size_t next_comment_ = 0;
  std::size_t reached_ = 0;  // of the source, by what stands in text_
  std::size_t depth_ = 0;
  bool opened_ = true;  // nothing stands in this block, or in the file, yet
};

}  // namespace

Result<std::string> format(const SourceText& source) {
  Layout layout;
  auto file = parse_file(source, &layout);
  if (!file) return pass_on(file);
  std::string text = Formatter(source, layout).text();
  // Rules must not change by formatting.
  const auto again = parse_file({source.name, text});
  if (!again || print(*again) != print(*file))
    return fail(ErrorId::kInternal, "formatting would change the rules", {.where = source.name});
  return text;
}

}  // namespace mcpac::policy
