// Fields: the types of arguments. Required<T>, Optional<T>, Nullable<T>, Box<T>.
//
// Arguments are aggregates written with designated initialisers, so these types must take every
// natural spelling of a value (`= "x"`, `= {"a", "b"}`, `= 5` for a double) and refuse what would
// silently change it (a double for an integer). Required has no default: leaving one out does not
// compile. The price: `= {}` cannot be told from leaving it out; an empty list is `= mcpac::empty`.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
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

#include "error.hpp"
#include "json.hpp"

namespace mcpac {

// For generated code alone: "this optional struct was left out".
struct absent_t {
  explicit constexpr absent_t() = default;
};
inline constexpr absent_t absent{};

// An empty list, map or free-form object for a required field.
struct empty_t {
  explicit constexpr empty_t() = default;
};
inline constexpr empty_t empty{};

// The last member of a struct that may be left out (EMITTED_FORM.md, "Fields of `Args`").
struct Presence {
  bool present = true;
  constexpr Presence() = default;
  constexpr Presence(absent_t) : present(false) {}
};

template <class T>
struct Required;
template <class T>
struct Optional;
template <class T>
struct Nullable;
template <class... T>
struct Variant;

namespace detail {

template <class T>
struct Blank {
  static T make() {
    // Arguments spell what they require as absent: it has no default on purpose.
    if constexpr (requires { T::mcpac_absent(absent); }) {
      return T::mcpac_absent(absent);
    } else {
      return T();
    }
  }
};
template <class... T>
struct Blank<::std::tuple<T...>> {
  static ::std::tuple<T...> make() { return {Blank<T>::make()...}; }
};

// A value to read into, also of types that callers cannot default.
template <class T>
[[nodiscard]] T blank() {
  return Blank<T>::make();
}

}  // namespace detail

// A value on the heap, for types that contain themselves. Never empty, except after being moved
// from; copying copies the value.
template <class T>
class Box {
 public:
  Box() : value_(::std::make_unique<T>(detail::blank<T>())) {}
  Box(T value) : value_(::std::make_unique<T>(::std::move(value))) {}
  Box(const Box& other) : value_(other.value_ ? ::std::make_unique<T>(*other.value_) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(const Box& other) { return *this = Box(other); }
  Box& operator=(Box&&) noexcept = default;
  ~Box() = default;
  [[nodiscard]] T& operator*() { return *value_; }
  [[nodiscard]] const T& operator*() const { return *value_; }
  [[nodiscard]] T* operator->() { return value_.get(); }
  [[nodiscard]] const T* operator->() const { return value_.get(); }

 private:
  ::std::unique_ptr<T> value_;
};

namespace detail {

template <class T>
[[nodiscard]] T from_json(const Json& json);  // convert.hpp; throws InvalidArguments
template <class E>
[[nodiscard]] E read_enumerator(const Json& json);  // the same; it names the values that there are

template <class T>
using bare_t = ::std::remove_cvref_t<T>;

// What T is, and what its braced list holds.
struct Nothing {};
enum class Shape {
  other,
  boolean,
  integer,
  real,
  string,
  list,
  map,
  json,
  tuple,
  variant,
  nullable,
  box
};
template <class T>
struct Kind {
  static constexpr Shape shape = ::std::is_same_v<T, bool>            ? Shape::boolean
                                 : ::std::is_integral_v<T>            ? Shape::integer
                                 : ::std::is_floating_point_v<T>      ? Shape::real
                                 : ::std::is_same_v<T, ::std::string> ? Shape::string
                                                                      : Shape::other;
  using Element = Nothing;
};
template <class E>
struct Kind<::std::vector<E>> {
  static constexpr Shape shape = Shape::list;
  using Element = E;
};
template <class K, class V>
struct Kind<::std::map<K, V>> {
  static constexpr Shape shape = Shape::map;
  using Element = ::std::pair<const K, V>;
};
template <>
struct Kind<Json> {
  static constexpr Shape shape = Shape::json;
  using Element = Json::initializer_list_t::value_type;
};
template <class... T>
struct Kind<::std::tuple<T...>> {
  static constexpr Shape shape = Shape::tuple;
  using Element = Nothing;
};
template <class... T>
struct Kind<Variant<T...>> {
  static constexpr Shape shape = Shape::variant;
  using Element = Nothing;
};
template <class T>
struct Kind<Nullable<T>> {
  static constexpr Shape shape = Shape::nullable;
  using Element = typename Kind<T>::Element;
};
template <class T>
struct Kind<Box<T>> {
  static constexpr Shape shape = Shape::box;
  using Element = Nothing;
};

template <class T>
inline constexpr bool has_list = !::std::is_same_v<typename Kind<T>::Element, Nothing>;

template <class T>
inline constexpr ::std::size_t tuple_length = 0;
template <class... T>
inline constexpr ::std::size_t tuple_length<::std::tuple<T...>> = sizeof...(T);

template <class T>
struct OptionalValue {
  using type = void;
};
template <class T>
struct OptionalValue<::std::optional<T>> {
  using type = T;
};
template <class T>
struct OptionalValue<Optional<T>> {
  using type = T;
};
template <class T>
struct OptionalValue<Nullable<T>> {
  using type = T;
};
template <class T>
struct OptionalValue<Required<T>> : OptionalValue<T> {};
template <class T>
struct BoxValue;
template <class T>
struct BoxValue<Box<T>> {
  using type = T;
};

// An enum of integers: its enumerators are the numbers themselves (EMITTED_FORM.md, "Enums").
template <class T>
[[nodiscard]] consteval bool has_integers() {
  if constexpr (::std::is_enum_v<T>) {
    return sizeof(T) == sizeof(::std::int64_t);
  } else {
    return false;
  }
}
template <class T>
inline constexpr bool is_integer_enum = has_integers<T>();

// An enum of texts, or of texts among other values: a text stands for its enumerator. Of what a
// Nullable holds, too.
template <class T>
struct TextEnum {
  static constexpr bool is_one = ::std::is_enum_v<T> && !is_integer_enum<T>;
  using type = T;
};
template <class T>
struct TextEnum<Nullable<T>> : TextEnum<T> {};

void no_value_of_this_enumeration();  // never defined: no constant expression calls it
[[nodiscard]] constexpr bool is_text(::std::string_view value, ::std::string_view text) {
  return value == text;
}
template <class... T>
[[nodiscard]] constexpr bool is_text(const ::std::variant<T...>& value, ::std::string_view text) {
  const auto* held = ::std::get_if<::std::string_view>(&value);
  return held != nullptr && *held == text;
}

// The enumerator of a text literal, which is looked up when the program is compiled.
template <class E>
[[nodiscard]] consteval E enumerator_of(::std::string_view text) {
  for (const auto& row : mcpac_enumerators(E{})) {
    if (is_text(row.text, text)) return row.value;
  }
  no_value_of_this_enumeration();
  return E{};
}

// An element of a list of enumerators: one of them, or its text.
template <class E>
struct EnumeratorOrText {
  E value;
  constexpr EnumeratorOrText(E enumerator) : value(enumerator) {}
  template <::std::size_t N>
  consteval EnumeratorOrText(const char (&text)[N])
      : value(enumerator_of<E>(::std::string_view(text, N - 1))) {}
  constexpr operator E() const { return value; }
};

// What the braces of a T hold.
template <class T>
struct ListItem {
  using type = typename Kind<T>::Element;
};
template <class E>
requires(TextEnum<E>::is_one&& ::std::is_enum_v<E>) struct ListItem<::std::vector<E>> {
  using type = EnumeratorOrText<E>;
};
template <class T>
struct ListItem<Nullable<T>> : ListItem<T> {};

// `= {}` of these is the empty one. (`{}` of a Nullable could be null as well.)
template <class T>
inline constexpr bool has_empty =
    Kind<T>::shape == Shape::list || Kind<T>::shape == Shape::map || Kind<T>::shape == Shape::json;
// What can be made of two iterators; two texts are none.
template <class T, class I>
inline constexpr bool takes_iterators =
    ::std::input_iterator<I> && (Kind<T>::shape == Shape::list || Kind<T>::shape == Shape::map ||
                                 (Kind<T>::shape == Shape::string && !::std::is_pointer_v<I>));

template <class T, class U>
concept without_narrowing = requires {
  T{::std::declval<U>()};
};
template <class U>
concept range = requires(const bare_t<U>& u) {
  *u.begin(), u.end();
};

// A generated struct from one of a program's own, or of a result, with the same members
// (convert.hpp).
template <class T, class U>
struct FromStruct;
struct Filler;  // structs.hpp
template <class T, class U>
concept may_be_struct = ::std::is_class_v<T> && ::std::is_aggregate_v<T> && ::std::is_class_v<U> &&
    ::std::is_aggregate_v<U> && !::std::is_same_v<T, U>;

// Whether a field of type T may be written as a U.
template <class T, class U>
[[nodiscard]] consteval bool accepts() {
  using Bare = bare_t<U>;
  constexpr Shape shape = Kind<T>::shape;
  if constexpr (::std::is_same_v<Bare, T>) {
    return true;
  } else if constexpr (::std::is_same_v<Bare, Filler>) {
    return false;
  } else if constexpr (::std::is_same_v<Bare, Json>) {
    return true;
  } else if constexpr (shape == Shape::boolean) {
    return ::std::is_class_v<Bare> && ::std::is_convertible_v<U, bool>;
  } else if constexpr (shape == Shape::integer) {
    if constexpr (::std::is_class_v<Bare>) return without_narrowing<T, U>;
    return !::std::is_same_v<Bare, bool> && !::std::is_floating_point_v<Bare> &&
           ::std::is_convertible_v<U, T>;
  } else if constexpr (shape == Shape::real) {
    return !::std::is_same_v<Bare, bool> && ::std::is_convertible_v<U, T>;
  } else if constexpr (shape == Shape::string) {
    return !::std::is_same_v<Bare, ::std::nullptr_t> &&
           (::std::is_convertible_v<U, ::std::string> ||
            ::std::is_convertible_v<U, ::std::string_view>);
  } else if constexpr (shape == Shape::list) {
    if constexpr (::std::is_same_v<Bare, empty_t> || ::std::is_convertible_v<U, T>) {
      return true;
    } else if constexpr (range<U> && !::std::is_convertible_v<U, ::std::string_view>) {
      return accepts<typename Kind<T>::Element, decltype(*::std::declval<const Bare&>().begin())>();
    } else {
      return false;
    }
  } else if constexpr (shape == Shape::map) {
    return ::std::is_same_v<Bare, empty_t> || ::std::is_convertible_v<U, T>;
  } else if constexpr (shape == Shape::json) {
    return ::std::is_same_v<Bare, empty_t> || ::std::is_constructible_v<Json, U>;
  } else if constexpr (shape == Shape::nullable) {
    using Value = typename OptionalValue<T>::type;
    using Given = typename OptionalValue<Bare>::type;
    if constexpr (::std::is_same_v<Bare, ::std::nullptr_t> ||
                  ::std::is_same_v<Bare, ::std::nullopt_t>) {
      return true;
    } else if constexpr (!::std::is_void_v<Given>) {
      return accepts<Value, const Given&>();
    } else {
      return accepts<Value, U>();
    }
  } else if constexpr (shape == Shape::box) {
    return accepts<typename BoxValue<T>::type, U>();
  } else if constexpr (is_integer_enum<T> && ::std::is_integral_v<Bare>) {
    return !::std::is_same_v<Bare, bool>;
  } else if constexpr (TextEnum<T>::is_one && ::std::is_class_v<Bare>) {
    return ::std::is_convertible_v<U, T> || ::std::is_convertible_v<U, ::std::string_view>;
  } else if constexpr (may_be_struct<T, Bare> && !::std::is_convertible_v<U, T>) {
    return FromStruct<T, Bare>::fits;
  } else {
    return ::std::is_convertible_v<U, T>;
  }
}

// An integer of another type, checked at run time where the value decides.
template <class T, class U>
[[nodiscard]] constexpr T to_integer(U value) {
  if constexpr (::std::is_enum_v<U>) {
    return to_integer<T>(static_cast<::std::underlying_type_t<U>>(value));
  } else {
    const bool fits = static_cast<U>(static_cast<T>(value)) == value &&
                      (static_cast<T>(value) < T{}) == (value < U{});
    if (!fits) throw InvalidArguments(invalid_argument("integer out of range", "", "type"));
    return static_cast<T>(value);
  }
}

template <class T, class U>
[[nodiscard]] constexpr bool keeps_digits(T real, U value) {
  const T limit = ::std::is_signed_v<U> ? T(9223372036854775808.0) : T(18446744073709551616.0);
  return real < limit && static_cast<U>(real) == value;
}

// An integer of many digits that would lose some of them is refused, as any silent change is.
template <class T, class U>
[[nodiscard]] constexpr T to_real(U value) {
  const T real = static_cast<T>(value);
  if constexpr (::std::is_integral_v<U> && sizeof(U) == sizeof(::std::int64_t)) {
    constexpr U exact = U{1} << 53U;
    bool fits = value <= exact;
    if constexpr (::std::is_signed_v<U>) fits = fits && value >= -exact;
    if (!fits && !keeps_digits(real, value))
      throw InvalidArguments(invalid_argument("integer with too many digits", "", "type"));
  }
  return real;
}

// The value that a field of type T holds when it is written as `given`.
template <class T, class U>
[[nodiscard]] T make(U&& given) {
  using Bare = bare_t<U>;
  constexpr Shape shape = Kind<T>::shape;
  if constexpr (::std::is_same_v<Bare, T>) {
    return ::std::forward<U>(given);
  } else if constexpr (::std::is_same_v<Bare, Json> && ::std::is_enum_v<T>) {
    return read_enumerator<T>(given);
  } else if constexpr (::std::is_same_v<Bare, Json>) {
    return from_json<T>(given);
  } else if constexpr (shape == Shape::json) {
    if constexpr (::std::is_same_v<Bare, empty_t>) {
      return Json::object();
    } else {
      return Json(::std::forward<U>(given));
    }
  } else if constexpr (::std::is_same_v<Bare, empty_t>) {
    return T();
  } else if constexpr (shape == Shape::integer && !::std::is_class_v<Bare>) {
    return to_integer<T>(given);
  } else if constexpr (shape == Shape::real && ::std::is_arithmetic_v<Bare>) {
    return to_real<T>(given);
  } else if constexpr (is_integer_enum<T> && ::std::is_integral_v<Bare>) {
    return static_cast<T>(to_integer<::std::underlying_type_t<T>>(given));  // looked up when sent
  } else if constexpr (TextEnum<T>::is_one && ::std::is_enum_v<T> &&
                       !::std::is_convertible_v<U, T>) {
    return read_enumerator<T>(Json(::std::string_view(::std::forward<U>(given))));
  } else if constexpr (shape == Shape::string && !::std::is_convertible_v<U, ::std::string>) {
    return T(::std::string_view(::std::forward<U>(given)));
  } else if constexpr (shape == Shape::nullable) {
    T value;
    if constexpr (::std::is_same_v<Bare, ::std::nullptr_t> ||
                  ::std::is_same_v<Bare, ::std::nullopt_t>) {
      return value;
    } else if constexpr (!::std::is_void_v<typename OptionalValue<Bare>::type>) {
      if (given.has_value()) value.emplace(make<typename OptionalValue<T>::type>(*given));
      return value;
    } else {
      value.emplace(make<typename OptionalValue<T>::type>(::std::forward<U>(given)));
      return value;
    }
  } else if constexpr (shape == Shape::box) {
    return T(make<typename BoxValue<T>::type>(::std::forward<U>(given)));
  } else if constexpr (shape == Shape::list && !::std::is_convertible_v<U, T>) {
    T list;
    for (auto&& item : given) list.push_back(make<typename Kind<T>::Element>(item));
    return list;
  } else if constexpr (may_be_struct<T, Bare> && !::std::is_convertible_v<U, T>) {
    return FromStruct<T, Bare>::make(given);
  } else {
    return static_cast<T>(::std::forward<U>(given));
  }
}

}  // namespace detail

// One of several types. std::variant in all but two things: an int may be written for a double, and
// it has a default where the first type is a struct of the same class (std::variant asks too
// early).
template <class... T>
struct Variant : ::std::variant<T...> {
  using Base = ::std::variant<T...>;
  Variant()
      : Base(::std::in_place_index<0>, detail::blank<::std::variant_alternative_t<0, Base>>()) {}
  template <class U>
  requires(!::std::is_base_of_v<Variant, detail::bare_t<U>> && ::std::is_constructible_v<Base, U>)
      Variant(U&& given)
      : Base(::std::forward<U>(given)) {}
  template <class U>
  requires(::std::is_arithmetic_v<U> && !::std::is_same_v<U, bool> &&
           !::std::is_constructible_v<Base, U> && (::std::is_same_v<T, double> || ...))
      Variant(U given)
      : Base(static_cast<double>(given)) {}
};

namespace detail {

template <class T>
inline constexpr bool points = Kind<T>::shape == Shape::nullable || Kind<T>::shape == Shape::box;

// Whether a required field has a value. A way to change what it holds gives it one.
struct Given {
  constexpr void mcpac_give() { mcpac_given_ = true; }
  bool mcpac_given_ = true;
};

// The value of a Required<T>: a T by inheritance where T is a class.
template <class T>
struct Held : Given {
  T value{};

