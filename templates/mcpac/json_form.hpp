// JsonForm<T>: how a value is written as JSON and read from it; here for scalars and containers of
// the library. convert.hpp has it for what is generated, and says what it promises.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fields.hpp"
#include "json.hpp"

namespace mcpac::detail {

// Who wrote what is read: a server may add members that nobody named, whoever gives a run its
// arguments has mistyped one, and wants to hear of every choice.
enum class Source : unsigned char { server, person };
enum class Fault : unsigned char { value, missing, unknown };

// The first thing that did not fit: a JSON pointer, and what was expected there (of an unknown
// member, the names that are known).
struct Misfit {
  ::std::string pointer{};
  ::std::string expected{};
  // Alternatives tried so far: of a tree of unions every level may be read several times, and what
  // is read was written by a server.
  unsigned tried = 0;
  Source source = Source::server;
  Fault fault = Fault::value;
  // What its type cannot hold is no misfit: its mark is read, and its place noted here.
  bool is_lenient = false;
  unsigned depth = 0;
  ::std::vector<::std::string> unread{};

  // For a part of what is read.
  [[nodiscard]] Misfit inner() const {
    Misfit part;
    part.tried = tried;
    part.source = source;
    part.is_lenient = is_lenient;
    part.depth = depth + 1;
    return part;
  }
};
inline constexpr unsigned kMaxTried = 100'000;
inline constexpr ::std::size_t kMostUnread = 100;
// Of types that contain themselves: a text of a server may nest as deep as it is long, and each
// level takes of the stack. Four times what the host lets through as JSON.
inline constexpr unsigned kDeepest = 512;

// Sets the innermost place; the callers put their steps before it on the way back.
[[nodiscard]] inline bool misfit(Misfit& at, ::std::string_view expected) {
  if (at.expected.empty()) at.expected = expected;
  return false;
}

[[nodiscard]] inline ::std::string pointer_step(::std::string_view step) {
  ::std::string escaped = "/";
  for (const char c : step) {
    if (c == '~' || c == '/') {
      escaped += c == '~' ? "~0" : "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

inline void step_out(Misfit& at, ::std::string_view step) {
  at.pointer.insert(0, pointer_step(step));
}

// The mark of a type: what a field of a result holds whose value did not fit. No number, and the
// integer farthest from all that are in use; of an enum, no enumerator.
template <class T>
[[nodiscard]] constexpr T mark_of() {
  using Limits = ::std::numeric_limits<T>;
  if constexpr (is_integer_enum<T>) {
    using Number = ::std::underlying_type_t<T>;
    Number mark = mark_of<Number>();
    const auto is_listed = [&mark] {
      for (const T row : mcpac_enumerators(T{})) {
        if (static_cast<Number>(row) == mark) return true;
      }
      return false;
    };
    while (is_listed()) mark += ::std::is_signed_v<Number> ? 1 : -1;
    return static_cast<T>(mark);
  } else if constexpr (::std::is_enum_v<T>) {
    return static_cast<T>(-1);
  } else if constexpr (::std::is_floating_point_v<T>) {
    return Limits::quiet_NaN();
  } else {
    return Limits::is_signed ? Limits::min() : Limits::max();
  }
}

// Integers of 64 bits, as generated structs have them; the least of smaller ones is a number as
// any.
template <class T>
inline constexpr bool may_be_mark = ::std::is_integral_v<T> && sizeof(T) == sizeof(::std::int64_t);

// Whether such an integer of this process may be a mark: then it is not sent. A function that is
// never inlined: no program has a definition of its own, which the check of objects would refuse.
[[nodiscard, gnu::noinline]] inline ::std::atomic<bool>& has_marked_integers() {
  static constinit ::std::atomic<bool> marked{false};
  return marked;
}

// A value that a schema allows and a T cannot hold.
template <class T>
[[nodiscard]] bool unfitting(T& into, Misfit& at, ::std::string_view expected) {
  if (!at.is_lenient) return misfit(at, expected);
  into = mark_of<T>();
  if constexpr (may_be_mark<T>) has_marked_integers() = true;
  if (at.unread.size() < kMostUnread) at.unread.emplace_back();
  return true;
}

// nlohmann's library puts a number before its words: "[json.exception.type_error.302] type must …".
[[nodiscard]] inline bool is_of_library(::std::string_view what) {
  return what.starts_with("[json.exception.type_error.");
}
[[nodiscard]] inline ::std::string said_of_type(::std::string_view what) {
  const ::std::size_t end = what.starts_with("[json.exception.") ? what.find("] ") : what.npos;
  return ::std::string(end == what.npos ? what : what.substr(end + 2));
}

// What nlohmann's library can read and write, for types that programs bring along.
template <class T>
struct JsonForm {
  static Json write(const T& value) { return value; }
  static bool read(const Json& json, T& into, Misfit& at) {
    if (json.is_discarded()) return misfit(at, "a value");
    try {
      json.get_to(into);
      return true;
    } catch (const ::std::exception& error) {  // from_json of a program may throw what it likes
      // To a person only what the library says of types: a program's own words may quote the value.
      const ::std::string why = at.source == Source::server || is_of_library(error.what())
                                    ? " (" + said_of_type(error.what()) + ")"
                                    : "";
      return misfit(at, "a value of its type" + why);
    }
  }
};

template <class T>
[[nodiscard]] Json to_json(const T& value) {
  return JsonForm<T>::write(value);
}

// Reads a part; on failure its step is put before the pointer of the first misfit.
template <class T>
[[nodiscard]] bool read_part(const Json& json, T& into, ::std::string_view step, Misfit& at) {
  Misfit inner = at.inner();
  const bool fits = inner.depth <= kDeepest ? JsonForm<T>::read(json, into, inner)
                                            : misfit(inner, "a value that is not so deep");
  at.tried = inner.tried;
  for (::std::string& place : inner.unread) {
    if (at.unread.size() < kMostUnread) at.unread.push_back(pointer_step(step) + place);
  }
  if (fits) return true;
  if (at.expected.empty()) {
    at = ::std::move(inner);
    step_out(at, step);
  }
  return false;
}

// What a T would have to be; empty where anything would do. (No type but Json itself takes the
// value that stands for a text which is no JSON.)
template <class T>
[[nodiscard]] ::std::string wanted(T& into) {
  Misfit at;
  at.source = Source::person;
  (void)JsonForm<T>::read(Json(Json::value_t::discarded), into, at);
  return at.expected;
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

// A number without a fraction is written without one: some servers read 5.0 as no integer.
[[nodiscard]] inline Json number_json(double value) {
  if (!::std::isfinite(value)) {
    throw InvalidArguments(invalid_argument("JSON has no infinite numbers and no NaN", "", "type"));
  }
  constexpr double exact = 9007199254740992.0;  // 2^53: every integer up to it is a double
  const double whole = ::std::trunc(value);
  const bool fraction = whole < value || whole > value || whole > exact || whole < -exact;
  if (fraction || (::std::signbit(value) && !(value < 0))) return value;
  return static_cast<::std::int64_t>(value);
}

// False for an integer of 64 bits whose last digits `real` has lost.
[[nodiscard]] inline bool keeps_digits_of(const Json& json, double real) {
  if (json.is_number_unsigned()) return keeps_digits(real, json.get<::std::uint64_t>());
  return !json.is_number_integer() || keeps_digits(real, json.get<::std::int64_t>());
}

template <class T>
requires ::std::is_floating_point_v<T>
struct JsonForm<T> {
  static Json write(T value) { return number_json(static_cast<double>(value)); }
  static bool read(const Json& json, T& into, Misfit& at) {
    if (!json.is_number()) return misfit(at, "a number");
    into = json.get<T>();
    if (!::std::isfinite(into)) return misfit(at, "a number that is not so large");
    if (!keeps_digits_of(json, static_cast<double>(into)))
      return unfitting(into, at, "a number that keeps its digits as a double");
    return true;
  }
};

// 3.0 is an integer in JSON Schema; 3.5 and what is out of range are none.
template <class T>
[[nodiscard]] bool read_integer(const Json& json, T& into, Misfit& at) {
  using Limits = ::std::numeric_limits<T>;
  const bool is_signed = Limits::is_signed;
  if (json.is_number_unsigned()) {
    const auto value = json.get<::std::uint64_t>();
    if (value > static_cast<::std::uint64_t>(Limits::max()))
      return unfitting(into, at, "an integer that is not so large");
    return into = static_cast<T>(value), true;
  }
  if (json.is_number_integer()) {
    const auto value = json.get<::std::int64_t>();
    if (value < 0 && !is_signed) return misfit(at, "an integer that is not negative");
    // A program's own Json may hold a large number as a signed one; read from text none does.
    if (value > 0 &&
        static_cast<::std::uint64_t>(value) > static_cast<::std::uint64_t>(Limits::max()))
      return unfitting(into, at, "an integer that is not so large");
    if (value < 0 && value < static_cast<::std::int64_t>(Limits::min()))
      return unfitting(into, at, "an integer that is not so small");
    return into = static_cast<T>(value), true;
  }
  if (!json.is_number_float()) return misfit(at, "an integer");
  const double value = json.get<double>();
  const double limit = ::std::ldexp(1.0, Limits::digits);
  const double lowest = is_signed ? -limit : 0.0;
  // The lowest of all would have come as an integer: as a double it stands for anything below, too.
  const bool too_small = is_signed ? !(value > lowest) : !(value >= lowest);
  if (::std::trunc(value) < value || ::std::trunc(value) > value) return misfit(at, "an integer");
  if (too_small && !is_signed) return misfit(at, "an integer");
  if (too_small || !(value < limit)) return unfitting(into, at, "an integer");
  return into = static_cast<T>(value), true;
}

// Whether `json` is the number, text, truth or null that `expected` is. (Json's own comparison
// casts a large unsigned number to a negative one.)
[[nodiscard]] inline bool is_scalar(const Json& json, const Json& expected) {
  const auto is_integer = [&json](auto value) {
    Misfit ignored;
    decltype(value) read{};
    return read_integer(json, read, ignored) && read == value;
  };
  if (expected.is_number_unsigned()) return is_integer(expected.get<::std::uint64_t>());
  if (expected.is_number_integer()) return is_integer(expected.get<::std::int64_t>());
  return json == expected;
}

template <class T>
requires(::std::is_integral_v<T> && !::std::is_same_v<T, bool>) struct JsonForm<T> {
  static Json write(T value) {
    if constexpr (may_be_mark<T>) {
      if (value == mark_of<T>() && has_marked_integers()) {
        throw InvalidArguments(invalid_argument(
            "this integer marks a field of a result that could not hold what the tool answered: "
            "read it from .structured()",
            "", "type"));
      }
    }
    return value;
  }
  static bool read(const Json& json, T& into, Misfit& at) { return read_integer(json, into, at); }
};

template <class T>
struct JsonForm<::std::optional<T>> {
  static Json write(const ::std::optional<T>& value) { return value ? to_json<T>(*value) : Json(); }
  static bool read(const Json& json, ::std::optional<T>& into, Misfit& at) {
    into.reset();
    if (json.is_null()) return true;
    return JsonForm<T>::read(json, into.emplace(blank<T>()), at);
  }
};

// A pointer that owns: null stands for none. `struct Node { …; std::unique_ptr<Node> next; };`
template <class P>
struct PointerForm {
  using T = typename P::element_type;
  static Json write(const P& value) { return value ? to_json<T>(*value) : Json(); }
  static bool read(const Json& json, P& into, Misfit& at) {
    into.reset();
    if (json.is_null()) return true;
    T value = blank<T>();
    const bool fits = JsonForm<T>::read(json, value, at);
    into = P(new T(::std::move(value)));
    return fits;
  }
};
template <class T>
struct JsonForm<::std::unique_ptr<T>> : PointerForm<::std::unique_ptr<T>> {};
template <class T>
struct JsonForm<::std::shared_ptr<T>> : PointerForm<::std::shared_ptr<T>> {};

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
      T value = blank<T>();
      fits = read_part(item, value, ::std::to_string(into.size()), at) && fits;
      into.push_back(::std::move(value));
    }
    return fits;
  }
};

// Only into `json` where nothing has that name yet.
template <class Map>
void write_members(const Map& members, Json& json) {
  for (const auto& [name, item] : members) {
    if (!json.contains(name)) json[name] = to_json<typename Map::mapped_type>(item);
  }
}

template <class Map>
struct MapForm {
  using T = typename Map::mapped_type;
  static Json write(const Map& value) {
    Json json = Json::object();
    write_members(value, json);
    return json;
  }
  static bool read(const Json& json, Map& into, Misfit& at) {
    if (!json.is_object()) return misfit(at, "an object");
    bool fits = true;
    into.clear();
    for (const auto& member : json.items()) {
      T value = blank<T>();
      fits = read_part(member.value(), value, member.key(), at) && fits;
      into.insert_or_assign(member.key(), ::std::move(value));
    }
    return fits;
  }
};

template <class T>
struct JsonForm<::std::map<::std::string, T>> : MapForm<::std::map<::std::string, T>> {};
template <class T>
struct JsonForm<::std::unordered_map<::std::string, T>>
    : MapForm<::std::unordered_map<::std::string, T>> {};

template <class... T>
struct JsonForm<::std::tuple<T...>> {
  static Json write(const ::std::tuple<T...>& value) {
    Json json = Json::array();
    ::std::apply([&json](const T&... item) { (json.push_back(to_json<T>(item)), ...); }, value);
    return json;
  }
  static bool read(const Json& json, ::std::tuple<T...>& into, Misfit& at) {
    if (!json.is_array() || json.size() != sizeof...(T)) {
      return misfit(at, "an array of " + ::std::to_string(sizeof...(T)));
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

}  // namespace mcpac::detail
