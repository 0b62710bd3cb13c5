// SPDX-License-Identifier: Apache-2.0

// SseParser: server-sent events (WHATWG HTML, section 9.2) out of pieces of a response body.
//
// Only what MCP needs: data, id, retry. Bounded: an event over the limit is an error that stays.
// Each byte is looked at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mcpac::mcp {

class SseParser {
 public:
  explicit SseParser(std::size_t max_event) : max_event_(max_event) {}

  void push(std::string_view bytes) { input_ = bytes; }
  // The data of the next whole event in what was pushed last, or nothing when all of it is used up.
  // Push more only then. Events without data (they carry an id alone) are not handed out.
  [[nodiscard]] std::optional<std::string> next();

  // Of an event whose end has not come.
  [[nodiscard]] std::size_t unfinished_bytes() const { return line_.size() + data_.size(); }
  [[nodiscard]] bool over_long() const { return over_long_; }
  [[nodiscard]] const std::string& last_id() const { return last_id_; }
  [[nodiscard]] std::optional<std::chrono::milliseconds> retry() const { return retry_; }

 private:
  bool collect_line();
  void take_field();

  std::size_t max_event_;
  std::string_view input_;
  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool at_start_ = true;
  bool over_long_ = false;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace mcpac::mcp
