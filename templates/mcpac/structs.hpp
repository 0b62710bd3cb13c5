// Structs of a program's own, without a mcpac_visit: their members by structured bindings, the
// names by what the compiler says of a pointer to one.
//
// An aggregate of 1 to 32 members without a base, each of which can be made from {}. What has
// functions of nlohmann's library, or a mcpac_visit, keeps them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "fields.hpp"
#include "json.hpp"

namespace mcpac::by_argument {

// Only what belongs to T is found, by argument-dependent lookup.
void from_json();
void to_json();
template <class T>
concept reads_json = requires(const Json& json, T& value) {
  from_json(json, value);
};
template <class T>
concept writes_json = requires(Json& json, const T& value) {
  to_json(json, value);
};

}  // namespace mcpac::by_argument

namespace mcpac::detail {

inline constexpr ::std::size_t kMostMembers = 32;

// How many; one more than kMostMembers where there are too many.
template <class T>
[[nodiscard]] consteval ::std::size_t count_members() {
  if constexpr (!requires { T{{}}; }) {
    return 0;
  } else if constexpr (!requires { T{{}, {}}; }) {
    return 1;
  } else if constexpr (!requires { T{{}, {}, {}}; }) {
    return 2;
  } else if constexpr (!requires { T{{}, {}, {}, {}}; }) {
    return 3;
  } else if constexpr (!requires { T{{}, {}, {}, {}, {}}; }) {
    return 4;
  } else if constexpr (!requires { T{{}, {}, {}, {}, {}, {}}; }) {
    return 5;
  } else if constexpr (!requires { T{{}, {}, {}, {}, {}, {}, {}}; }) {
    return 6;
  } else if constexpr (!requires { T{{}, {}, {}, {}, {}, {}, {}, {}}; }) {
    return 7;
  } else if constexpr (!requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    return 8;
  } else if constexpr (!requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    return 9;
  } else if constexpr (!requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    return 10;
  } else if constexpr (!requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    return 11;
  } else if constexpr (!requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    return 12;
  } else if constexpr (!requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    return 13;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 14;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 15;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 16;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 17;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 18;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 19;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 20;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 21;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 22;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 23;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 24;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 25;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 26;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 27;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 28;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 29;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 30;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 31;
  } else if constexpr (!requires {
                         T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                       }) {
    return 32;
  } else {
    return 33;
  }
}

// What every field of generated arguments can be made from, which {} is not.
template <class T>
inline constexpr bool is_field =
    ::std::is_base_of_v<Given, T> || ::std::is_same_v<T, Presence> || ::std::is_aggregate_v<T>;
template <class T>
inline constexpr bool is_field<Optional<T>> = true;
template <class T>
inline constexpr bool is_field<Extra<T>> = true;
struct Filler {
  template <class T>
  requires is_field<T>
  operator T() const;
};
template <class T, ::std::size_t N>
[[nodiscard]] consteval ::std::size_t count_fields() {
  constexpr bool takes = []<::std::size_t... I>(::std::index_sequence<I...>) {
    return requires {
      T{((void)I, Filler{})...};
    };
  }
  (::std::make_index_sequence<N>());
  if constexpr (takes || N == 0) {
    return N;
  } else {
    return count_fields<T, N - 1>();
  }
}
template <class T>
[[nodiscard]] consteval ::std::size_t member_count() {
  if constexpr (count_members<T>() > 0) {
    return count_members<T>();
  } else {
    return count_fields<T, kMostMembers>();
  }
}

template <class T>
concept with_tuple_size = requires {
  ::std::tuple_size<T>::value;
};
template <class T>
concept with_members = ::std::is_class_v<T> && ::std::is_aggregate_v<T> && !with_tuple_size<T> &&
                       !by_argument::reads_json<T> && !by_argument::writes_json<T>;

// Calls use(member...).
template <class T, class Use>
constexpr decltype(auto) use_members(T& self, Use&& use) {
  constexpr ::std::size_t count = member_count<::std::remove_const_t<T>>();
  if constexpr (count == 1) {
    auto& [a] = self;
    return use(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = self;
    return use(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = self;
    return use(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = self;
    return use(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = self;
    return use(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = self;
    return use(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = self;
    return use(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = self;
    return use(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = self;
    return use(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = self;
    return use(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (count == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (count == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (count == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (count == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (count == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  } else if constexpr (count == 17) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
  } else if constexpr (count == 18) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
  } else if constexpr (count == 19) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
  } else if constexpr (count == 20) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
  } else if constexpr (count == 21) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u);
  } else if constexpr (count == 22) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v);
  } else if constexpr (count == 23) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
  } else if constexpr (count == 24) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
  } else if constexpr (count == 25) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y);
  } else if constexpr (count == 26) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z);
  } else if constexpr (count == 27) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A);
  } else if constexpr (count == 28) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B] =
        self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B);
  } else if constexpr (count == 29) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C] =
        self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B,
               C);
  } else if constexpr (count == 30) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C,
           D] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B,
               C, D);
  } else if constexpr (count == 31) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D,
           E] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B,
               C, D, E);
  } else if constexpr (count == 32) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D,
           E, F] = self;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B,
               C, D, E, F);
  }
}