  constexpr Held() = default;
  template <class... A>
  explicit constexpr Held(::std::in_place_t, A&&... given) : value(::std::forward<A>(given)...) {}

  [[nodiscard]] constexpr T& mcpac_value() { return value; }
  [[nodiscard]] constexpr const T& mcpac_value() const { return value; }
  [[nodiscard]] constexpr operator const T&() const { return value; }
  [[nodiscard]] constexpr T& operator*() { return mcpac_give(), value; }
  [[nodiscard]] constexpr const T& operator*() const { return value; }
  [[nodiscard]] constexpr T* operator->() { return mcpac_give(), &value; }
  [[nodiscard]] constexpr const T* operator->() const { return &value; }
  template <class... A>
  constexpr T& emplace(A&&... given) {
    return mcpac_give(), value = T{::std::forward<A>(given)...};
  }
};
template <class T>
requires(::std::is_class_v<T> && !points<T>) struct Held<T> : T, Given {
  Held() = default;
  template <class... A>
  explicit constexpr Held(::std::in_place_t, A&&... given) : T(::std::forward<A>(given)...) {}

  [[nodiscard]] constexpr T& mcpac_value() { return *this; }
  [[nodiscard]] constexpr const T& mcpac_value() const { return *this; }
  [[nodiscard]] T& operator*() { return mcpac_give(), *this; }
  [[nodiscard]] const T& operator*() const { return *this; }
  [[nodiscard]] T* operator->() { return mcpac_give(), this; }
  [[nodiscard]] const T* operator->() const { return this; }
};
// What points at something itself keeps its own signs.
template <class T>
requires(::std::is_class_v<T>&& points<T>) struct Held<T> : T, Given {
  Held() = default;
  template <class... A>
  explicit constexpr Held(::std::in_place_t, A&&... given) : T(::std::forward<A>(given)...) {}

  [[nodiscard]] constexpr T& mcpac_value() { return *this; }
  [[nodiscard]] constexpr const T& mcpac_value() const { return *this; }
};

template <class T, class I>
[[nodiscard]] T from_iterators(I first, I last) {
  if constexpr (Kind<T>::shape == Shape::list) {
    T list;
    for (; first != last; ++first) list.push_back(make<typename Kind<T>::Element>(*first));
    return list;
  } else {
    return T(first, last);
  }
}

template <class T, class L>
[[nodiscard]] T from_list(L list) {
  if constexpr (::std::is_constructible_v<T, L>) {
    return T(list);
  } else {
    return T(list.begin(), list.end());
  }
}

// A list of texts in one pair of braces too many, {{"a", "b"}}: without this the inner braces would
// be one text that is made of two iterators, and end in foreign memory.
using TextLists = ::std::initializer_list<::std::initializer_list<const char*>>;
// `= {}`, which could stand for a list of either kind.
enum class EmptyBraces : unsigned char {};
[[nodiscard]] inline ::std::vector<::std::string> from_text_lists(TextLists lists) {
  ::std::vector<::std::string> all;
  for (const auto& list : lists) {
    if (list.size() == 0) all.emplace_back();  // as {{}} of a std::vector
    for (const char* text : list) all.emplace_back(text);
  }
  return all;
}

template <class T>
[[nodiscard]] T empty_one() {
  if constexpr (Kind<T>::shape == Shape::json) {
    return Json::object();
  } else {
    return blank<T>();
  }
}

}  // namespace detail

// A value that the schema requires. It is a T in all but its default: `Args args;` leaves it
// without a value until one is assigned, and a call without one is refused.
template <class T>
struct Required : detail::Held<T> {
  using Base = detail::Held<T>;

