// Expected<T>: a result, or the error that came instead; the names of std::expected, which clang
// before 19 does not have with libstdc++. value() throws the error as the class of its kind.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "error.hpp"

namespace mcpac {

template <class T>
class [[nodiscard]] Expected {
 public:
  using value_type = T;
  using error_type = Error;

  Expected(T value) : state_(::std::in_place_index<0>, ::std::move(value)) {}
  Expected(Error error) : state_(::std::in_place_index<1>, ::std::move(error)) {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

  [[nodiscard]] const T& value() const& { return check(), *::std::get_if<0>(&state_); }
  [[nodiscard]] T& value() & { return check(), *::std::get_if<0>(&state_); }
  [[nodiscard]] T&& value() && { return check(), ::std::move(*::std::get_if<0>(&state_)); }

  // Checked as value() is: an agent that forgets to ask gets the error, not undefined behaviour.
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] T&& operator*() && { return ::std::move(*this).value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }
  [[nodiscard]] T* operator->() { return &value(); }

  template <class U>
  [[nodiscard]] T value_or(U&& other) const& {
    return has_value() ? value() : static_cast<T>(::std::forward<U>(other));
  }
  template <class U>
  [[nodiscard]] T value_or(U&& other) && {
    return has_value() ? ::std::move(*this).value() : static_cast<T>(::std::forward<U>(other));
  }

  // Throws std::bad_variant_access where there is a value.
  [[nodiscard]] const Error& error() const { return ::std::get<1>(state_); }

 private:
  void check() const {
    if (!has_value()) ::std::get_if<1>(&state_)->rethrow();
  }
  ::std::variant<T, Error> state_;
};

}  // namespace mcpac
