// Arguments: what varies from run to run, one JSON object given by the starter of the run
// (mcpac execute --arguments, `arguments` of execute_agent). Needs no permission.
//
// The host has them and is asked once, when the program first wants to know: a program that takes
// none pays nothing. Throws TransportError where there is no host, and InvalidArguments, which
// names the place by its JSON pointer (RFC 6901), where what is there is not what was asked for.
// From any thread.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "arguments_words.hpp"
#include "convert.hpp"
#include "error.hpp"
#include "json.hpp"
#include "session.hpp"

namespace mcpac {

namespace detail {

[[nodiscard]] inline Json arguments_from(Session& session) {
  const auto pending = session.start_asking("mcpac/arguments");
  session.wait(*pending);
  Json result = result_of(*pending, "");
  const auto found = result.find("arguments");
  if (found == result.end() || !found->is_object())
    throw TransportError(transport_error("the answer holds no arguments of the run"));
  return ::std::move(*found);
}

template <class T>
[[nodiscard]] T read_argument(const Json& all, const Json& value, ::std::string_view name) {
  T read = blank<T>();
  Misfit at;
  at.source = Source::person;
  if (read_part(value, read, name, at)) return read;
  throw unfit_arguments(at, all);
}

// The object may be any, so that tests need no run.
template <class T>
[[nodiscard]] T argument_in(const Json& all, ::std::string_view name) {
  const auto found = all.find(name);
  if (found != all.end()) return read_argument<T>(all, *found, name);
  if constexpr (is_optional_field<T>) {
    return T{};
  } else {
    T read = blank<T>();
    Misfit at;
    at.fault = Fault::missing;
    at.expected = detail::wanted(read);
    if (at.expected.empty()) at.expected = "a value";
    step_out(at, name);
    throw unfit_arguments(at, all);
  }
}

template <class T>
[[nodiscard]] T arguments_in(const Json& all) {
  T read = blank<T>();
  Misfit at;
  at.source = Source::person;
  if (JsonForm<T>::read(all, read, at)) return read;
  throw unfit_arguments(at, all);
}

}  // namespace detail

// All of them; an empty object where none were given. Stays as it is for the whole run. Never
// destroyed: static objects of the program may still look.
[[nodiscard]] inline const Json& arguments() {
  static const Json* const all = new Json(detail::arguments_from(detail::process_session()));
  return *all;
}

// All of them as a T: an aggregate, a struct with a static mcpac_visit, a std::map. A member that a
// struct neither names nor takes with `visit.extra` is refused, since it was meant to be one of
// those.
template <detail::readable T>
[[nodiscard]] T arguments() {
  return detail::arguments_in<T>(arguments());
}

namespace detail {
// The arguments stay as long as the program: text may be looked at there.
template <class T>
concept argument_type = readable<T> || ::std::is_same_v<T, ::std::string_view>;
}  // namespace detail

// The one of this name. A std::optional is empty where it was not given; everything else has to be
// there.
template <detail::argument_type T>
[[nodiscard]] T argument(::std::string_view name) {
  return detail::argument_in<T>(arguments(), name);
}

// The same, and `otherwise` where it was not given.
template <detail::argument_type T>
[[nodiscard]] T argument(::std::string_view name, ::std::type_identity_t<T> otherwise) {
  const Json& all = arguments();
  const auto found = all.find(name);
  if (found == all.end()) return otherwise;
  return detail::read_argument<T>(all, *found, name);
}

// The same, of the type of a number or a truth that stands there, or a std::string for a literal.
template <int = 0, class D>
requires ::std::is_arithmetic_v<D>
[[nodiscard]] D argument(::std::string_view name, D otherwise) {
  return argument<D>(name, otherwise);
}
template <int = 0>
[[nodiscard]] ::std::string argument(::std::string_view name, const char* otherwise) {
  return argument<::std::string>(name, otherwise);
}

}  // namespace mcpac
