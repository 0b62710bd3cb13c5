// Convert: generated types to JSON and back. JsonForm<T> says how, for every T of EMITTED_FORM.md.
//
// Writing throws InvalidArguments for what JSON cannot hold. Reading never throws: it reads what
// fits and reports the first place that does not, since what is read was written by a server.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "arguments_words.hpp"
#include "content.hpp"
#include "error.hpp"
#include "fields.hpp"
#include "json.hpp"
#include "json_form.hpp"
#include "structs.hpp"

namespace mcpac {

class ToolResult;  // result.hpp

// A value of an enum that holds more than texts.
using Scalar = ::std::variant<::std::string_view, ::std::int64_t, ::std::uint64_t, double, bool>;

// One row of the table that generated enums come with. An enum of integers has no texts: its
// enumerators are the numbers, and its table lists them.
template <class E, class Value = ::std::string_view>
struct Enumerator {
  E value;
  Value text;
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

template <class T>
inline constexpr bool is_optional_field = false;
template <class T>
inline constexpr bool is_optional_field<Optional<T>> = true;
template <class T>
inline constexpr bool is_optional_field<::std::optional<T>> = true;
template <class T>
inline constexpr bool is_pointer_field = false;
template <class T>
inline constexpr bool is_pointer_field<::std::unique_ptr<T>> = true;
template <class T>
inline constexpr bool is_pointer_field<::std::shared_ptr<T>> = true;
template <class T>
inline constexpr bool is_optional_field<::std::unique_ptr<T>> = true;
template <class T>
inline constexpr bool is_optional_field<::std::shared_ptr<T>> = true;
template <class T>
inline constexpr bool is_required_field = false;
template <class T>
inline constexpr bool is_required_field<Required<T>> = true;
template <class F>
struct FieldValue {
  using type = F;
};
template <class T>
struct FieldValue<Required<T>> {
  using type = T;
};
template <class T>
struct FieldValue<Optional<T>> {
  using type = T;
};
template <class T>
concept may_be_absent = requires(const T& value) {
  value.mcpac_presence.present;
};

// Structs, generated or a program's own: a static mcpac_visit names their members.
struct AnyVisitor {
  template <class... T>
  void operator()(const char*, const T&...) {}
  template <class S, class T>
  void extra(const S&, const Extra<T>&) {}
};
template <class T>
concept visited = requires(T& value, AnyVisitor& visitor) {
  T::mcpac_visit(value, visitor);
};

template <class T>
concept own_struct = !visited<T> && is_own_struct<T>();
template <class T>
concept struct_of_members = visited<T> || own_struct<T>;

// Its members, by name and in order; T may be const.
template <class T, class Visitor>
void visit(T& self, Visitor& visitor) {
  if constexpr (visited<::std::remove_const_t<T>>) {
    ::std::remove_const_t<T>::mcpac_visit(self, visitor);
  } else {
    visit_members(self, visitor);
  }
}

// A generated struct from one that has the same members: a program's own, or a result's.
//
// All that the former requires must be there, and nothing that it has no place for: what is left
// out without a word is lost. Of lists and structs among the members the names alone are compared
// here, since a struct may contain itself.
template <class T, class U>
struct FromStruct {
#if defined(__clang__) && __clang_major__ < 18
  static constexpr bool fits = false;
#else
  static constexpr ::std::size_t kNone = ~::std::size_t{0};

