// SPDX-License-Identifier: Apache-2.0

// Writer and Reader: numbers and strings in one packet. The Reader never reads beyond its packet
// and remembers the first failure, so that a decoder can read a whole structure and ask once.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace mcpac::sandbox {

class Writer {
 public:
  template <std::integral T>
  void number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes_.append(value);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <std::integral T>
  T number() {
    T value{};
    if (rest_.size() < sizeof value) {
      fail();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  // A value of an enumeration that ends at `last`.
  template <class E>
  E choice(E last) {
    const auto value = number<std::uint8_t>();
    if (value > static_cast<std::uint8_t>(last)) fail();
    return failed_ ? E{} : static_cast<E>(value);
  }
  // Strings become C strings, so one with a NUL inside would say two things.
  std::string text() {
    const auto size = number<std::uint32_t>();
    if (failed_ || size > rest_.size() ||
        rest_.substr(0, size).find('\0') != std::string_view::npos) {
      fail();
      return {};
    }
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  std::size_t count(std::size_t most) {
    const auto value = number<std::uint32_t>();
    if (value > most) fail();
    return failed_ ? 0 : value;
  }
  // The packet makes no sense.
  void reject() { fail(); }
  [[nodiscard]] bool ok() const { return !failed_; }
  [[nodiscard]] bool complete() const { return !failed_ && rest_.empty(); }

 private:
  void fail() {
    failed_ = true;
    rest_ = {};
  }
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace mcpac::sandbox
