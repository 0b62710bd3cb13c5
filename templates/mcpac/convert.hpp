// Convert: generated types to JSON and back. JsonForm<T> says how, for every T of EMITTED_FORM.md.
//
// Writing throws InvalidArguments for what JSON cannot hold. Reading never throws: it reads what
// fits and reports the first place that does not, since what is read was written by a server.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "fields.hpp"
#include "json.hpp"

namespace mcpac {

// One row of the table that generated enums come with.
template <class E>
struct Enumerator {
  E value;
  ::std::string_view text;
};

// The original text of an enumerator; empty for a number that is none.
template <class E>
[[nodiscard]] constexpr ::std::string_view enum_text(E value) {
  for (const Enumerator<E>& row : mcpac_enumerators(value)) {
    if (row.value == value) return row.text;
  }
  return {};
}

namespace detail {

// The first thing that did not fit: a JSON pointer, and what was expected there.
struct Misfit {
  ::std::string pointer{};
  ::std::string expected{};
};

// Sets the innermost place; the callers put their steps before it on the way back.
[[nodiscard]] inline bool misfit(Misfit& at, const char* expected) {
  if (at.expected.empty()) at.expected = expected;
  return false;
}

inline void step_out(Misfit& at, ::std::string_view step) {
  ::std::string escaped = "/";
  for (const char c : step) {
    if (c == '~' || c == '/') {
      escaped += c == '~' ? "~0" : "~1";
    } else {
      escaped += c;
    }
  }
  at.pointer.insert(0, escaped);
}

template <class T>
struct JsonForm;

template <class T>
[[nodiscard]] Json to_json(const T& value) {
  return JsonForm<T>::write(value);
}

// Reads a part; on failure its step is put before the pointer of the first misfit.
template <class T>
[[nodiscard]] bool read_part(const Json& json, T& into, ::std::string_view step, Misfit& at) {
  Misfit inner;
  if (JsonForm<T>::read(json, into, inner)) return true;
  if (at.expected.empty()) {
    at = ::std::move(inner);
    step_out(at, step);
  }
  return false;
}

template <>
struct JsonForm<Json> {
  static Json write(const Json& value) { return value; }
  static bool read(const Json& json, Json& into, Misfit&) { return into = json, true; }
};

template <>
struct JsonForm<::std::string> {
  static Json write(const ::std::string& value) { return value; }
  static bool read(const Json& json, ::std::string& into, Misfit& at) {
    if (!json.is_string()) return misfit(at, "a string");
    return into = json.get_ref<const ::std::string&>(), true;
  }
};

template <>
struct JsonForm<bool> {
  static Json write(bool value) { return value; }
  static bool read(const Json& json, bool& into, Misfit& at) {
    if (!json.is_boolean()) return misfit(at, "true or false");
    return into = json.get<bool>(), true;
  }
};

template <>
struct JsonForm<double> {
  static Json write(double value) {
    if (!::std::isfinite(value)) {
      throw InvalidArguments(
          invalid_argument("JSON has no infinite numbers and no NaN", "", "type"));
    }
    return value;
  }
  static bool read(const Json& json, double& into, Misfit& at) {
    if (!json.is_number()) return misfit(at, "a number");
    return into = json.get<double>(), true;
  }
};

// 3.0 is an integer in JSON Schema; 3.5 and what is out of range are none.
template <class T>
[[nodiscard]] bool read_integer(const Json& json, T& into, Misfit& at) {
  if (json.is_number_unsigned()) {
    const auto value = json.get<::std::uint64_t>();
    if (value > static_cast<::std::uint64_t>(::std::numeric_limits<T>::max())) {
      return misfit(at, "an integer of 64 bits");
    }
    return into = static_cast<T>(value), true;
  }
  if (json.is_number_integer()) {
    const auto value = json.get<::std::int64_t>();
    if (value < 0 && !::std::is_signed_v<T>) return misfit(at, "an integer that is not negative");
    return into = static_cast<T>(value), true;
  }
  if (!json.is_number_float()) return misfit(at, "an integer");
  const double value = json.get<double>();
  const double limit = ::std::is_signed_v<T> ? 9223372036854775808.0 : 18446744073709551616.0;
  const double lowest = ::std::is_signed_v<T> ? -limit : 0.0;
  if (!(value >= lowest && value < limit) || ::std::trunc(value) < value ||
      ::std::trunc(value) > value) {
    return misfit(at, "an integer");
  }
  return into = static_cast<T>(value), true;
}

template <>
struct JsonForm<::std::int64_t> {
  static Json write(::std::int64_t value) { return value; }
  static bool read(const Json& json, ::std::int64_t& into, Misfit& at) {
    return read_integer(json, into, at);
  }
};

template <>
struct JsonForm<::std::uint64_t> {
  static Json write(::std::uint64_t value) { return value; }
  static bool read(const Json& json, ::std::uint64_t& into, Misfit& at) {
    return read_integer(json, into, at);
  }
};

template <class T>
struct JsonForm<::std::vector<T>> {
  static Json write(const ::std::vector<T>& value) {
    Json json = Json::array();
    for (const auto& item : value) json.push_back(to_json<T>(item));
    return json;
  }
  static bool read(const Json& json, ::std::vector<T>& into, Misfit& at) {
    if (!json.is_array()) return misfit(at, "an array");
    bool fits = true;
    into.clear();
    for (const Json& item : json) {
      T value{};
      fits = read_part(item, value, ::std::to_string(into.size()), at) && fits;
      into.push_back(::std::move(value));
    }
    return fits;
  }
};

template <class T>
struct JsonForm<::std::map<::std::string, T>> {
  static Json write(const ::std::map<::std::string, T>& value) {
    Json json = Json::object();
    for (const auto& [name, item] : value) json[name] = to_json<T>(item);
    return json;
  }
  static bool read(const Json& json, ::std::map<::std::string, T>& into, Misfit& at) {
    if (!json.is_object()) return misfit(at, "an object");
    bool fits = true;
    into.clear();
    for (const auto& member : json.items()) {
      fits = read_part(member.value(), into[member.key()], member.key(), at) && fits;
    }
    return fits;
  }
};

template <class... T>
struct JsonForm<::std::tuple<T...>> {
  static Json write(const ::std::tuple<T...>& value) {
    Json json = Json::array();
    ::std::apply([&json](const T&... item) { (json.push_back(to_json<T>(item)), ...); }, value);
    return json;
  }
  static bool read(const Json& json, ::std::tuple<T...>& into, Misfit& at) {
    if (!json.is_array() || json.size() != sizeof...(T)) {
      return misfit(at, "an array of the schema's length");
    }
    ::std::size_t i = 0;
    bool fits = true;
    const auto one = [&](auto& item) {
      fits = read_part(json[i], item, ::std::to_string(i), at) && fits;
      ++i;
    };
    ::std::apply([&one](T&... item) { (one(item), ...); }, into);
    return fits;
  }
};

template <class... T>
struct JsonForm<Variant<T...>> {
  static Json write(const Variant<T...>& value) {
    return ::std::visit([](const auto& item) { return to_json(item); },
                        static_cast<const ::std::variant<T...>&>(value));
  }
  // The first alternative that fits.
  static bool read(const Json& json, Variant<T...>& into, Misfit& at) {
    if ((try_one<T>(json, into) || ...)) return true;
    return misfit(at, "one of the schema's alternatives");
  }
  template <class One>
  static bool try_one(const Json& json, Variant<T...>& into) {
    One value{};
    Misfit ignored;
    if (!JsonForm<One>::read(json, value, ignored)) return false;
    return into = ::std::move(value), true;
  }
};

template <class T>
struct JsonForm<Nullable<T>> {
  static Json write(const Nullable<T>& value) { return value ? to_json<T>(*value) : Json(); }
  static bool read(const Json& json, Nullable<T>& into, Misfit& at) {
    into.reset();
    if (json.is_null()) return true;
    T value{};
    const bool fits = JsonForm<T>::read(json, value, at);
    into.emplace(::std::move(value));
    return fits;
  }
};

template <class T>
struct JsonForm<Box<T>> {
  static Json write(const Box<T>& value) { return to_json<T>(*value); }
  static bool read(const Json& json, Box<T>& into, Misfit& at) {
    return JsonForm<T>::read(json, *into, at);
  }
};

template <class T>
struct JsonForm<Required<T>> {
  static Json write(const Required<T>& value) { return to_json<T>(value.value); }
  static bool read(const Json& json, Required<T>& into, Misfit& at) {
    return JsonForm<T>::read(json, into.value, at);
  }
};

// Enums.
template <class T>
requires ::std::is_enum_v<T>
struct JsonForm<T> {
  static Json write(T value) {
    const ::std::string_view text = enum_text(value);
    for (const Enumerator<T>& row : mcpac_enumerators(value)) {
      if (row.value == value) return text;
    }
    throw InvalidArguments(invalid_argument("not a value of the enumeration", "", "enum"));
  }
  static bool read(const Json& json, T& into, Misfit& at) {
    if (!json.is_string()) return misfit(at, "a string");
    for (const Enumerator<T>& row : mcpac_enumerators(T{})) {
      if (row.text == json.get_ref<const ::std::string&>()) return into = row.value, true;
    }
    return misfit(at, "one of the schema's values");
  }
};

// Structs: one visitor each way over mcpac_visit.
template <class T>
inline constexpr bool is_optional_field = false;
template <class T>
inline constexpr bool is_optional_field<Optional<T>> = true;
template <class T>
concept may_be_absent = requires(const T& value) {
  value.mcpac_presence.present;
};

struct Writer {
  Json object = Json::object();
  template <class T>
  void operator()(const char* name, const T& field) {
    if constexpr (is_optional_field<T>) {
      if (field.has_value()) object[name] = to_json(*field);
    } else if constexpr (may_be_absent<T>) {
      if (field.mcpac_presence.present) object[name] = to_json(field);
    } else {
      object[name] = to_json(field);
    }
  }
};

struct Reader {
  const Json& object;
  Misfit& at;
  bool fits = true;
  template <class T>
  void operator()(const char* name, T& field) {
    const auto found = object.find(name);
    if constexpr (is_optional_field<T>) {
      field.reset();
      if (found != object.end()) read_optional(*found, field, name);
    } else if (found == object.end()) {
      if constexpr (may_be_absent<T>) {
        field.mcpac_presence.present = false;
      } else {
        fits = missing(name);
      }
    } else {
      fits = read_part(*found, field, name, at) && fits;
    }
  }