  [[nodiscard]] static consteval ::std::size_t place_in(const auto& names,
                                                        ::std::string_view name) {
    for (::std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return i;
    }
    return kNone;
  }
  template <class F>
  [[nodiscard]] static consteval bool may_be_missing() {
    return is_optional_field<F> || may_be_absent<F> || ::std::is_same_v<F, Presence>;
  }
  template <class F, class G>
  [[nodiscard]] static consteval bool may_be_given() {
    if constexpr (may_be_struct<F, G>) return FromStruct<F, G>::fits;
    using Value = typename FieldValue<F>::type;
    if constexpr (Kind<Value>::shape == Shape::list || Kind<Value>::shape == Shape::box ||
                  Kind<Value>::shape == Shape::nullable || may_be_struct<Value, G>) {
      return true;
    } else {
      return ::std::is_convertible_v<const G&, F>;
    }
  }
  [[nodiscard]] static consteval bool find_all() {
    if constexpr (!visited<T> || ::std::is_base_of_v<ToolResult, U> ||
                  !(own_struct<U> || visited<U>)) {
      return false;
    } else if constexpr (member_count<T>() == 0 || member_count<U>() == 0 ||
                         member_count<U>() > kMostMembers) {
      return false;
    } else {
      for (const ::std::string_view name : names_of_members<U>()) {
        if (place_in(names_of_members<T>(), name) == kNone) return false;
      }
      return use_members(unmade<T>.value, []<class... F>(const F&...) {
        return use_members(unmade<U>.value, []<class... G>(const G&...) {
          return []<::std::size_t... I>(::std::index_sequence<I...>) {
            return (finds<F, I, G...>() && ...);
          }
          (::std::index_sequence_for<F...>());
        });
      });
    }
  }
  template <class F, ::std::size_t I, class... G>
  [[nodiscard]] static consteval bool finds() {
    constexpr ::std::size_t at = place_in(names_of_members<U>(), names_of_members<T>()[I]);
    if constexpr (at == kNone) {
      return may_be_missing<F>();
    } else {
      return may_be_given<F, ::std::tuple_element_t<at, ::std::tuple<G...>>>();
    }
  }
  static constexpr bool fits = find_all();

  [[nodiscard]] static T make(const U& given) {
    T made = blank<T>();
    use_members(made, [&given](auto&... field) {
      use_members(given, [&field...](const auto&... member) {
        const auto members = ::std::tie(member...);
        [&]<::std::size_t... I>(::std::index_sequence<I...>) {
          (give<I>(field, members), ...);
        }
        (::std::index_sequence_for<decltype(field)...>());
      });
    });
    return made;
  }
  template <::std::size_t I>
  static void give(auto& field, const auto& members) {
    constexpr ::std::size_t at = place_in(names_of_members<U>(), names_of_members<T>()[I]);
    if constexpr (at != kNone) {
      using F = bare_t<decltype(field)>;
      using G = bare_t<decltype(::std::get<at>(members))>;
      if constexpr (may_be_struct<F, G>) {
        field = FromStruct<F, G>::make(::std::get<at>(members));
      } else {
        field = F(::std::get<at>(members));
      }
    }
  }
#endif
};

// How well an object fits a struct before anything in it is read: a constant that differs or a
// required member that is missing rules the struct out.
inline constexpr long kRuledOut = -1;
struct Closeness {
  const Json& object;
  long score = 0;
  template <class T>
  void operator()(const char* name, const T&) {
    if (object.contains(name)) {
      if (score != kRuledOut) ++score;
    } else if (!is_optional_field<T> && !may_be_absent<T>) {
      score = kRuledOut;
    }
  }
  template <class T, class C>
  void operator()(const char* name, const T& field, const C& constant) {
    (*this)(name, field);
    const auto found = object.find(name);
    if (found != object.end() && !is_scalar(*found, Json(constant))) score = kRuledOut;
  }
  template <class S, class T>
  void extra(const S&, const Extra<T>&) {}
};

template <class T>
[[nodiscard]] long closeness(const Json& json) {
  if constexpr (Kind<T>::shape == Shape::box) {
    return closeness<typename BoxValue<T>::type>(json);
  } else if constexpr (struct_of_members<T>) {
    if (!json.is_object()) return kRuledOut;
    const T value = blank<T>();
    Closeness close{json};
    detail::visit(value, close);
    return close.score;
  } else {
    return 0;
  }
}

template <class... T>
struct JsonForm<Variant<T...>> {
  static Json write(const Variant<T...>& value) {
    return ::std::visit([](const auto& item) { return to_json(item); },
                        static_cast<const ::std::variant<T...>&>(value));
  }
  // The alternative that knows most of the members; among equals the first that fits. What no type
  // can hold is read into one that would be right otherwise.
  static bool read(const Json& json, Variant<T...>& into, Misfit& at) {
    Misfit strict = at.inner();
    strict.is_lenient = false;
    if (!at.is_lenient) return read_closest(json, into, at);
    if (read_closest(json, into, strict)) return at.tried = strict.tried, true;
    at.tried = strict.tried;
    return read_closest(json, into, at);
  }