  // A required argument is missing where the compiler names this one.
  explicit constexpr Required() requires(!detail::has_empty<T>) : Base() {
    this->mcpac_given_ = false;
  }
  Required() requires detail::has_empty<T> : Base(::std::in_place, detail::empty_one<T>()) {}
  template <class U>
  requires(!::std::is_same_v<detail::bare_t<U>, Required> &&
           !::std::is_same_v<detail::bare_t<U>, absent_t> && detail::accepts<T, U>())
      Required(U&& given)
      : Base(::std::in_place, detail::make<T>(::std::forward<U>(given))) {}
  Required(
      ::std::initializer_list<typename detail::ListItem<T>::type> list) requires detail::has_list<T>
      : Base(::std::in_place, detail::from_list<T>(list)) {}
  Required(detail::TextLists lists) requires ::std::is_same_v<T, ::std::vector<::std::string>>
      : Base(::std::in_place, detail::from_text_lists(lists)) {}
  template <::std::size_t N>
  requires detail::TextEnum<T>::is_one consteval Required(const char (&text)[N])
      : Base(::std::in_place, detail::enumerator_of<typename detail::TextEnum<T>::type>(
                                  ::std::string_view(text, N - 1))) {}
  template <class A, class B, class... More>
  requires(detail::tuple_length<T> == sizeof...(More) + 2) Required(A&& a, B&& b, More&&... more)
      : Base(::std::in_place, ::std::forward<A>(a), ::std::forward<B>(b),
             ::std::forward<More>(more)...) {}
  template <class I>
  requires detail::takes_iterators<T, I> Required(I first, I last)
      : Base(::std::in_place, detail::from_iterators<T>(first, last)) {}
  // Inside a struct that was left out, or is about to be read.
  Required(absent_t) : Base(::std::in_place, detail::blank<T>()) { this->mcpac_given_ = false; }

