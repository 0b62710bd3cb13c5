// SPDX-License-Identifier: Apache-2.0

// LineSplitter: bytes in any pieces come in, whole lines go out.
//
// Every byte is looked at once however the input is cut, so a sender who drips a long line byte by
// byte costs no more than one who sends it whole. A line over the limit is an error that stays:
// what follows it cannot be told from its inside. Memory is bounded by the limit plus one piece.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mcpac::ipc {

inline constexpr std::size_t kMaxLine = std::size_t{16}
                                        << 20U;  // one frame (docs/protocol.md, "Limits")

class LineSplitter {
 public:
  // `max_line` counts the bytes of a line without its newline.
  explicit LineSplitter(std::size_t max_line = kMaxLine) : max_line_(max_line) {}

  void push(std::string_view bytes);
  // Room to read into directly, to save a copy; commit() says how much was filled. Both, like
  // push(), end the life of the views that next() gave.
  [[nodiscard]] std::span<char> prepare(std::size_t size);
  void commit(std::size_t filled);

  // The next whole line without its newline, or nothing. A line may be empty.
  [[nodiscard]] std::optional<std::string_view> next();
  // A line was longer than the limit; next() gives nothing any more.
  [[nodiscard]] bool over_long() const { return over_long_; }
  // Bytes that came in and are not yet part of a line that was handed out.
  [[nodiscard]] std::size_t buffered() const { return end_ - begin_; }
  // Hands out the unfinished rest and starts afresh: for the end of input, and for readers such as
  // that of stderr who cut long lines instead of refusing them.
  [[nodiscard]] std::string take_rest();

 private:
  void compact();
  void resize(std::size_t size);

  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  std::size_t max_line_;
  // [begin_, end_) holds input, the rest is room. By malloc: what a long line grows by is neither
  // cleared nor, mostly, moved.
  std::unique_ptr<char, Free> buffer_;
  std::size_t size_ = 0;
  std::size_t begin_ = 0;    // start of the line that is being collected
  std::size_t scanned_ = 0;  // no newline in [begin_, scanned_)
  std::size_t end_ = 0;
  bool over_long_ = false;
};

}  // namespace mcpac::ipc