 private:
  static bool read_closest(const Json& json, Variant<T...>& into, Misfit& at) {
    long scores[] = {closeness<T>(json)...};
    Misfit closest;
    for (;;) {
      long* best = scores;
      for (long& score : scores) best = score > *best ? &score : best;
      if (*best == kRuledOut) break;
      if (++at.tried > kMaxTried) return misfit(at, "a value that is not so deep");
      Misfit inner = at.inner();
      const bool fits = read_one(json, into, inner, best - scores);
      at.tried = inner.tried;
      if (fits) {
        at.unread.insert(at.unread.end(), inner.unread.begin(), inner.unread.end());
        return true;
      }
      if (closest.pointer.empty()) closest = ::std::move(inner);
      *best = kRuledOut;
    }
    if (closest.pointer.empty() || !at.expected.empty())
      return misfit(at, "one of the schema's alternatives");
    at.pointer = ::std::move(closest.pointer);
    at.expected = ::std::move(closest.expected);
    at.fault = closest.fault;
    return false;
  }
  static bool read_one(const Json& json, Variant<T...>& into, Misfit& at, ::std::ptrdiff_t wanted) {
    ::std::ptrdiff_t index = 0;
    return ((index++ == wanted && try_one<T>(json, into, at)) || ...);
  }
  template <class One>
  static bool try_one(const Json& json, Variant<T...>& into, Misfit& at) {
    One value = blank<One>();
    if (!JsonForm<One>::read(json, value, at)) return false;
    return into = ::std::move(value), true;
  }
};

template <class T>
struct JsonForm<Nullable<T>> {
  static Json write(const Nullable<T>& value) { return value ? to_json<T>(*value) : Json(); }
  static bool read(const Json& json, Nullable<T>& into, Misfit& at) {
    into.reset();
    if (json.is_null()) return true;
    T value = blank<T>();
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
  static Json write(const Required<T>& value) { return to_json<T>(value.mcpac_value()); }
  static bool read(const Json& json, Required<T>& into, Misfit& at) {
    into.mcpac_give();
    return JsonForm<T>::read(json, into.mcpac_value(), at);
  }
};

// Enums: a table of texts or of scalars, or the list of an enum of integers.
[[nodiscard]] inline Json scalar_json(::std::string_view text) {
  return text;
}
template <class... T>  // a template, so that only headers with such an enum pay for it
[[nodiscard]] Json scalar_json(const ::std::variant<T...>& value) {
  return ::std::visit([](auto alternative) { return Json(alternative); }, value);
}

template <class E>
concept enumerated = ::std::is_enum_v<E> && requires(E value) {
  mcpac_enumerators(value);
};
template <enumerated E>
struct JsonForm<E> {
  static Json write(E value) {
    for (const auto& row : mcpac_enumerators(value)) {
      if constexpr (is_integer_enum<E>) {
        if (row == value) return static_cast<::std::underlying_type_t<E>>(value);
      } else {
        if (row.value == value) return scalar_json(row.text);
      }
    }
    throw InvalidArguments(invalid_argument("not a value of the enumeration", "", "enum"));
  }
  static bool read(const Json& json, E& into, Misfit& at) {
    for (const auto& row : mcpac_enumerators(E{})) {
      if constexpr (is_integer_enum<E>) {
        if (is_scalar(json, static_cast<::std::underlying_type_t<E>>(row))) return into = row, true;
      } else {
        if (is_scalar(json, scalar_json(row.text))) return into = row.value, true;
      }
    }
    if (at.source == Source::server) return read_new(json, into, at);
    Choices choices;
    for (const auto& row : mcpac_enumerators(E{})) {
      if constexpr (is_integer_enum<E>) {
        choices.add(static_cast<::std::underlying_type_t<E>>(row));
      } else {
        choices.add(scalar_json(row.text));
      }
    }
    return misfit(at, "one of " + choices.text);
  }

