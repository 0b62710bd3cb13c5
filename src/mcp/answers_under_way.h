// AnswersUnderWay: what we answered a server's own questions with and it has not taken yet.
//
// A server may ask as often as it likes and read nothing: each answer would wait here, and over
// HTTP on a connection of its own. So few wait at a time; who has more of them is no longer served.
// Real servers ask one question at a time, and are answered before they ask the next.
#pragma once

#include <cstddef>
#include <string>

namespace mcpac::mcp {

class AnswersUnderWay {
 public:
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

  // False: this one is too many. One alone may be of any size.
  [[nodiscard]] bool add(std::size_t bytes) {
    if (count_ >= kMost || (count_ > 0 && bytes_ + bytes > kMostBytes)) return false;
    ++count_;
    bytes_ += bytes;
    return true;
  }
  void remove(std::size_t bytes) {
    --count_;
    bytes_ -= bytes;
  }
  [[nodiscard]] static std::string too_many() {
    return "it asks on and does not take the answers: " + std::to_string(kMost) +
           " of them, or 16 MiB, are under way";
  }

 private:
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace mcpac::mcp
