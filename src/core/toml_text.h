// SPDX-License-Identifier: Apache-2.0

// TomlText: a client's TOML file (https://toml.io/en/v1.0.0), in which one table is set or removed
// and every other byte stays as it is.
//
// toml++ reads the values, so a file with a syntax error or a duplicate key is never written.
// Tables are set and removed as sections ([a.b] and the tables below it); an inline table and
// dotted keys are read and not changed. Dates, times, inf and nan become text.
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
  // kConfigSyntax with the line. At most 64 levels of keys, lists and tables.
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

  [[nodiscard]] Result<void> split();
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