  Required& operator=(
      detail::EmptyBraces) requires ::std::is_same_v<T, ::std::vector<::std::string>> {
    return *this = Required();
  }

  // For the runtime alone.
  [[nodiscard]] bool mcpac_is_given() const {
    if (this->mcpac_given_) return true;
    if constexpr (detail::Kind<T>::shape == detail::Shape::nullable) {
      return this->has_value();
    } else if constexpr (requires { this->empty(); }) {
      return !this->empty();
    } else {
      return false;
    }
  }
};

// What changes a number gives it a value, too.
template <class T, class U>
requires ::std::is_arithmetic_v<T>
constexpr Required<T>& operator+=(Required<T>& a, const U& b) {
  return a = a.value + b;
}
template <class T, class U>
requires ::std::is_arithmetic_v<T>
constexpr Required<T>& operator-=(Required<T>& a, const U& b) {
  return a = a.value - b;
}
template <class T, class U>
requires ::std::is_arithmetic_v<T>
constexpr Required<T>& operator*=(Required<T>& a, const U& b) {
  return a = a.value * b;
}
template <class T>
requires ::std::is_arithmetic_v<T>
constexpr Required<T>& operator++(Required<T>& a) {
  return a = a.value + T{1};
}
template <class T>
requires ::std::is_arithmetic_v<T>
constexpr T operator++(Required<T>& a, int) {
  const T before = a;
  ++a;
  return before;
}
template <class T>
requires ::std::is_arithmetic_v<T>
constexpr Required<T>& operator--(Required<T>& a) {
  return a = a.value - T{1};
}

// A value that may be left out; then nothing is sent and the schema's default holds.
//
// It reads, compares for equality and is set as a std::optional, and converts to one, but is not
// built on it: a project with thousands of tools has thousands of these types, and std::optional is
// seven class templates deep.
template <class T>
struct Optional {
  using value_type = T;