 private:
  template <class T>
  void read_optional(const Json& json, Optional<T>& field, const char* name) {
    // Many servers write null for "not there"; where null is a value of T, it is read as one.
    if (json.is_null() && Kind<T>::shape != Shape::nullable && Kind<T>::shape != Shape::json)
      return;
    // Not emplace() in place: clang 14 remembers that T had no default constructor while its
    // enclosing struct was incomplete.
    T value{};
    fits = read_part(json, value, name, at) && fits;
    if (fits) field.emplace(::std::move(value));
  }
  [[nodiscard]] bool missing(const char* name) {
    if (!at.expected.empty()) return false;
    at.expected = "a value";
    step_out(at, name);
    return false;
  }
};

template <class T>
requires requires(T& value, Writer& writer) {
  T::mcpac_visit(value, writer);
}
struct JsonForm<T> {
  static Json write(const T& value) {
    Writer writer;
    T::mcpac_visit(value, writer);
    return ::std::move(writer.object);
  }
  static bool read(const Json& json, T& into, Misfit& at) {
    if (!json.is_object()) return misfit(at, "an object");
    Reader reader{json, at};
    T::mcpac_visit(into, reader);
    return reader.fits;
  }
};

template <class T>
[[nodiscard]] T from_json(const Json& json) {
  T value{};
  Misfit at;
  if (JsonForm<T>::read(json, value, at)) return value;
  throw InvalidArguments(invalid_argument("expected " + at.expected, at.pointer, "type"));
}

}  // namespace detail
}  // namespace mcpac