// A T that is never made; its members have addresses all the same.
template <class T>
union Unmade {
  char none;
  T value;
  constexpr Unmade() : none() {}
  constexpr ~Unmade() {}
};
template <class T>
inline constexpr Unmade<T> unmade{};

template <class T>
[[nodiscard]] consteval auto addresses_of_members() {
  return use_members(unmade<T>.value, [](auto&... member) {
    return ::std::array<const void*, sizeof...(member)>{&member...};
  });
}

#if defined(__clang__) && __clang_major__ < 18
inline constexpr bool kKnowsNames = false;
#else
inline constexpr bool kKnowsNames = true;
// "… [Address = &unmade.value.name]"
template <const void* Address>
[[nodiscard]] consteval ::std::string_view name_at() {
  const ::std::string_view said = __PRETTY_FUNCTION__;
  constexpr auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || static_cast<unsigned char>(c) >= 0x80;
  };
  // g++ says "(& unmade<T>.Unmade<T>::value.T::name); std::string_view = …" after it.
  ::std::size_t end = said.find(';');
  if (end == ::std::string_view::npos) end = said.size();
  while (!is_word(said[end - 1])) --end;
  ::std::size_t begin = end;
  while (is_word(said[begin - 1])) --begin;
  return said.substr(begin, end - begin);
}
// With a NUL after it.
template <const void* Address>
inline constexpr auto kNameAt = [] {
  ::std::array<char, name_at<Address>().size() + 1> text{};
  name_at<Address>().copy(text.data(), text.size() - 1);
  return text;
}();
// In order.
template <class T>
[[nodiscard]] consteval auto names_of_members() {
  return []<::std::size_t... I>(::std::index_sequence<I...>) {
    return ::std::array<::std::string_view, sizeof...(I)>{
        name_at<addresses_of_members<T>()[I]>()...};
  }
  (::std::make_index_sequence<member_count<T>()>());
}
#endif

// Of a T that is no aggregate nothing is counted: not every type can be asked.
template <class T>
[[nodiscard]] consteval bool is_own_struct() {
  if constexpr (kKnowsNames && with_members<T>) {
    return count_members<T>() > 0 && count_members<T>() <= kMostMembers;
  } else {
    return false;
  }
}

// As the mcpac_visit that T does not have would do it.
template <class T, class Visitor>
void visit_members([[maybe_unused]] T& self, [[maybe_unused]] Visitor& visitor) {
#if !defined(__clang__) || __clang_major__ >= 18
  use_members(self, [&visitor]<class... M>(M&... member) {
    [&]<::std::size_t... I>(::std::index_sequence<I...>) {
      (visitor(kNameAt<addresses_of_members<::std::remove_const_t<T>>()[I]>.data(), member), ...);
    }
    (::std::index_sequence_for<M...>());
  });
#endif
}

}  // namespace mcpac::detail
