// SPDX-License-Identifier: Apache-2.0

#include "core/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/json_cost.h"
#include "core/json_members.h"
#include "core/json_reader.h"
#include "core/json_writer.h"

namespace mcpac {
namespace {

struct Place {
  std::size_t line = 1;
  std::size_t column = 1;
};

Place place_of(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const auto before = text.substr(0, offset);
  const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
  const auto last = before.rfind('\n');
  return {line, last == std::string_view::npos ? offset + 1 : offset - last};
}

// Reads the text and leaves behind how far it came: nlohmann tells its handlers no position.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  const char** reached_;
};

// Builds a value as nlohmann's own handler does, and adds the checks that it lacks.
template <class Value>
class Builder {
 public:
  using number_integer_t = typename Value::number_integer_t;
  using number_unsigned_t = typename Value::number_unsigned_t;
  using number_float_t = typename Value::number_float_t;
  using string_t = typename Value::string_t;
  using binary_t = typename Value::binary_t;

  explicit Builder(const JsonLimits& limits) : limits_(limits) {}

  bool null() { return put(Value(nullptr)); }
  bool boolean(bool value) { return put(Value(value)); }
  bool number_integer(number_integer_t value) { return put(Value(value)); }
  bool number_unsigned(number_unsigned_t value) { return put(Value(value)); }
  bool number_float(number_float_t value, const string_t&) { return put(Value(value)); }
  bool string(string_t& value) {
    cost_ += JsonCost::kText;
    return put(Value(std::move(value)));
  }
  bool binary(binary_t&) { return refuse("binary values do not occur in JSON"); }

  bool start_object(std::size_t) {
    cost_ += JsonCost::kObject;
    return open(Value::object());
  }
  bool start_array(std::size_t) {
    cost_ += JsonCost::kArray;
    return open(Value::array());
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(string_t& name) {
    cost_ += JsonCost::kMember;
    auto& members = open_.back().value->template get_ref<typename Value::object_t&>();
    slot_ = open_.back().members.add(members, name);
    if (slot_ != nullptr) return true;
    at_name_ = true;
    return refuse(fmt::format("the member \"{}\" stands twice in one object", name.substr(0, 64)));
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while …; last
    // read: '…'; expected …". What was read last can be a secret of a configuration: it stays out.
    std::string_view reason = error.what();
    if (const auto colon = reason.find(": "); colon != std::string_view::npos)
      reason.remove_prefix(colon + 2);
    message_ = std::string(reason.substr(0, reason.find("; last read")));
    if (error.id == 406) message_ = "a number is out of range";
    return false;
  }

  Value take() { return std::move(root_); }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] bool over_limit() const { return over_limit_; }
  // Whether the refusal came right after a name, which then is what it is about.
  [[nodiscard]] bool at_name() const { return at_name_; }
  // Of what was read, beside its text.
  [[nodiscard]] std::size_t cost() const { return cost_ + values_ * JsonCost::kValue; }

 private:
  struct Level {
    Value*
        value;  // stays where it is: nothing is added to an outer value while an inner one is open
    MemberReader<Value> members{};
  };

