// Requires<P...>: the authority of a program as a value, one member per server, one callable per
// tool.
//
// Only the entry receives one. It converts to a Requires of less (a subset, or a Narrow of a whole
// tool) and never to one of more. None of this is a boundary: the host decides every call anew; the
// types make the honest mistake a compile error. Everything is flat, loops over arrays and pack
// expansions, because recursion over the list is what makes such types slow to compile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "method.hpp"
#include "narrow.hpp"

namespace mcpac {

template <class... P>
class Requires;

namespace detail {

// A type as a value: constant expressions can compare it.
template <class T>
inline constexpr char identity = 0;
using Identity = const char*;

// std::array would be another class with all of its iterators for every length of a list.
template <class T, ::std::size_t N>
struct Row {
  T items[N];
  [[nodiscard]] constexpr T& operator[](::std::size_t i) noexcept { return items[i]; }
  [[nodiscard]] constexpr const T& operator[](::std::size_t i) const noexcept { return items[i]; }
};

template <class P>
struct Whole {
  using type = P;
};
template <class P>
requires requires {
  typename P::whole;
}
struct Whole<P> {
  using type = typename P::whole;
};
template <class P>
using whole_t = typename Whole<P>::type;

// For every place of the list: does its tool's callable stand for this place? One place a tool, the
// whole tool before a narrowed one, the first of equals.
template <class... P>
[[nodiscard]] consteval auto places_of_tools() {
  constexpr ::std::size_t n = sizeof...(P);
  const Row<Identity, n> own{&identity<P>...};
  const Row<Identity, n> tool{&identity<whole_t<P>>...};
  Row<bool, n> keep{};
  for (::std::size_t i = 0; i < n; ++i) {
    keep[i] = true;
    for (::std::size_t j = 0; j < n; ++j) {
      const bool same = i != j && tool[i] == tool[j];
      const bool j_is_whole = own[j] == tool[j];
      const bool i_is_whole = own[i] == tool[i];
      if (same && (j_is_whole == i_is_whole ? j < i : j_is_whole)) keep[i] = false;
    }
  }
  return keep;
}

// For every place: is it the first of its server?
template <class... P>
[[nodiscard]] consteval auto places_of_servers() {
  constexpr ::std::size_t n = sizeof...(P);
  const Row<Identity, n> server{&identity<typename P::server>...};
  Row<bool, n> keep{};
  for (::std::size_t i = 0; i < n; ++i) {
    keep[i] = true;
    for (::std::size_t j = 0; j < i; ++j) keep[i] = keep[i] && server[i] != server[j];
  }
  return keep;
}

// Whether a holder of Held may act as `P`: it holds P itself or the whole tool.
template <class P, class... Held>
inline constexpr bool holds =
    ((&identity<P> == &identity<Held> || &identity<whole_t<P>> == &identity<Held>) || ...);

// A base in the place of one that is not needed; the parameters make it another type each time.
template <class Owner, ::std::size_t I>
struct Absent {
  explicit constexpr Absent(Session*) noexcept {}
};

// A tool's Member<P> as a base that is made from a session.
template <class P>
struct ToolBase : P::template Member<P> {
  explicit constexpr ToolBase(Session* session) noexcept
      : P::template Member<P>{Method<P>(session)} {}
};

template <bool Needed>
struct Choose {
  template <class Base, class Instead>
  using type = Base;
};
template <>
struct Choose<false> {
  template <class Base, class Instead>
  using type = Instead;
};

}  // namespace detail

// The declared tools of one server. A tool that is not among them is "no member of Declared<…>".
template <class Server, class Places, class... P>
class Declared;

namespace detail {

// The base for place I of the list, which is P's: the tool's callable, where this place is the one
// for it and the tool is this server's.
template <class Server, ::std::size_t I, class P, class... All>
using tool_base =
    typename Choose<places_of_tools<All...>()[I] && ::std::is_same_v<typename P::server, Server>>::
        template type<ToolBase<P>, Absent<Server, I>>;

}  // namespace detail

template <class Server, ::std::size_t... I, class... P>
class Declared<Server, ::std::index_sequence<I...>, P...>
    : public detail::tool_base<Server, I, P, P...>... {
 public:
  explicit constexpr Declared(Session* session) noexcept
      : detail::tool_base<Server, I, P, P...>(session)... {}
};

namespace detail {

template <class Server, class Places, class... P>
struct ServerBase : Server::template Member<Declared<Server, Places, P...>> {
  explicit constexpr ServerBase(Session* session) noexcept
      : Server::template Member<Declared<Server, Places, P...>>{
            Declared<Server, Places, P...>(session)} {}
};

// The base for place I of the list: its server's member, where this place is the first of it.
template <::std::size_t I, class P, class... All>
using server_base = typename Choose<places_of_servers<All...>()[I]>::template type<
    ServerBase<typename P::server, ::std::index_sequence_for<All...>, All...>, Absent<void, I>>;

template <class Places, class... P>
struct Members;

template <::std::size_t... I, class... P>
struct Members<::std::index_sequence<I...>, P...> : server_base<I, P, P...>... {
  explicit constexpr Members(Session* session) noexcept : server_base<I, P, P...>(session)... {}
};

template <>
struct Members<::std::index_sequence<>> {
  explicit constexpr Members(Session*) noexcept {}
};

// The only maker of capabilities: the entry, connect() and tests.
struct Mint {
  template <class R>
  [[nodiscard]] static constexpr R make(Session* session) noexcept {
    return R(session);
  }
};

template <class P>
[[nodiscard]] ::std::string permission_text() {
  ::std::string text(P::permission);
  if constexpr (requires { P::where; }) {
    text += " where ";
    text += P::where;
  }
  return text;
}

}  // namespace detail

template <class... P>
class Requires : public detail::Members<::std::index_sequence_for<P...>, P...> {
  using Base = detail::Members<::std::index_sequence_for<P...>, P...>;

 public:
  // Attenuation: from a holder of at least this much.
  template <class... Held>
  requires(detail::holds<P, Held...>&&...) constexpr Requires(
      const Requires<Held...>& wider) noexcept
      : Requires(wider.session_) {}

  // Whether this capability covers permission Q.
  template <class Q>
  [[nodiscard]] static constexpr bool has() noexcept {
    return detail::holds<Q, P...>;
  }
  // "server.tool", a narrowed one followed by " where …"; in the order of the list, each once.
  [[nodiscard]] static ::std::vector<::std::string> permissions() {
    ::std::vector<::std::string> all;
    const auto add = [&all](::std::string text) {
      for (const ::std::string& known : all) {
        if (known == text) return;
      }
      all.push_back(::std::move(text));
    };
    (add(detail::permission_text<P>()), ...);
    return all;
  }

 private:
  template <class...>
  friend class Requires;
  friend struct detail::Mint;
  explicit constexpr Requires(Session* session) noexcept : Base(session), session_(session) {}
  Session* session_;
};

}  // namespace mcpac
