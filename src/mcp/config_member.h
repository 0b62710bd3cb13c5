// SPDX-License-Identifier: Apache-2.0

// ConfigMember: one member of a server's entry in mcpac.json, read as the type it should have.
//
// Every reader checks what the value will later be used for (no NUL in an argument, no line break
// in a header), so that the places of use need not. Errors name the member: "mcpac.json:
// mcpServers.x.env".
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace mcpac::mcp {

// The words of a line between its blanks.
[[nodiscard]] std::vector<std::string> words_of(std::string_view line);
// How a command line is written in an entry: `write "command": "node", "args": ["server.mjs"]`.
// `words` has one at least.
[[nodiscard]] std::string command_fix(const std::vector<std::string>& words);

class ConfigMember {
 public:
  // Borrows all three.
  ConfigMember(const std::string& name, const OrderedJson& value, const std::string& server_place)
      : name_(name), value_(value), server_place_(server_place) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const OrderedJson& value() const { return value_; }
  [[nodiscard]] std::string place() const { return server_place_ + "." + name_; }
  [[nodiscard]] Result<std::string> string() const;
  [[nodiscard]] Result<bool> boolean() const;
  [[nodiscard]] Result<std::vector<std::string>> strings() const;
  [[nodiscard]] Result<std::map<std::string, std::string>> string_map() const;
  [[nodiscard]] Result<std::map<std::string, std::string>> environment() const;
  [[nodiscard]] Result<std::map<std::string, std::string>> headers() const;
  // "30s", "500ms", "2m", "1h"; a bare number from 1000 is milliseconds. Smaller ones are refused:
  // other clients count in seconds.
  [[nodiscard]] Result<std::chrono::milliseconds> duration() const;
  // kConfigInvalid at this member.
  [[nodiscard]] std::unexpected<Error> refuse(std::string what, std::string why = "",
                                              std::string fix = "") const;

 private:
  const std::string& name_;
  const OrderedJson& value_;
  const std::string& server_place_;
};

// As duration() reads it: a number of milliseconds, or a text where that could be seconds.
[[nodiscard]] OrderedJson duration_json(std::chrono::milliseconds time);

// `did you mean "args"?`, or the list of what there is when nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       std::span<const std::string_view> known);

// A header that a user may set: an RFC 9110 token, and none that the transport sets itself.
[[nodiscard]] bool is_header_name(std::string_view name);
[[nodiscard]] bool is_reserved_header(std::string_view name);
// No control characters: a line break in a value would start a header of its own.
[[nodiscard]] bool is_header_value(std::string_view value);

}  // namespace mcpac::mcp