  bool refuse(std::string message) {
    message_ = std::move(message);
    return false;
  }
  bool limit(std::string message) {
    over_limit_ = true;
    return refuse(std::move(message));
  }
  bool put(Value&& value) { return place(std::move(value)) != nullptr; }
  Value* place(Value&& value) {
    if (++values_ > limits_.max_values) {
      limit(fmt::format("more than {} values", limits_.max_values));
      return nullptr;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Value& outer = *open_.back().value;
    if (outer.is_array()) {
      return &outer.template get_ref<typename Value::array_t&>().emplace_back(std::move(value));
    }
    *slot_ = std::move(value);
    return slot_;
  }
  bool open(Value&& value) {
    if (open_.size() >= limits_.max_depth) {
      return limit(fmt::format("nested deeper than {} levels", limits_.max_depth));
    }
    Value* placed = place(std::move(value));
    if (placed == nullptr) return false;
    open_.push_back({placed});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const JsonLimits& limits_;
  Value root_;
  Value* slot_ = nullptr;  // where the value of the name just read goes
  std::vector<Level> open_;
  std::size_t values_ = 0;
  std::size_t cost_ = 0;  // beside that of each value
  std::string message_;
  bool over_limit_ = false;
  bool at_name_ = false;
};

std::string located(std::string_view where, std::string_view text, std::size_t offset) {
  const Place place = place_of(text, offset);
  return where.empty() ? fmt::format("line {}, column {}", place.line, place.column)
                       : fmt::format("{}:{}:{}", where, place.line, place.column);
}

// The opening quote of the name whose closing quote is the last byte.
std::size_t start_of_name(std::string_view text) {
  for (std::size_t at = text.size() - 1; at-- > 0;) {
    if (text[at] != '"') continue;
    std::size_t backslashes = 0;
    while (backslashes < at && text[at - backslashes - 1] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return at;
  }
  return 0;
}

template <class Value>
Result<Value> parse(std::string_view text, std::string_view where, const JsonLimits& limits,
                    std::size_t* beside = nullptr) {
  if (text.size() > limits.max_bytes) {
    return fail(
        ErrorId::kJsonLimit,
        fmt::format("JSON text of {} bytes is over the limit of {}", text.size(), limits.max_bytes),
        {.where = std::string(where)});
  }
  if (auto read = read_plain_json<Value>(text, limits, beside)) return std::move(*read);
  Builder<Value> builder(limits);
  const char* reached = text.data();
  const CountingIterator first(text.data(), &reached);
  const CountingIterator last(text.data() + text.size(), &reached);
  const bool is_read = Value::sax_parse(first, last, &builder);
  if (beside != nullptr) *beside = builder.cost();
  if (is_read) return builder.take();
  const auto read = static_cast<std::size_t>(reached - text.data());
  // The last byte read is the one that was one too many, except at the end of the text.
  const bool at_end =
      read == text.size() && builder.message().find("end of input") != std::string::npos;
  std::size_t offset = read == 0 || at_end ? read : read - 1;
  if (builder.at_name()) offset = start_of_name(text.substr(0, read));
  const std::string place = located(where, text, offset);
  if (builder.over_limit())
    return fail(ErrorId::kJsonLimit, "JSON beyond a limit: " + builder.message(), {.where = place});
  return fail(ErrorId::kJsonSyntax, "malformed JSON: " + builder.message(), {.where = place});
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view where, const JsonLimits& limits) {
  return parse<Json>(text, where, limits);
}

Result<Json> parse_json_counted(std::string_view text, const JsonLimits& limits,
                                std::size_t& beside) {
  return parse<Json>(text, "", limits, &beside);
}

Result<OrderedJson> parse_ordered_json(std::string_view text, std::string_view where,
                                       const JsonLimits& limits) {
  return parse<OrderedJson>(text, where, limits);
}

std::size_t beside_text(const Json& value) {
  std::size_t cost = JsonCost::kValue;
  if (value.is_string()) return cost + JsonCost::kText;
  if (!value.is_structured()) return cost;
  cost +=
      value.is_array() ? JsonCost::kArray : JsonCost::kObject + value.size() * JsonCost::kMember;
  for (const Json& inner : value) cost += beside_text(inner);
  return cost;
}

std::string to_text(const Json& value) {
  std::string out;
  append_json(out, value);
  return out;
}
std::string to_text(const OrderedJson& value) {
  std::string out;
  append_json(out, value);
  return out;
}

const Json* find_member(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string string_member(const Json& object, std::string_view name, std::string_view fallback) {
  const Json* member = find_member(object, name);
  return member != nullptr && member->is_string() ? member->get<std::string>()
                                                  : std::string(fallback);
}

}  // namespace mcpac
