#include "core/json.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <vector>

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
  bool string(string_t& value) { return put(Value(std::move(value))); }
  bool binary(binary_t&) { return refuse("binary values do not occur in JSON"); }

  bool start_object(std::size_t) { return open(Value::object()); }
  bool start_array(std::size_t) { return open(Value::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(string_t& name) {
    if (!stack_.back().keys.insert(name).second) {
      return refuse(fmt::format("the member \"{}\" stands twice in one object", name.substr(0, 64)));
    }
    stack_.back().key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) {
    position_ = position;
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while …"
    std::string_view reason = error.what();
    const auto colon = reason.find(": ");
    message_ = colon == std::string_view::npos ? std::string(reason) : std::string(reason.substr(colon + 2));
    if (error.id == 406) message_ = "a number is out of range";
    return false;
  }

  Value take() { return std::move(root_); }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] bool over_limit() const { return over_limit_; }
  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  struct Level {
    Value value;
    std::string key;
    std::set<std::string, std::less<>> keys;
  };

  bool refuse(std::string message) {
    message_ = std::move(message);
    return false;
  }
  bool limit(std::string message) {
    over_limit_ = true;
    return refuse(std::move(message));
  }
  bool put(Value&& value) {
    if (++values_ > limits_.max_values) {
      return limit(fmt::format("more than {} values", limits_.max_values));
    }
    if (stack_.empty()) {
      root_ = std::move(value);
    } else if (auto& top = stack_.back(); top.value.is_array()) {
      top.value.push_back(std::move(value));
    } else if constexpr (std::is_same_v<Value, OrderedJson>) {
      // Keys are known to be new, so the linear search of ordered_map::emplace can be skipped.
      auto& object = top.value.template get_ref<typename Value::object_t&>();
      static_cast<typename Value::object_t::Container&>(object).emplace_back(std::move(top.key), std::move(value));
    } else {
      top.value.template get_ref<typename Value::object_t&>().emplace(std::move(top.key), std::move(value));
    }
    return true;
  }
  bool open(Value&& value) {
    if (stack_.size() >= limits_.max_depth) {
      return limit(fmt::format("nested deeper than {} levels", limits_.max_depth));
    }
    stack_.push_back({std::move(value), {}, {}});
    return true;
  }
  bool close() {
    Value done = std::move(stack_.back().value);
    stack_.pop_back();
    return put(std::move(done));
  }

  const JsonLimits& limits_;
  Value root_;
  std::vector<Level> stack_;
  std::size_t values_ = 0;
  std::string message_;
  std::size_t position_ = 0;
  bool over_limit_ = false;
};

std::string located(std::string_view where, std::string_view text, std::size_t offset) {
  const Place place = place_of(text, offset);
  return where.empty() ? fmt::format("line {}, column {}", place.line, place.column)
                       : fmt::format("{}:{}:{}", where, place.line, place.column);
}

template <class Value>
Result<Value> parse(std::string_view text, std::string_view where, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return fail(ErrorId::kJsonLimit,
                fmt::format("JSON text of {} bytes is over the limit of {}", text.size(), limits.max_bytes),
                {.where = std::string(where)});
  }
  Builder<Value> builder(limits);
  const bool ok = Value::sax_parse(text.begin(), text.end(), &builder);
  if (ok) return builder.take();
  const ErrorId id = builder.over_limit() ? ErrorId::kJsonLimit : ErrorId::kJsonSyntax;
  // A refusal of ours has no position from the parser: it names the member or the limit instead.
  const std::string place = builder.position() > 0 ? located(where, text, builder.position() - 1) : std::string(where);
  return fail(id, "malformed JSON: " + builder.message(), {.where = place});
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view where, const JsonLimits& limits) {
  return parse<Json>(text, where, limits);
}

Result<OrderedJson> parse_ordered_json(std::string_view text, std::string_view where,
                                       const JsonLimits& limits) {
  return parse<OrderedJson>(text, where, limits);
}

std::string to_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string to_text(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

const Json* find_member(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string string_member(const Json& object, std::string_view name, std::string_view fallback) {
  const Json* member = find_member(object, name);
  return member != nullptr && member->is_string() ? member->get<std::string>() : std::string(fallback);
}

}  // namespace mcpac
