// SPDX-License-Identifier: Apache-2.0

// JsonWriter: the compact text of a value, as the library writes it byte for byte, but in runs.
//
// The library looks at every letter and hands each to a virtual function; of a call four or five
// values are written, and of a result almost all is plain text in one member. So runs that need no
// escape are copied whole, and a value is written into the text that it becomes a part of. What is
// not UTF-8, and numbers with a fraction, are left to the library; tests hold the two against each
// other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/json.h"

namespace mcpac {

void append_json(std::string& out, const Json& value);
void append_json(std::string& out, const OrderedJson& value);
// As a JSON string, with its quotes.
void append_json_string(std::string& out, std::string_view text);

// An object that is written member by member, where a value would only be made to be written. Names
// are plain and are ours; a caller that gives them in their order writes what the value's text
// would be.
class JsonMembers {
 public:
  explicit JsonMembers(std::string& out) : out_(out) { out_ += '{'; }
  JsonMembers(const JsonMembers&) = delete;
  JsonMembers& operator=(const JsonMembers&) = delete;

  void add(std::string_view name, std::string_view text) { append_json_string(begin(name), text); }
  void add(std::string_view name, const char* text) { add(name, std::string_view(text)); }
  void add(std::string_view name, bool flag) { begin(name) += flag ? "true" : "false"; }
  void add(std::string_view name, std::uint64_t number);
  void add(std::string_view name, std::int64_t number);
  void add_null(std::string_view name) { begin(name) += "null"; }
  void add_json(std::string_view name, const Json& value) { append_json(begin(name), value); }
  // What is added to the text comes next: the value of this member.
  std::string& begin(std::string_view name);
  // Once, and nothing follows.
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool is_empty_ = true;
};

}  // namespace mcpac
