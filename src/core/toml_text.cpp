// SPDX-License-Identifier: Apache-2.0

#include "core/toml_text.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "core/ascii.h"

namespace mcpac {
namespace {

constexpr std::size_t kMaxDepth = 64;

OrderedJson to_json(const toml::node& node);

OrderedJson to_json(const toml::table& table) {
  // toml++ sorts by name; a file's order is that of its source.
  std::vector<std::pair<const toml::key*, const toml::node*>> members;
  for (const auto& [key, node] : table) members.emplace_back(&key, &node);
  std::ranges::sort(members, {}, [](const auto& member) {
    const auto& begin = member.first->source().begin;
    return std::pair(begin.line, begin.column);
  });
  OrderedJson made = OrderedJson::object();
  // Names of a table are known to differ; made[name] would look through all before it.
  OrderedJson::object_t::Container& list = made.get_ref<OrderedJson::object_t&>();
  list.reserve(members.size());
  for (const auto& [key, node] : members)
    list.emplace_back(std::string(key->str()), to_json(*node));
  return made;
}

OrderedJson to_json(const toml::node& node) {
  return node.visit([](const auto& value) -> OrderedJson {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (toml::is_table<T>) {
      return to_json(value);
    } else if constexpr (toml::is_array<T>) {
      OrderedJson made = OrderedJson::array();
      for (const auto& element : value) made.push_back(to_json(element));
      return made;
    } else if constexpr (toml::is_string<T> || toml::is_boolean<T> || toml::is_integer<T>) {
      return *value;
    } else {
      if constexpr (toml::is_floating_point<T>) {
        if (std::isfinite(*value)) return *value;
      }
      std::ostringstream text;
      text << *value;
      return std::move(text).str();
    }
  });
}

// Positions of one statement after another, in text that need not be TOML.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  // Over blank lines and comments, to the first byte of a statement. False at the end.
  bool to_statement() {
    while (at_ < text_.size() && (is_blank() || text_[at_] == '#')) step();
    return at_ < text_.size();
  }
  // To the '=' of a key, the first list bracket of a header, or the end of the line; the number of
  // the key's names.
  std::size_t over_key() {
    std::size_t names = 1;
    for (; at_ < text_.size() && text_[at_] != '=' && text_[at_] != ']' && text_[at_] != '\n';
         step())
      if (text_[at_] == '.') ++names;
    return names;
  }
  // Past the newline that ends the statement; the depth of its brackets, with that of dotted keys.
  std::size_t over_value() {
    std::size_t depth = 0;
    std::size_t deepest = 0;
    std::size_t dots = 0;
    for (; at_ < text_.size() && (text_[at_] != '\n' || depth > 0); step()) {
      const char c = text_[at_];
      if (std::string_view("=,[{").contains(c)) dots = 0;
      if (c == '.') ++dots;
      if (c == '[' || c == '{') ++depth;
      if ((c == ']' || c == '}') && depth > 0) --depth;
      deepest = std::max(deepest, depth + dots);
    }
    at_ = std::min(at_ + 1, text_.size());
    return deepest;
  }
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  [[nodiscard]] bool is_blank() const { return std::string_view(" \t\r\n").contains(text_[at_]); }
  // Over one byte, a comment without its newline, or a string.
  void step() {
    const char quote = text_[at_];
    if (quote == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    }
    ++at_;
    if (quote != '"' && quote != '\'') return;
    const std::string triple(3, quote);
    const bool is_long = text_.substr(at_ - 1).starts_with(triple);
    if (is_long) at_ += 2;
    while (at_ < text_.size()) {
      if (is_long ? text_.substr(at_).starts_with(triple) : text_[at_] == quote) {
        at_ += is_long ? 3 : 1;
        // Up to two quotes may stand before the three that end it.
        for (int i = 0; is_long && i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) ++at_;
        return;
      }
      if (!is_long && text_[at_] == '\n') return;
      at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_, text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// The names of a key as it is written: toml++ reads it as the key of one value.
std::vector<std::string> names_of(std::string_view key) {
  std::vector<std::string> names;
  const auto read = toml::parse(fmt::format("{} = 0", key));
  const toml::table* table = read ? &read.table() : nullptr;
  while (table != nullptr && !table->empty()) {
    names.emplace_back(table->begin()->first.str());
    table = table->begin()->second.as_table();
  }
  return names;
}

bool has_env(const std::vector<std::string>& path) {
  return std::ranges::find(path, "env") != path.end();
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out.append(1, '\\').append(1, c);
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04X}", byte);
    else
      out += c;
  }
  return out + "\"";
}

std::string key_text(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, is_bare) ? name : in_quotes(name);
}

std::string value_text(const OrderedJson& value) {
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  if (!value.is_structured()) return to_text(value);
  std::string out;
  for (const auto& [name, member] : value.items()) {
    if (!out.empty()) out += ", ";
    if (value.is_object()) out += key_text(name) + " = ";
    out += value_text(member);
  }
  if (value.is_array()) return "[" + out + "]";
  return out.empty() ? "{}" : "{ " + out + " }";
}

}  // namespace

Result<TomlText> TomlText::parse(std::string text, std::string where) {
  TomlText made;
  made.text_ = std::move(text);
  made.where_ = std::move(where);
  if (auto split = made.split(); !split) return pass_on(split);
  const auto read = toml::parse(made.text_);
  if (!read) {
    return fail(ErrorId::kConfigSyntax, fmt::format("not TOML: {}", read.error().description()),
                {.where = fmt::format("{}:{}", made.where_, read.error().source().begin.line)});
  }
  made.value_ = to_json(read.table());
  return made;
}

