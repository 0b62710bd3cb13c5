#include "core/toml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/ascii.h"
#include "core/characters.h"

namespace mcpac {
namespace {

constexpr int kMaxDepth = 64;

}  // namespace

std::unexpected<Error> TomlReader::bad(std::string_view what) const {
  const auto lines = std::ranges::count(text_.substr(0, std::min(at_, text_.size())), '\n');
  return fail(ErrorId::kConfigSyntax, fmt::format("not TOML: {}", what),
              {.where = fmt::format("{}:{}", into_.where_, lines + 1)});
}

Result<void> TomlReader::read() {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  std::size_t section = 0;
  bool has_section = false;
  while (true) {
    blanks_and_comments();
    if (at_ >= text_.size()) return {};
    TomlText::Statement& made = into_.statements_.emplace_back();
    const auto line = text_.rfind('\n', at_);
    made.begin = line == std::string_view::npos ? 0 : line + 1;
    made.is_header = here() == '[';
    if (made.is_header) {
      section = into_.statements_.size() - 1;
      has_section = true;
    }
    into_.sections_.push_back(has_section ? section : std::string::npos);
    if (auto done = statement(); !done) return done;
    into_.statements_.back().end = at_;
  }
}

Result<void> TomlReader::statement() {
  auto done = here() == '[' ? header() : key_and_value(table_, into_.value_);
  if (!done) return done;
  return end_of_line();
}

Result<void> TomlReader::end_of_line() {
  blanks();
  if (here() == '#') at_ = std::min(text_.find('\n', at_), text_.size());
  if (is_at("\r\n")) ++at_;
  if (here() != '\n') return bad("something stands behind a value");
  at_ = std::min(at_ + 1, text_.size());
  return {};
}

void TomlReader::blanks() {
  while (here() == ' ' || here() == '\t') ++at_;
}

void TomlReader::blanks_and_comments() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#')
      at_ = std::min(text_.find('\n', at_), text_.size());
    else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
      ++at_;
    else
      return;
  }
}

Result<void> TomlReader::header() {
  const bool is_list = is_at("[[");
  at_ += is_list ? 2 : 1;
  blanks();
  auto path = keys();
  if (!path) return pass_on(path);
  blanks();
  if (!is_at(is_list ? "]]" : "]")) return bad("a header is not closed");
  at_ += is_list ? 2 : 1;
  table_ = *path;
  auto& made = into_.statements_.back();
  made.path = *path;
  made.is_list = is_list;
  if (is_list) {
    Path above(path->begin(), path->end() - 1);
    OrderedJson* table = table_at(into_.value_, above);
    if (table == nullptr) return bad("a table is something else already");
    OrderedJson& list = (*table)[path->back()];
    if (list.is_null()) list = OrderedJson::array();
    if (!list.is_array()) return bad("a list of tables is something else already");
    list.push_back(OrderedJson::object());
    std::erase_if(headers_, [&](const Path& one) {
      return one.size() > path->size() && std::equal(path->begin(), path->end(), one.begin());
    });
    return {};
  }
  if (!headers_.insert(*path).second) return bad("a table stands twice");
  if (closed_.contains(*path) || table_at(into_.value_, *path) == nullptr)
    return bad("a table is something else already");
  return {};
}

Result<void> TomlReader::key_and_value(const Path& table, OrderedJson& root) {
  auto path = keys();
  if (!path) return pass_on(path);
  Path whole = table;
  whole.insert(whole.end(), path->begin(), path->end());
  if (&root == &into_.value_) into_.statements_.back().path = whole;
  blanks();
  if (here() != '=') return bad("a key without a value");
  ++at_;
  blanks();
  const bool is_inline = here() == '{';
  auto read = value(0);
  if (!read) return pass_on(read);
  const std::string name = whole.back();
  if (is_inline) closed_.insert(whole);
  whole.pop_back();
  for (std::size_t depth = table.size() + 1; depth <= whole.size(); ++depth) {
    if (closed_.contains(Path(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(depth))))
      return bad("nothing is added to an inline table");
  }
  OrderedJson* into = table_at(root, whole);
  if (into == nullptr) return bad("a key is something else already");
  if (into->contains(name)) return bad("a key stands twice");
  (*into)[name] = std::move(*read);
  return {};
}

OrderedJson* TomlReader::table_at(OrderedJson& root, const Path& path) {
  OrderedJson* at = &root;
  for (const std::string& name : path) {
    OrderedJson& next = (*at)[name];
    if (next.is_null()) next = OrderedJson::object();
    at = next.is_array() && !next.empty() && next.back().is_object() ? &next.back() : &next;
    if (!at->is_object()) return nullptr;
  }
  return at;
}

Result<TomlReader::Path> TomlReader::keys() {
  Path path;
  while (true) {
    auto name = key();
    if (!name) return pass_on(name);
    path.push_back(std::move(*name));
    if (path.size() > kMaxDepth) return bad("too deep");
    blanks();
    if (here() != '.') return path;
    ++at_;
    blanks();
  }
}