 private:
  // A value that the enum did not have when its tool was approved. A number is what it is; of a
  // text there is only that it is none of those that are known.
  static bool read_new(const Json& json, E& into, Misfit& at) {
    constexpr ::std::string_view expected = "one of the schema's values";
    if constexpr (is_integer_enum<E>) {
      Misfit exact;
      ::std::underlying_type_t<E> number{};
      if (!json.is_number_integer()) return misfit(at, expected);
      if (!at.is_lenient || !read_integer(json, number, exact))
        return unfitting(into, at, expected);
      return into = static_cast<E>(number), true;
    } else {
      const bool is_of_its_kind =
          json.is_string() || (!has_texts(mcpac_enumerators(E{})) && json.is_primitive());
      return is_of_its_kind ? unfitting(into, at, expected) : misfit(at, expected);
    }
  }
  template <::std::size_t N>
  static constexpr bool has_texts(const ::std::array<Enumerator<E>, N>&) {
    return true;
  }
  template <class Table>
  static constexpr bool has_texts(const Table&) {
    return false;
  }
};

// Enums of a program's own: the names of the enumerators whose numbers are below 64, by what the
// compiler says of them. Read from a name, case and signs between its words aside, or a number.
template <class E>
concept own_enum =
    ::std::is_enum_v<E> && kKnowsNames && !enumerated<E> && !::std::is_same_v<E, ::std::byte> &&
    !::std::is_same_v<E, Json::value_t> && !::std::is_same_v<E, ErrorKind> &&
    !::std::is_same_v<E, ::std::remove_cv_t<decltype(Content::Type::text)>> &&
    !by_argument::reads_json<E> && !by_argument::writes_json<E> && requires {
  E{2};  // has a type beneath, so that any number is one; and that is not bool
};
template <class E>
struct OwnEnum {
  static constexpr ::std::size_t kMost = 64;
  template <E... V>
  static consteval ::std::string_view said() {
    return __PRETTY_FUNCTION__;
  }
  // "… V = <Level::low, Level::high, (Level)2>]", by g++ in braces; empty where there is no name.
  template <::std::size_t... I>
  static consteval auto names_of(::std::index_sequence<I...>) {
    ::std::array<::std::string_view, kMost> found{};
    ::std::string_view rest = said<static_cast<E>(I)...>();
    rest.remove_prefix(rest.find("V = ") + 5);
    for (::std::string_view& name : found) {
      int depth = 0;
      ::std::size_t end = 0;
      for (; depth > 0 || (rest[end] != ',' && rest[end] != '>' && rest[end] != '}'); ++end) {
        if (rest[end] == '(' || rest[end] == '<') ++depth;
        if (rest[end] == ')' || rest[end] == '>') --depth;
      }
      const ::std::size_t before = rest.substr(0, end).find_last_of(":)");
      const bool is_number = before != rest.npos && rest[before] == ')';
      if (!is_number) name = rest.substr(before + 1, end - before - 1);
      rest.remove_prefix(::std::min(end + 2, rest.size()));
    }
    return found;
  }
  static constexpr auto names = names_of(::std::make_index_sequence<kMost>());
};
[[nodiscard]] inline bool is_alike(::std::string_view one, ::std::string_view other) {
  const auto bare = [](::std::string_view text) {
    ::std::string letters;
    for (const char c : text) {
      const bool is_sign = c == '_' || c == '-' || c == ' ';
      if (!is_sign) letters += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return letters;
  };
  return bare(one) == bare(other);
}
template <own_enum E>
struct JsonForm<E> {
  using Number = ::std::underlying_type_t<E>;
  static Json write(E value) {
    const auto number = static_cast<Number>(value);
    for (::std::size_t i = 0; i < OwnEnum<E>::kMost; ++i) {
      if (static_cast<E>(i) == value && !OwnEnum<E>::names[i].empty()) return OwnEnum<E>::names[i];
    }
    return number;
  }
  static bool read(const Json& json, E& into, Misfit& at) {
    const auto& names = OwnEnum<E>::names;
    if (json.is_number()) {
      Number number{};
      if (!JsonForm<Number>::read(json, number, at)) return false;
      return into = static_cast<E>(number), true;
    }
    const ::std::string* text = json.get_ptr<const ::std::string*>();
    auto found = text == nullptr ? names.end() : ::std::find(names.begin(), names.end(), *text);
    if (text != nullptr && found == names.end()) {
      found = ::std::find_if(names.begin(), names.end(), [text](::std::string_view name) {
        return !name.empty() && is_alike(name, *text);
      });
    }
    if (found != names.end() && !found->empty())
      return into = static_cast<E>(found - names.begin()), true;
    Choices choices;
    for (const ::std::string_view name : names) {
      if (!name.empty()) choices.add(name);
    }
    return misfit(at, choices.text.empty() ? "an integer" : "one of " + choices.text);
  }
};

// Whether anything in a struct has a value. One that counts as left out may have been filled
// afterwards, member by member.
struct HasAny {
  bool any = false;
  template <class T>
  void operator()(const char*, const T& field) {
    if constexpr (is_optional_field<T>) {
      any = any || static_cast<bool>(field);
    } else if constexpr (is_required_field<T>) {
      any = any || field.mcpac_is_given();
    } else if constexpr (visited<T>) {
      T::mcpac_visit(field, *this);
    }
  }
  template <class T, class C>
  void operator()(const char* name, const T& field, const C&) {
    if constexpr (is_optional_field<T>) (*this)(name, field);  // required, it fills itself
  }
  template <class S, class T>
  void extra(const S&, const Extra<T>& members) {
    any = any || !members.empty();
  }
};
template <class T>
[[nodiscard]] bool is_there(const T& field) {
  if (field.mcpac_presence.present) return true;
  HasAny look;
  T::mcpac_visit(field, look);
  return look.any;
}

[[noreturn]] inline void refuse_without(const char* name) {
  throw InvalidArguments(invalid_argument(
      "the required argument `" + ::std::string(name) + "` was never given a value", "",
      "required"));
}

// Structs: one visitor each way over mcpac_visit.
struct Writer {
  Json object = Json::object();
  template <class T>
  void operator()(const char* name, const T& field) {
    if constexpr (is_optional_field<T>) {
      if (static_cast<bool>(field)) object[name] = to_json(*field);
    } else if constexpr (may_be_absent<T>) {
      if (is_there(field)) object[name] = to_json(field);
    } else if constexpr (is_required_field<T>) {
      if (!field.mcpac_is_given()) refuse_without(name);
      object[name] = to_json(field);
    } else {
      object[name] = to_json(field);
    }
  }
  template <class T, class C>
  void operator()(const char* name, const T& field, const C&) {
    (*this)(name, field);
  }
  template <class S, class T>
  void extra(const S&, const Extra<T>& members) {
    write_members(members, object);
  }
};

// The names that a struct has members for.
struct Names {
  ::std::vector<::std::string_view> names{};
  template <class... T>
  void operator()(const char* name, const T&...) {
    names.emplace_back(name);
  }
  template <class S, class T>
  void extra(const S&, const Extra<T>&) {}
};

struct Reader {
  const Json& object;
  Misfit& at;
  bool keeps_defaults = false;  // of a program's own struct
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
      } else if (!keeps_defaults || !has_default(field)) {
        fits = missing(name, field);
      }
    } else {
      if constexpr (may_be_absent<T>) field.mcpac_presence.present = true;
      fits = read_part(*found, field, name, at) && fits;
    }
  }
  // A member that has one value.
  template <class T, class C>
  void operator()(const char* name, T& field, const C& constant) {
    (*this)(name, field);
    const auto found = object.find(name);
    if (found == object.end() || is_scalar(*found, Json(constant))) return;
    if (is_optional_field<T> && found->is_null()) return;
    fits = differs(name, constant);
  }
  // What the struct has no members for.
  template <class S, class T>
  void extra(const S& self, Extra<T>& members) {
    Names known;
    S::mcpac_visit(self, known);
    members.clear();
    for (const auto& member : object.items()) {
      if (::std::find(known.names.begin(), known.names.end(), member.key()) != known.names.end())
        continue;
      T value = blank<T>();
      fits = read_part(member.value(), value, member.key(), at) && fits;
      members.insert_or_assign(member.key(), ::std::move(value));
    }
  }