// Before toml++ reads the text, so that no depth of it is deeper than a stack.
Result<void> TomlText::split() {
  Scanner scanner(text_);
  std::size_t section = std::string::npos;
  while (scanner.to_statement()) {
    Statement& made = statements_.emplace_back();
    const std::size_t first = scanner.at();
    const auto line = text_.rfind('\n', first);
    made.begin = line == std::string::npos ? 0 : line + 1;
    made.is_header = text_[first] == '[';
    made.is_list = text_.compare(first, 2, "[[") == 0;
    const std::size_t names = scanner.over_key();
    const std::size_t key = first + (made.is_header ? 1 : 0) + (made.is_list ? 1 : 0);
    const std::size_t key_end = std::max(key, scanner.at());
    if (names + scanner.over_value() > kMaxDepth) {
      return fail(ErrorId::kConfigSyntax, fmt::format("more than {} levels", kMaxDepth),
                  {.where = fmt::format("{}:{}", where_,
                                        std::ranges::count(text_.substr(0, first), '\n') + 1)});
    }
    made.end = scanner.at();
    if (made.is_header) section = statements_.size() - 1;
    made.path = names_of(std::string_view(text_).substr(key, key_end - key));
    if (!made.is_header && section != std::string::npos) {
      const auto& above = statements_[section].path;
      made.path.insert(made.path.begin(), above.begin(), above.end());
    }
    sections_.push_back(section);
  }
  return {};
}

bool TomlText::is_within(std::size_t statement, const std::string& table,
                         const std::string& name) const {
  const std::size_t section = sections_[statement];
  if (section == std::string::npos) return false;
  const auto& path = statements_[section].path;
  return path.size() >= 2 && path[0] == table && path[1] == name;
}

Result<std::string> TomlText::without(const std::string& table, const std::string& name) const {
  std::string text;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const Statement& here = statements_[i];
    const bool is_own = is_within(i, table, name);
    const bool is_written_otherwise =
        !is_own && here.path.size() >= 2 && here.path[0] == table && here.path[1] == name;
    const bool is_inline = !here.is_header && here.path == std::vector<std::string>{table};
    if (is_written_otherwise || is_inline || (is_own && here.is_list)) {
      return fail(ErrorId::kConfigSyntax,
                  fmt::format("{}.{} is not written as a section of its own", table, name),
                  {.where = where_, .fix = fmt::format("write it as [{}.{}]", table, name)});
    }
    if (!is_own) continue;
    text += text_.substr(copied, here.begin - copied);
    copied = here.end;
  }
  return text + text_.substr(copied);
}

Result<void> TomlText::become(std::string text, const OrderedJson& meant) {
  auto changed = parse(std::move(text), where_);
  if (!changed || Json(changed->value_) != Json(meant)) {
    return fail(ErrorId::kInternal, "the file cannot be changed without changing more of it",
                {.where = where_, .fix = "change it by hand"});
  }
  *this = std::move(*changed);
  return {};
}

Result<void> TomlText::set(const std::string& table, const std::string& name,
                           const OrderedJson& value) {
  const bool is_there =
      value_.contains(table) && value_[table].is_object() && value_[table].contains(name);
  auto text = without(table, name);
  if (!text) return pass_on(text);
  std::string section = fmt::format("[{}.{}]\n", key_text(table), key_text(name));
  for (const auto& [key, member] : value.items())
    section += fmt::format("{} = {}\n", key_text(key), value_text(member));
  std::size_t place = text->size();
  for (std::size_t i = 0; is_there && i < statements_.size(); ++i) {
    if (!is_within(i, table, name)) continue;
    place = statements_[i].begin;  // all before it is as it was
    break;
  }
  if (place == text->size()) {
    if (!text->empty() && !text->ends_with('\n')) section.insert(0, "\n");
    if (!text->empty()) section.insert(0, text->ends_with("\n\n") ? "" : "\n");
  }
  text->insert(std::min(place, text->size()), section);
  OrderedJson meant = value_;
  meant[table][name] = value;
  return become(std::move(*text), meant);
}

Result<void> TomlText::remove(const std::string& table, const std::string& name) {
  if (!value_.contains(table) || !value_[table].is_object() || !value_[table].contains(name))
    return {};
  auto text = without(table, name);
  if (!text) return pass_on(text);
  OrderedJson meant = value_;
  meant[table].erase(name);
  // A table that stood there by this one alone goes with it.
  const bool stays = std::ranges::any_of(statements_, [&](const Statement& one) {
    return !one.path.empty() && one.path[0] == table &&
           (one.path.size() == 1 || one.path[1] != name);
  });
  if (!stays) meant.erase(table);
  return become(std::move(*text), meant);
}

std::string TomlText::masked(const std::string& table, const std::string& name) const {
  std::string out;
  std::size_t copied = 0;
  const auto between = [&](std::size_t end) {
    for (; copied < end; ++copied) {
      if (text_[copied] == '\n') out += '\n';
    }
  };
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const Statement& here = statements_[i];
    between(here.begin);
    const auto whole = text_.substr(here.begin, here.end - here.begin);
    const bool is_variable = !here.is_header && is_within(i, table, name) &&
                             (has_env(here.path) || has_env(statements_[sections_[i]].path));
    if (is_within(i, table, name) && !is_variable) {
      out += whole;
    } else if (here.is_header) {
      out += whole.substr(0, whole.find('#')).substr(0, whole.find_first_of("\r\n")) + "\n";
    } else {
      out += key_text(here.path.back()) + " = …\n";
    }
    copied = here.end;
  }
  between(text_.size());
  return out;
}

}  // namespace mcpac
