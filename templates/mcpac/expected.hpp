// Expected<T>: a result, or the error that came instead; the names of std::expected, which clang
// before 19 does not have with libstdc++. value() throws the error as the class of its kind.
//
// It holds its two alternatives itself: std::variant is a dozen class templates deep, and a program
// pays for them once a tool.
#pragma once

#if __has_include(<expected>)
#include <expected>
#endif
#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include "error.hpp"

namespace mcpac {

namespace detail {
template <class F, class... Arg>
using result_for = ::std::remove_cvref_t<::std::invoke_result_t<F, Arg...>>;
}  // namespace detail

template <class T>
class [[nodiscard]] Expected {
 public:
  using value_type = T;
  using error_type = Error;

  Expected(T value) : value_(::std::move(value)), has_value_(true) {}
  Expected(Error error) : error_(detail::of_its_kind(error)), has_value_(false) {}
  Expected(const Expected& other) : nothing_(), has_value_(other.has_value_) {
    other.has_value_ ? construct(value_, other.value_) : construct(error_, other.error_);
  }
  Expected(Expected&& other) noexcept : nothing_(), has_value_(other.has_value_) {
    other.has_value_ ? construct(value_, ::std::move(other.value_))
                     : construct(error_, other.error_);
  }
  Expected& operator=(Expected other) noexcept {
    ::std::destroy_at(this);
    ::std::construct_at(this, ::std::move(other));
    return *this;
  }
  ~Expected() { has_value_ ? ::std::destroy_at(&value_) : ::std::destroy_at(&error_); }

  [[nodiscard]] bool has_value() const noexcept { return has_value_; }
  [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

  [[nodiscard]] const T& value() const& { return check(), value_; }
  [[nodiscard]] T& value() & { return check(), value_; }
  [[nodiscard]] T&& value() && { return check(), ::std::move(value_); }

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

  // As those of std::expected: f gets the value, or the error.
  template <class F>
  auto transform(F&& f) & {
    return transformed(*this, ::std::forward<F>(f));
  }
  template <class F>
  auto transform(F&& f) const& {
    return transformed(*this, ::std::forward<F>(f));
  }
  template <class F>
  auto transform(F&& f) && {
    return transformed(::std::move(*this), ::std::forward<F>(f));
  }
  // f returns a mcpac::Expected, or a std::expected with mcpac::Error.
  template <class F>
  auto and_then(F&& f) & {
    return continued(*this, ::std::forward<F>(f));
  }
  template <class F>
  auto and_then(F&& f) const& {
    return continued(*this, ::std::forward<F>(f));
  }
  template <class F>
  auto and_then(F&& f) && {
    return continued(::std::move(*this), ::std::forward<F>(f));
  }
  template <class F>
  auto or_else(F&& f) const& {
    using G = detail::result_for<F, const Error&>;
    return has_value_ ? G(value_) : ::std::invoke(::std::forward<F>(f), error());
  }
  template <class F>
  auto or_else(F&& f) && {
    using G = detail::result_for<F, const Error&>;
    return has_value_ ? G(::std::move(value_)) : ::std::invoke(::std::forward<F>(f), error());
  }
  template <class F>
  auto transform_error(F&& f) const& {
    return with_error(*this, ::std::forward<F>(f));
  }
  template <class F>
  auto transform_error(F&& f) && {
    return with_error(::std::move(*this), ::std::forward<F>(f));
  }
#if defined(__cpp_lib_expected)
  template <class U>
  requires ::std::is_convertible_v<const T&, U>
  operator ::std::expected<U, Error>() const& {
    if (has_value_) return ::std::expected<U, Error>(::std::in_place, value_);
    return ::std::expected<U, Error>(::std::unexpect, error());
  }
  template <class U>
  requires ::std::is_convertible_v<T, U>
  operator ::std::expected<U, Error>() && {
    if (has_value_) return ::std::expected<U, Error>(::std::in_place, ::std::move(value_));
    return ::std::expected<U, Error>(::std::unexpect, error());
  }
#endif

  // An object of the class of its kind: dynamic_cast finds what catch would. A copy of it is an
  // Error. Throws std::logic_error where there is a value.
  [[nodiscard]] const Error& error() const {
    if (has_value()) throw ::std::logic_error("mcpac: this Expected holds a value, no error");
    return *error_;
  }

 private:
  template <class Self, class F>
  static auto transformed(Self&& self, F&& f) {
    using U = detail::result_for<F, decltype((::std::forward<Self>(self).value_))>;
    if constexpr (::std::is_void_v<U>) {
      using None = Expected<::std::monostate>;
      if (!self.has_value_) return None(self.error());
      ::std::invoke(::std::forward<F>(f), ::std::forward<Self>(self).value_);
      return None(::std::monostate());
    } else {
      if (!self.has_value_) return Expected<U>(self.error());
      return Expected<U>(::std::invoke(::std::forward<F>(f), ::std::forward<Self>(self).value_));
    }
  }
  template <class Self, class F>
  static auto continued(Self&& self, F&& f) {
    using G = detail::result_for<F, decltype((::std::forward<Self>(self).value_))>;
    if (self.has_value_)
      return ::std::invoke(::std::forward<F>(f), ::std::forward<Self>(self).value_);
    if constexpr (requires { typename G::unexpected_type; }) {
      return G(typename G::unexpected_type(self.error()));
    } else {
      return G(self.error());
    }
  }
  // Of an error that is none of ours there is a std::expected.
  template <class Self, class F>
  static auto with_error(Self&& self, F&& f) {
    using E = detail::result_for<F, const Error&>;
    if constexpr (::std::is_base_of_v<Error, E>) {
      if (self.has_value_) return Expected(::std::forward<Self>(self).value_);
      return Expected(::std::invoke(::std::forward<F>(f), self.error()));
    } else {
#if defined(__cpp_lib_expected)
      using G = ::std::expected<T, E>;
      if (self.has_value_) return G(::std::in_place, ::std::forward<Self>(self).value_);
      return G(::std::unexpect, ::std::invoke(::std::forward<F>(f), self.error()));
#else
      static_assert(::std::is_base_of_v<Error, E>, "without std::expected: a mcpac::Error");
#endif
    }
  }
  template <class Member, class From>
  static void construct(Member& member, From&& from) {
    ::std::construct_at(&member, ::std::forward<From>(from));
  }
  void check() const {
    if (!has_value()) error_->rethrow();
  }

  union {
    char nothing_;
    T value_;
    ::std::shared_ptr<const Error> error_;  // shared: a copy must not throw
  };
  bool has_value_;
};

}  // namespace mcpac
