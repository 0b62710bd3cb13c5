// TomlReader: reads what TomlText keeps. One pass, bounded depth.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/toml_text.h"

namespace mcpac {

class TomlReader {
 public:
  explicit TomlReader(TomlText& into) : into_(into), text_(into.text_) {}
  Result<void> read();

 private:
  using Path = std::vector<std::string>;
  Result<void> statement();
  Result<void> header();
  Result<void> key_and_value(const Path& table, OrderedJson& root);
  Result<Path> keys();
  Result<std::string> key();
  Result<OrderedJson> value(int depth);
  Result<OrderedJson> list(int depth);
  Result<OrderedJson> inline_table(int depth);
  Result<std::string> string();
  Result<void> escape(std::string& out);
  Result<void> end_of_line();
  void blanks();               // spaces and tabs
  void blanks_and_comments();  // newlines, too
  [[nodiscard]] bool is_at(std::string_view part) const {
    return text_.substr(at_).starts_with(part);
  }
  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\n'; }
  [[nodiscard]] std::unexpected<Error> bad(std::string_view what) const;
  // The table at the path, made where there is none; null: something else stands there.
  static OrderedJson* table_at(OrderedJson& root, const Path& path);

  TomlText& into_;
  std::string_view text_;
  std::size_t at_ = 0;
  Path table_;
  std::set<Path> headers_;  // each may stand once
  std::set<Path> closed_;   // inline tables: nothing is added to them
};

}  // namespace mcpac
