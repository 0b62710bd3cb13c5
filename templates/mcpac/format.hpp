// Format: std::format of what agents print: Json, required arguments, enumerators, errors.
//
// Partial specialisations throughout, so that a program may have its own for any of these types.
#pragma once

#if __has_include(<format>)

#include <concepts>
#include <cstddef>
#include <format>
#include <string>
#include <string_view>
#include <type_traits>

#include "content.hpp"
#include "convert.hpp"
#include "error.hpp"
#include "fields.hpp"
#include "json.hpp"
#include "log.hpp"

namespace mcpac::detail {

template <class E>
concept told_enum = ::std::same_as<E, Content::Type> || ::std::same_as<E, Content::Type::Kind> ||
    ::std::same_as<E, ErrorKind> || ::std::same_as<E, LogLevel>;

// What an enumerator is on the wire; of a value that is none, its number.
template <class E>
[[nodiscard]] ::std::string wire_text(E value) {
  if constexpr (!is_integer_enum<E>) {
    for (const auto& row : mcpac_enumerators(value)) {
      if (row.value != value) continue;
      const Json json = scalar_json(row.text);
      return json.is_string() ? json.get<::std::string>() : json.dump();
    }
  }
  return ::std::to_string(static_cast<::std::underlying_type_t<E>>(value));
}

}  // namespace mcpac::detail

// {} is compact, {:2} is indented by two.
template <class J>
requires ::std::same_as<J, ::mcpac::Json>
struct std::formatter<J, char> {
  constexpr auto parse(::std::format_parse_context& context) {
    auto at = context.begin();
    for (; at != context.end() && *at >= '0' && *at <= '9' && indent_ < 100; ++at)
      indent_ = (indent_ < 0 ? 0 : indent_ * 10) + (*at - '0');
    if (at != context.end() && *at != '}')
      throw ::std::format_error("a Json is formatted by {}, or by {:2} for an indent of two");
    return at;
  }
  auto format(const J& json, auto& context) const {
    const ::std::string text = json.dump(indent_, ' ', false, J::error_handler_t::replace);
    return ::std::formatter<::std::string_view, char>().format(text, context);
  }

 private:
  int indent_ = -1;
};

template <class T>
struct std::formatter<::mcpac::Required<T>, char> : ::std::formatter<T, char> {
  auto format(const ::mcpac::Required<T>& value, auto& context) const {
    return ::std::formatter<T, char>::format(value.mcpac_value(), context);
  }
};

template <::mcpac::detail::enumerated E>
struct std::formatter<E, char> : ::std::formatter<::std::string_view, char> {
  auto format(E value, auto& context) const {
    return ::std::formatter<::std::string_view, char>::format(::mcpac::detail::wire_text(value),
                                                              context);
  }
};

template <::mcpac::detail::told_enum E>
struct std::formatter<E, char> : ::std::formatter<::std::string_view, char> {
  auto format(E value, auto& context) const {
    return ::std::formatter<::std::string_view, char>::format(to_string(value), context);
  }
};

template <::std::derived_from<::mcpac::Error> E>
struct std::formatter<E, char> : ::std::formatter<::std::string_view, char> {
  auto format(const E& error, auto& context) const {
    return ::std::formatter<::std::string_view, char>::format(error.what(), context);
  }
};

#endif