Result<std::string> TomlReader::key() {
  if (here() == '"' || here() == '\'') {
    if (is_at(R"(""")") || is_at("'''")) return bad("a key of several lines");
    return string();
  }
  const auto begin = at_;
  while (at_ < text_.size() && is_bare(text_[at_])) ++at_;
  if (at_ == begin) return bad("a key is missing");
  return std::string(text_.substr(begin, at_ - begin));
}

Result<OrderedJson> TomlReader::value(int depth) {
  if (depth > kMaxDepth) return bad("too deep");
  if (here() == '"' || here() == '\'') {
    auto read = string();
    if (!read) return pass_on(read);
    return OrderedJson(std::move(*read));
  }
  if (here() == '[') return list(depth);
  if (here() == '{') return inline_table(depth);
  const auto end = std::min(text_.find_first_of(",]}#\r\n", at_), text_.size());
  std::string_view word = text_.substr(at_, end - at_);
  while (word.ends_with(' ') || word.ends_with('\t')) word.remove_suffix(1);
  if (word == "true" || word == "false") {
    at_ += word.size();
    return OrderedJson(word == "true");
  }
  // A blank stands between a date and a time alone.
  const auto blank = word.find(' ');
  const bool is_number_or_date =
      !word.empty() && word.size() <= 64 &&
      (blank == std::string_view::npos || (blank == 10 && word[4] == '-')) &&
      std::ranges::all_of(
          word, [](char c) { return is_bare(c) || std::string_view("+.: ").contains(c); }) &&
      ((word[0] >= '0' && word[0] <= '9') || word[0] == '+' || word[0] == '-' || word == "inf" ||
       word == "nan");
  if (!is_number_or_date) return bad("a value that is none");
  at_ += word.size();
  const char* const end_of_word = word.data() + word.size();
  const char* const digits = word.data() + (word[0] == '+' ? 1 : 0);
  std::int64_t number = 0;
  if (const auto read = std::from_chars(digits, end_of_word, number);
      read.ec == std::errc() && read.ptr == end_of_word)
    return OrderedJson(number);
  double fraction = 0;
  if (const auto read = std::from_chars(digits, end_of_word, fraction);
      read.ec == std::errc() && read.ptr == end_of_word && std::isfinite(fraction))
    return OrderedJson(fraction);
  return OrderedJson(std::string(word));
}

Result<OrderedJson> TomlReader::list(int depth) {
  OrderedJson made = OrderedJson::array();
  ++at_;
  while (true) {
    blanks_and_comments();
    if (here() == ']') break;
    if (at_ >= text_.size()) return bad("a list is not closed");
    auto one = value(depth + 1);
    if (!one) return one;
    made.push_back(std::move(*one));
    blanks_and_comments();
    if (here() == ']') break;
    if (here() != ',') return bad("a list without commas");
    ++at_;
  }
  ++at_;
  return made;
}

Result<OrderedJson> TomlReader::inline_table(int depth) {
  if (depth > kMaxDepth) return bad("too deep");
  OrderedJson made = OrderedJson::object();
  ++at_;
  blanks();
  while (here() != '}') {
    auto path = keys();
    if (!path) return pass_on(path);
    blanks();
    if (here() != '=') return bad("a key without a value");
    ++at_;
    blanks();
    auto read = value(depth + 1);
    if (!read) return read;
    const std::string name = path->back();
    path->pop_back();
    OrderedJson* into = table_at(made, *path);
    if (into == nullptr || into->contains(name)) return bad("a key stands twice");
    (*into)[name] = std::move(*read);
    blanks();
    if (here() == ',') {
      ++at_;
      blanks();
      if (here() == '}') return bad("a comma before the end of an inline table");
    } else if (here() != '}') {
      return bad("an inline table is not closed");
    }
  }
  ++at_;
  return made;
}

Result<std::string> TomlReader::string() {
  const char quote = here();
  const std::string triple(3, quote);
  const bool is_long = is_at(triple);
  at_ += is_long ? 3 : 1;
  if (is_long && is_at("\r\n"))
    at_ += 2;
  else if (is_long && here() == '\n')
    ++at_;
  std::string out;
  while (at_ < text_.size()) {
    if (is_long && is_at(triple)) {
      at_ += 3;
      for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] == quote; ++i, ++at_) out += quote;
      return out;
    }
    const char c = text_[at_];
    if (!is_long && c == quote) {
      ++at_;
      return out;
    }
    if (!is_long && c == '\n') break;
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && !(is_long && (c == '\n' || c == '\r'))) || byte == 0x7f)
      return bad("a control character in a text");
    if (c == '\\' && quote == '"') {
      if (auto done = escape(out); !done) return pass_on(done);
      continue;
    }
    out += c;
    ++at_;
  }
  return bad("a text is not closed");
}

Result<void> TomlReader::escape(std::string& out) {
  constexpr std::string_view kNames = "btnfre\"\\";
  constexpr std::string_view kMeans = "\b\t\n\f\r\x1b\"\\";
  ++at_;
  const char c = here();
  if (const auto known = kNames.find(c); known != std::string_view::npos) {
    out += kMeans[known];
    ++at_;
    return {};
  }
  if (c == 'u' || c == 'U') {
    const std::size_t digits = c == 'u' ? 4 : 8;
    std::uint32_t code = 0;
    for (std::size_t i = 1; i <= digits; ++i) {
      const int digit = hex_value(at_ + i < text_.size() ? text_[at_ + i] : '?');
      if (digit < 0) return bad("an escape that is none");
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
      return bad("an escape of no character");
    append_utf8(out, code);
    at_ += digits + 1;
    return {};
  }
  // A line that goes on: up to the next that is not blank.
  const auto rest = text_.find_first_not_of(" \t\r", at_);
  if (rest == std::string_view::npos || text_[rest] != '\n') return bad("an escape that is none");
  at_ = std::min(text_.find_first_not_of(" \t\r\n", rest), text_.size());
  return {};
}

}  // namespace mcpac