  constexpr Optional() noexcept : none_(), has_(false) {}
  constexpr Optional(::std::nullopt_t) noexcept : Optional() {}
  constexpr Optional(const Optional& other) : Optional() {
    if (other.has_) emplace(other.value_);
  }
  constexpr Optional(Optional&& other) noexcept(::std::is_nothrow_move_constructible_v<T>)
      : Optional() {
    if (other.has_) emplace(::std::move(other.value_));
  }
  template <class U>
  requires(!::std::is_base_of_v<Optional, detail::bare_t<U>> &&
           ::std::is_void_v<typename detail::OptionalValue<detail::bare_t<U>>::type> &&
           detail::accepts<T, U>()) constexpr Optional(U&& given)
      : value_(detail::make<T>(::std::forward<U>(given))), has_(true) {}
  // Another optional: empty stays empty, unless null itself is a value of T.
  template <class U>
  requires(!::std::is_base_of_v<Optional, detail::bare_t<U>> &&
           !::std::is_void_v<typename detail::OptionalValue<detail::bare_t<U>>::type> &&
           (::std::is_same_v<detail::bare_t<U>, T> ||
            detail::accepts<T, const typename detail::OptionalValue<
                                   detail::bare_t<U>>::type&>())) constexpr Optional(U&& given)
      : Optional() {
    if constexpr (::std::is_same_v<detail::bare_t<U>, T>) {
      emplace(::std::forward<U>(given));
    } else if (given.has_value()) {
      emplace(detail::make<T>(*given));
    }
  }
  Optional(
      ::std::initializer_list<typename detail::ListItem<T>::type> list) requires detail::has_list<T>
      : value_(detail::from_list<T>(list)), has_(true) {}
  Optional(detail::TextLists lists) requires ::std::is_same_v<T, ::std::vector<::std::string>>
      : value_(detail::from_text_lists(lists)), has_(true) {}
  template <::std::size_t N>
  requires detail::TextEnum<T>::is_one consteval Optional(const char (&text)[N])
      : value_(detail::enumerator_of<typename detail::TextEnum<T>::type>(
            ::std::string_view(text, N - 1))),
        has_(true) {}
  template <class I>
  requires detail::takes_iterators<T, I> Optional(I first, I last)
      : value_(detail::from_iterators<T>(first, last)), has_(true) {}
  template <class A, class B, class... More>
  requires(detail::tuple_length<T> == sizeof...(More) + 2) Optional(A&& a, B&& b, More&&... more)
      : value_(::std::forward<A>(a), ::std::forward<B>(b), ::std::forward<More>(more)...),
        has_(true) {}
  constexpr ~Optional() { reset(); }

