// SPDX-License-Identifier: Apache-2.0

#include "ipc/line_splitter.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <tuple>

namespace mcpac::ipc {

// Moves the unfinished line to the front. Done only when room is needed, so every byte moves at
// most as often as the buffer doubles.
void LineSplitter::compact() {
  if (begin_ == 0) return;
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  scanned_ -= begin_;
  begin_ = 0;
}

void LineSplitter::resize(std::size_t size) {
  auto* const bytes = static_cast<char*>(std::realloc(buffer_.get(), size));
  if (bytes == nullptr) throw std::bad_alloc();
  std::ignore = buffer_.release();  // it is another one by now, or the same
  buffer_.reset(bytes);
  size_ = size;
}

std::span<char> LineSplitter::prepare(std::size_t size) {
  if (over_long_) {
    begin_ = scanned_ = end_ = 0;  // nothing will be read out of it
  }
  if (begin_ == end_) begin_ = scanned_ = end_ = 0;
  if (size_ - end_ < size) {
    compact();
    // After one huge line do not keep its memory for ever.
    constexpr std::size_t kKeep = std::size_t{1} << 20U;
    if (size_ > kKeep && end_ + size <= kKeep / 4) resize(kKeep / 4);
    if (size_ - end_ < size) resize(std::max(end_ + size, size_ * 2));
  }
  return {buffer_.get() + end_, size};
}

void LineSplitter::commit(std::size_t filled) {
  end_ += filled;
}

void LineSplitter::push(std::string_view bytes) {
  const auto room = prepare(bytes.size());
  if (!bytes.empty()) std::memcpy(room.data(), bytes.data(), bytes.size());
  commit(bytes.size());
}

std::optional<std::string_view> LineSplitter::next() {
  if (over_long_) return {};
  const auto* from = buffer_.get() + scanned_;
  const auto* newline = end_ == scanned_
                            ? nullptr
                            : static_cast<const char*>(std::memchr(from, '\n', end_ - scanned_));
  const std::size_t stop =
      newline == nullptr ? end_ : static_cast<std::size_t>(newline - buffer_.get());
  if (stop - begin_ > max_line_) {
    over_long_ = true;
    return {};
  }
  if (newline == nullptr) {
    scanned_ = end_;
    return {};
  }
  const std::string_view line(buffer_.get() + begin_, stop - begin_);
  begin_ = scanned_ = stop + 1;
  return line;
}

std::string LineSplitter::take_rest() {
  std::string rest(buffer_.get() + begin_, end_ - begin_);
  begin_ = scanned_ = end_ = 0;
  over_long_ = false;
  return rest;
}

}  // namespace mcpac::ipc
