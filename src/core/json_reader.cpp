// SPDX-License-Identifier: Apache-2.0

#include "core/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

#include "core/ascii.h"
#include "core/characters.h"
#include "core/json_cost.h"
#include "core/json_escape.h"
#include "core/json_members.h"

namespace mcpac {
namespace {

// Four digits behind "\\u".
std::optional<char32_t> unit_of(std::string_view escape) {
  if (escape.size() < 6 || !escape.starts_with("\\u")) return std::nullopt;
  std::uint16_t unit = 0;
  const char* const last = escape.data() + 6;
  const auto [end, error] = std::from_chars(escape.data() + 2, last, unit, 16);
  if (error != std::errc() || end != last) return std::nullopt;
  return unit;
}

// Takes the escape at the beginning of `text`; false: it is none, or none alone.
bool take_escape(std::string_view& text, std::string& out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  const auto simple = text.size() < 2 ? std::string_view::npos : kLetters.find(text[1]);
  if (simple != std::string_view::npos) {
    out += kMeant[simple];
    text.remove_prefix(2);
    return true;
  }
  const auto first = unit_of(text);
  if (!first || (*first >= 0xDC00 && *first < 0xE000)) return false;
  text.remove_prefix(6);
  if (*first < 0xD800 || *first >= 0xE000) return append_utf8(out, *first), true;
  const auto second = unit_of(text);
  if (!second || *second < 0xDC00 || *second >= 0xE000) return false;
  text.remove_prefix(6);
  append_utf8(out, 0x10000 + ((*first - 0xD800) << 10U) + (*second - 0xDC00));
  return true;
}

// Takes a character that is not ASCII; false: it is no UTF-8.
bool take_character(std::string_view& text, std::string& out) {
  const std::size_t bytes = first_character(text).bytes;
  if (bytes == 1) return false;
  out += text.substr(0, bytes);
  text.remove_prefix(bytes);
  return true;
}

template <class Value>
class Reader {
 public:
  Reader(std::string_view text, const JsonLimits& limits) : rest_(text), limits_(limits) {}

  // Each takes what it reads from the text; false: something is not certain.
  bool whole(Value& into) {
    skip_space();
    if (!value(into, 0)) return false;
    skip_space();
    return rest_.empty();
  }
  // Of what was read, beside its text.
  [[nodiscard]] std::size_t cost() const { return cost_ + values_ * JsonCost::kValue; }

 private:
  // `depth` is that of the value around this one.
  bool value(Value& into, std::size_t depth) {
    if (rest_.empty() || ++values_ > limits_.max_values) return false;
    switch (rest_.front()) {
      case '{': return object(into, depth + 1);
      case '[': return array(into, depth + 1);
      case '"':
        into = std::string();
        cost_ += JsonCost::kText;
        return string(into.template get_ref<std::string&>());
      case 't': into = true; return literal("true");
      case 'f': into = false; return literal("false");
      case 'n': into = nullptr; return literal("null");
      default: return number(into);
    }
  }

  bool object(Value& into, std::size_t depth) {
    if (depth > most_depth()) return false;
    into = Value(Value::value_t::object);
    cost_ += JsonCost::kObject;
    auto& members = into.template get_ref<typename Value::object_t&>();
    MemberReader<Value> reader;
    std::string name;
    take_and_skip('{');
    if (take('}')) return true;
    while (true) {
      if (rest_.empty() || rest_.front() != '"' || !string(name)) return false;
      skip_space();
      if (!take_and_skip(':')) return false;
      cost_ += JsonCost::kMember;
      Value* const member = reader.add(members, name);
      if (member == nullptr || !value(*member, depth)) return false;
      skip_space();
      if (take('}')) return true;
      if (!take_and_skip(',')) return false;
    }
  }

  bool array(Value& into, std::size_t depth) {
    if (depth > most_depth()) return false;
    into = Value(Value::value_t::array);
    cost_ += JsonCost::kArray;
    auto& elements = into.template get_ref<typename Value::array_t&>();
    take_and_skip('[');
    if (take(']')) return true;
    while (true) {
      if (!value(elements.emplace_back(), depth)) return false;
      skip_space();
      if (take(']')) return true;
      if (!take_and_skip(',')) return false;
    }
  }

  bool string(std::string& into) {
    into.clear();
    rest_.remove_prefix(1);
    while (true) {
      const std::size_t plain = plain_json_length(rest_);
      into += rest_.substr(0, plain);
      rest_.remove_prefix(plain);
      if (rest_.empty()) return false;
      const char next = rest_.front();
      if (next == '"') break;
      if (next == '\\') {
        if (!take_escape(rest_, into)) return false;
      } else if (needs_json_escape(next) || !take_character(rest_, into)) {
        return false;
      }
    }
    rest_.remove_prefix(1);
    return true;
  }

  bool literal(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  // -? (0 | 1-9 digits) (. digits)? (e sign? digits)?, as RFC 8259 has it.
  bool number(Value& into) {
    const char* const begin = rest_.data();
    const char* const end = begin + rest_.size();
    const auto digits = [end](const char* at) { return std::find_if_not(at, end, is_digit); };
    const bool is_negative = *begin == '-';
    const char* const whole = begin + (is_negative ? 1 : 0);
    const char* at = digits(whole);
    if (at == whole || (*whole == '0' && at - whole > 1)) return false;
    bool is_whole = true;
    if (at != end && *at == '.') {
      is_whole = false;
      const char* const fraction = at + 1;
      at = digits(fraction);
      if (at == fraction) return false;
    }
    if (at != end && (*at == 'e' || *at == 'E')) {
      is_whole = false;
      const char* exponent = at + 1;
      if (exponent != end && (*exponent == '+' || *exponent == '-')) ++exponent;
      at = digits(exponent);
      if (at == exponent) return false;
    }
    rest_.remove_prefix(static_cast<std::size_t>(at - begin));
    if (!is_whole) return converted<double>(begin, at, into);
    if (is_negative) return converted<std::int64_t>(begin, at, into);
    return converted<std::uint64_t>(begin, at, into);
  }

  // One that does not fit is the library's.
  template <class Number>
  static bool converted(const char* begin, const char* end, Value& into) {
    Number number{};
    if (std::from_chars(begin, end, number).ec != std::errc()) return false;
    into = number;
    return true;
  }

  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' ||
                              rest_.front() == '\r' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // And the space behind it.
  bool take_and_skip(char wanted) {
    if (!take(wanted)) return false;
    skip_space();
    return true;
  }
  // This reader goes as deep as its values.
  [[nodiscard]] std::size_t most_depth() const {
    constexpr std::size_t kMost = 256;
    return std::min(limits_.max_depth, kMost);
  }

  std::string_view rest_;
  const JsonLimits& limits_;
  std::size_t values_ = 0;
  std::size_t cost_ = 0;  // beside that of each value
};

}  // namespace

template <class Value>
std::optional<Value> read_plain_json(std::string_view text, const JsonLimits& limits,
                                     std::size_t* cost) {
  std::optional<Value> read(std::in_place);
  Reader<Value> reader(text, limits);
  if (!reader.whole(*read)) read.reset();
  if (cost != nullptr) *cost = reader.cost();
  return read;
}

template std::optional<Json> read_plain_json<Json>(std::string_view, const JsonLimits&,
                                                   std::size_t*);
template std::optional<OrderedJson> read_plain_json<OrderedJson>(std::string_view,
                                                                 const JsonLimits&, std::size_t*);

}  // namespace mcpac
