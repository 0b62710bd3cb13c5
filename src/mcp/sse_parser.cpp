// SPDX-License-Identifier: Apache-2.0

#include "mcp/sse_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace mcpac::mcp {
namespace {

constexpr std::size_t kMaxId = 1'024;  // it comes back as a header of ours

// An id becomes the value of Last-Event-ID, so it must be fit for a header.
bool is_usable_id(std::string_view id) {
  return id.size() <= kMaxId &&
         std::ranges::all_of(id, [](char c) { return c >= 0x20 && c < 0x7f; });
}

}  // namespace

// Moves input into line_ up to the end of the line; false when the input ends first.
bool SseParser::collect_line() {
  if (after_cr_ && !input_.empty()) {
    after_cr_ = false;
    if (input_.front() == '\n') input_.remove_prefix(1);
  }
  const auto end = input_.find_first_of("\r\n");
  line_ += input_.substr(0, end);
  if (line_.size() + data_.size() > max_event_) {
    over_long_ = true;
    return false;
  }
  if (end == std::string_view::npos) {
    input_ = {};
    return false;
  }
  after_cr_ = input_[end] == '\r';
  input_.remove_prefix(end + 1);
  return true;
}

void SseParser::take_field() {
  std::string_view line = line_;
  if (std::exchange(at_start_, false) && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  const auto colon = line.find(':');
  const auto name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (name == "id") {
    if (is_usable_id(value)) last_id_ = value;
  } else if (name == "retry") {
    unsigned milliseconds = 0;
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), milliseconds);
    if (error == std::errc() && end == value.data() + value.size()) {
      retry_ = std::chrono::milliseconds(milliseconds);
    }
  }
}

std::optional<std::string> SseParser::next() {
  while (!over_long_ && collect_line()) {
    if (line_.empty()) {
      if (std::exchange(has_data_, false)) return std::exchange(data_, {});
      continue;
    }
    take_field();
    line_.clear();
  }
  return {};
}

}  // namespace mcpac::mcp
