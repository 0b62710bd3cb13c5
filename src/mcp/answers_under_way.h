// SPDX-License-Identifier: Apache-2.0

// AnswersUnderWay: our answers to a server's questions that it has not taken yet.
//
// A server may ask as often as it likes and read nothing: each answer would wait here, and over
// HTTP on a connection of its own. So few wait at a time; a server with more of them is no longer
// served. Real servers ask one question at a time, and are answered before they ask the next. How
// long an answer is, clients decide: one that is long has room beside others that are, or is not
// sent, and no server that others use is given up for it.
#pragma once

#include <cstddef>
#include <string>

namespace mcpac::mcp {

class AnswersUnderWay {
 public:
  // All questions that are open at a time (session.h), and half as many pings.
  static constexpr std::size_t kMost = 96;
  static constexpr std::size_t kShort = std::size_t{64} << 10U;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20U;  // of those that are longer

  // False: this one is too many. A long one alone may be of any size.
  [[nodiscard]] bool add(std::size_t bytes) {
    if (count_ >= kMost) return false;
    if (bytes > kShort) {
      if (long_bytes_ > 0 && long_bytes_ + bytes > kMostBytes) return false;
      long_bytes_ += bytes;
    }
    ++count_;
    return true;
  }
  void remove(std::size_t bytes) {
    --count_;
    if (bytes > kShort) long_bytes_ -= bytes;
  }
  [[nodiscard]] static std::string too_many() {
    return "it asks on and does not take the answers: " + std::to_string(kMost) +
           " of them are under way";
  }

 private:
  std::size_t count_ = 0;
  std::size_t long_bytes_ = 0;
};

}  // namespace mcpac::mcp