  Optional& operator=(
      detail::EmptyBraces) requires ::std::is_same_v<T, ::std::vector<::std::string>> {
    return reset(), *this;
  }
  constexpr Optional& operator=(const Optional& other) { return *this = Optional(other); }
  constexpr Optional& operator=(Optional&& other) noexcept(
      ::std::is_nothrow_move_constructible_v<T>) {
    if (this == &other) return *this;
    reset();
    if (other.has_) emplace(::std::move(other.value_));
    return *this;
  }

  [[nodiscard]] constexpr bool has_value() const noexcept { return has_; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return has_; }
  [[nodiscard]] constexpr T& operator*() { return value_; }
  [[nodiscard]] constexpr const T& operator*() const { return value_; }
  [[nodiscard]] constexpr T* operator->() { return &value_; }
  [[nodiscard]] constexpr const T* operator->() const { return &value_; }
  // Throws std::bad_optional_access where there is none.
  [[nodiscard]] constexpr T& value() { return has_ ? value_ : throw ::std::bad_optional_access(); }
  [[nodiscard]] constexpr const T& value() const {
    return has_ ? value_ : throw ::std::bad_optional_access();
  }
  template <class U>
  [[nodiscard]] constexpr T value_or(U&& otherwise) const {
    return has_ ? value_ : detail::make<T>(::std::forward<U>(otherwise));
  }
  [[nodiscard]] constexpr operator ::std::optional<T>() const {
    return has_ ? ::std::optional<T>(value_) : ::std::nullopt;
  }