 private:
  // `int age = -1;`: what is not there keeps it. One that is empty, or 0, may stand there for
  // tidiness alone (`int age{};`).
  template <class T>
  [[nodiscard]] static bool has_default(const T& field) {
    if constexpr (::std::is_arithmetic_v<T> || ::std::is_enum_v<T>) {
      return field != T{};
    } else if constexpr (requires { field.empty(); }) {
      return !field.empty();
    } else {
      return false;
    }
  }
  template <class O>
  void read_optional(const Json& json, O& field, const char* name) {
    if constexpr (is_pointer_field<O>) {
      fits = read_part(json, field, name, at) && fits;
    } else {
      read_value(json, field, name);
    }
  }
  template <class O>
  void read_value(const Json& json, O& field, const char* name) {
    using T = typename OptionalValue<O>::type;
    // Many servers write null for "not there"; where null is a value of T, it is read as one.
    if (json.is_null() && Kind<T>::shape != Shape::nullable && Kind<T>::shape != Shape::json)
      return;
    // Not emplace() in place: clang 14 remembers that T had no default constructor while its
    // enclosing struct was incomplete.
    T value = blank<T>();
    const bool part = read_part(json, value, name, at);
    if (part) field.emplace(::std::move(value));
    fits = part && fits;
  }
  template <class T>
  [[nodiscard]] bool missing(const char* name, T& field) {
    if (!at.expected.empty()) return false;
    if (at.source == Source::person) at.expected = detail::wanted(field);
    if (at.expected.empty())
      at.expected = keeps_defaults ? "a value (what may be missing is a std::optional, or has "
                                     "a default other than 0, false and {})"
                                   : "a value";
    at.fault = Fault::missing;
    step_out(at, name);
    return false;
  }
  [[nodiscard]] bool differs(const char* name, const Json& constant) {
    if (!at.expected.empty()) return false;
    at.expected = constant.dump(-1, ' ', true, Json::error_handler_t::replace);
    step_out(at, name);
    return false;
  }
};

// A program's own struct: the leaf of a tree often has no list of its like, `children`.
template <class S>
struct OwnReader : Reader {
  template <class T>
  void operator()(const char* name, T& field) {
    if constexpr (::std::is_same_v<T, ::std::vector<S>> ||
                  ::std::is_same_v<T, ::std::map<::std::string, S>>) {
      if (!object.contains(name)) return field.clear();
    }
    Reader::operator()(name, field);
  }
};

// Whether a struct has a place for members that it does not name.
struct TakesExtra {
  bool takes = false;
  template <class... T>
  void operator()(const char*, const T&...) {}
  template <class S, class T>
  void extra(const S&, const Extra<T>&) {
    takes = true;
  }
};

// Before anything is read: a mistyped name also lacks where it belongs, and says more.
template <class T>
[[nodiscard]] bool knows_members(const Json& object, T& value, Misfit& at) {
  TakesExtra rest;
  detail::visit(value, rest);
  if (rest.takes) return true;
  Names known;
  detail::visit(value, known);
  return knows_all(object, known.names, at);
}

template <struct_of_members T>
struct JsonForm<T> {
  static Json write(const T& value) {
    Writer writer;
    detail::visit(value, writer);
    return ::std::move(writer.object);
  }
  static bool read(const Json& json, T& into, Misfit& at) {
    if (!json.is_object()) return misfit(at, "an object");
    if (at.source == Source::person && !detail::knows_members(json, into, at)) return false;
    if constexpr (own_struct<T>) {
      OwnReader<T> reader{{json, at, true}};
      detail::visit(into, reader);
      return reader.fits;
    } else {
      Reader reader{json, at};
      detail::visit(into, reader);
      return reader.fits;
    }
  }
};

// What JsonForm reads: asked where a program names the type, so that an error stands there. (Of
// members and elements that are read by nlohmann's library it is that one's answer.)
// `Outer` are the structs around it: one that contains itself is as readable as its other members.
template <class T, class... Outer>
struct Readable {
  static constexpr bool value = ::std::is_arithmetic_v<T> ||
                                ::nlohmann::detail::has_from_json<Json, T>::value ||
                                Kind<T>::shape != Shape::other;
};
// What only looks at text would look at a Json that is gone.
template <class C, class Traits, class... Outer>
struct Readable<::std::basic_string_view<C, Traits>, Outer...> {
  static constexpr bool value = false;
};
template <class T, class... Outer>
struct Readable<::std::vector<T>, Outer...> : Readable<T, Outer...> {};
template <class T, class... Outer>
struct Readable<::std::optional<T>, Outer...> : Readable<T, Outer...> {};
template <class T, class... Outer>
struct Readable<::std::unique_ptr<T>, Outer...> : Readable<T, Outer...> {};
template <class T, class... Outer>
struct Readable<::std::shared_ptr<T>, Outer...> : Readable<T, Outer...> {};
template <class T, class... Outer>
struct Readable<::std::map<::std::string, T>, Outer...> : Readable<T, Outer...> {};
template <own_struct T, class... Outer>
struct Readable<T, Outer...> {
  [[nodiscard]] static constexpr bool are_readable() {
    if constexpr ((::std::is_same_v<T, Outer> || ...)) {
      return true;
    } else {
      return use_members(unmade<T>.value, []<class... M>(const M&...) {
        return (Readable<M, T, Outer...>::value && ...);
      });
    }
  }
  static constexpr bool value = are_readable();
};
template <class T>
concept readable = Readable<T>::value;

template <class T>
[[nodiscard]] T from_json_of(const Json& json, Source source) {
  T value = blank<T>();
  Misfit at;
  at.source = source;
  if (JsonForm<T>::read(json, value, at)) return value;
  throw InvalidArguments(invalid_argument("expected " + at.expected, at.pointer, "type"));
}
template <class T>
[[nodiscard]] T from_json(const Json& json) {
  return from_json_of<T>(json, Source::server);
}
template <class E>
[[nodiscard]] E read_enumerator(const Json& json) {
  return from_json_of<E>(json, Source::person);
}

}  // namespace detail
}  // namespace mcpac

// nlohmann's library would write an enumerator as its number, and a Required<Json> as an array. The
// result of a tool is no Json: its fields alone would leave out what its text and content say.
template <class T>
requires(::mcpac::detail::enumerated<T> || ::mcpac::detail::own_enum<T> ||
         ::mcpac::detail::struct_of_members<T>) struct nlohmann::adl_serializer<T, void> {
  static void to_json(::mcpac::Json& json,
                      const T& value) requires(!::std::is_base_of_v<::mcpac::ToolResult, T>) {
    json = ::mcpac::detail::JsonForm<T>::write(value);
  }
  static void from_json(const ::mcpac::Json& json, T& value) {
    value = ::mcpac::detail::from_json_of<T>(json, ::mcpac::detail::enumerated<T>
                                                       ? ::mcpac::detail::Source::person
                                                       : ::mcpac::detail::Source::server);
  }
};
template <class T>
struct nlohmann::adl_serializer<::mcpac::Required<T>, void> {
  static void to_json(::mcpac::Json& json, const ::mcpac::Required<T>& value) {
    json = ::mcpac::detail::JsonForm<::mcpac::Required<T>>::write(value);
  }
};
