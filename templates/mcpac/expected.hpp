// Expected<T>: a result, or the error that came instead; the names of std::expected, which clang
// before 19 does not have with libstdc++. value() throws the error as the class of its kind.
//
// It holds its two alternatives itself: std::variant is a dozen class templates deep, and a program
// pays for them once a tool.
#pragma once

#include <memory>
#include <stdexcept>
#include <utility>

#include "error.hpp"

namespace mcpac {

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

  // An object of the class of its kind: dynamic_cast finds what catch would. A copy of it is an
  // Error. Throws std::logic_error where there is a value.
  [[nodiscard]] const Error& error() const {
    if (has_value()) throw ::std::logic_error("mcpac: this Expected holds a value, no error");
    return *error_;
  }

 private:
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