  template <class... A>
  constexpr T& emplace(A&&... given) {
    reset();
    ::std::construct_at(::std::addressof(value_), ::std::forward<A>(given)...);
    has_ = true;
    return value_;
  }
  constexpr void reset() noexcept {
    if (has_) ::std::destroy_at(::std::addressof(value_));
    has_ = false;
  }

 private:
  union {
    char none_;
    T value_;
  };
  bool has_;
};

template <class T, class U>
[[nodiscard]] constexpr bool operator==(const Optional<T>& a, const Optional<U>& b) {
  return a.has_value() == b.has_value() && (!a.has_value() || *a == *b);
}
template <class T, class U>
[[nodiscard]] constexpr bool operator==(const Optional<T>& a, const ::std::optional<U>& b) {
  return a.has_value() == b.has_value() && (!a.has_value() || *a == *b);
}
template <class T>
[[nodiscard]] constexpr bool operator==(const Optional<T>& a, ::std::nullopt_t) {
  return !a.has_value();
}
template <class T, class U>
requires requires(const T& a, const U& b) {
  a == b;
}
[[nodiscard]] constexpr bool operator==(const Optional<T>& a, const U& b) {
  return a.has_value() && *a == b;
}

// A value or null, where the schema says so.
template <class T>
struct Nullable : Optional<T> {
  using Optional<T>::Optional;
  constexpr Nullable() = default;
  constexpr Nullable(::std::nullptr_t) {}
  Nullable& operator=(
      detail::EmptyBraces) requires ::std::is_same_v<T, ::std::vector<::std::string>> {
    return this->reset(), *this;
  }
};

// Members that a schema lets in beside those that it names.
template <class T>
struct Extra : ::std::map<::std::string, T> {
  using Base = ::std::map<::std::string, T>;
  Extra() = default;
  Extra(::std::initializer_list<typename Base::value_type> list) : Base(list) {}
  Extra(Base members) : Base(::std::move(members)) {}
};

}  // namespace mcpac

template <class T>
struct std::hash<::mcpac::Required<T>> : ::std::hash<T> {};
template <class... T>
struct std::tuple_size<::mcpac::Required<::std::tuple<T...>>>
    : ::std::tuple_size<::std::tuple<T...>> {};
template <::std::size_t I, class... T>
struct std::tuple_element<I, ::mcpac::Required<::std::tuple<T...>>>
    : ::std::tuple_element<I, ::std::tuple<T...>> {};
