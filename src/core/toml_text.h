// TomlText: a TOML file of somebody else's (https://toml.io/en/v1.0.0), in which one table is put
// or removed and every other byte stays as it is.
//
// It is read whole, so that a file with an error, or with one key twice, is never written. Tables
// are put and removed as sections ([a.b] and what stands below it); a table that is written in
// another way (inline, dotted keys) can be read here and not changed. Dates, and numbers with an
// underscore or a base, are kept as their text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace mcpac {

class TomlText {
 public:
  // kConfigSyntax with the line.
  [[nodiscard]] static Result<TomlText> parse(std::string text, std::string where);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const OrderedJson& value() const { return value_; }

  // The table `table.name`, of texts, booleans, whole numbers, lists and objects of these. At the
  // end where there was none.
  [[nodiscard]] Result<void> set(const std::string& table, const std::string& name,
                                 const OrderedJson& value);
  // With all tables below it. No such table: nothing is done.
  [[nodiscard]] Result<void> remove(const std::string& table, const std::string& name);
  // The text with "…" for every value and without comments, but for the table `table.name`; there
  // for what stands in its "env".
  [[nodiscard]] std::string masked(const std::string& table, const std::string& name) const;

 private:
  // A statement: [header] or key = value; whole lines.
  struct Statement {
    std::size_t begin = 0;
    std::size_t end = 0;  // past its newline
    std::vector<std::string> path;
    bool is_header = false;
    bool is_list = false;  // [[header]]
  };
  friend class TomlReader;

  [[nodiscard]] bool is_within(std::size_t statement, const std::string& table,
                               const std::string& name) const;
  [[nodiscard]] Result<std::string> without(const std::string& table,
                                            const std::string& name) const;
  Result<void> become(std::string text, const OrderedJson& meant);

  std::string text_;
  std::string where_;
  OrderedJson value_ = OrderedJson::object();
  std::vector<Statement> statements_;
  std::vector<std::size_t> sections_;  // of each statement, the header that it stands below
};

}  // namespace mcpac
