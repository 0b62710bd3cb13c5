// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/challenge.h"

#include <algorithm>

#include "core/ascii.h"
#include "mcp/config_member.h"

namespace mcpac::mcp::oauth {
namespace {

// Takes the header apart from the front (RFC 9110, section 11.6.1).
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return text_.empty(); }
  void skip(std::string_view characters) {
    text_.remove_prefix(std::min(text_.find_first_not_of(characters), text_.size()));
  }
  std::string_view token() {
    std::size_t end = 0;
    while (end < text_.size() && is_header_name(text_.substr(end, 1))) ++end;
    return take(end);
  }
  bool eat(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string value() {
    if (!eat('"')) return std::string(token());
    std::string out;
    while (!text_.empty() && !eat('"')) {
      eat('\\');
      out += take(1);
    }
    return out;
  }
  void drop() { take(1); }

 private:
  std::string_view take(std::size_t size) {
    const auto part = text_.substr(0, size);
    text_.remove_prefix(part.size());
    return part;
  }
  std::string_view text_;
};

bool is_bearer(std::string_view scheme) {
  return lowered(scheme) == "bearer";
}

// RFC 6749, section 3.3; what is none asks for nothing.
bool is_scope(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return c == ' ' || c == 0x21 || (c >= 0x23 && c <= 0x5b) || (c >= 0x5d && c <= 0x7e);
  });
}

void keep(Challenge& challenge, std::string_view name, std::string value) {
  if (name == "error") challenge.error = std::move(value);
  if (name == "scope" && is_scope(value)) challenge.scope = std::move(value);
  if (name == "resource_metadata") challenge.resource_metadata = std::move(value);
}

}  // namespace

Challenge parse_challenge(std::string_view header) {
  Challenge challenge;
  Reader reader(header);
  bool bearer = false;
  while (!reader.at_end()) {
    reader.skip(" \t,");
    const auto word = reader.token();
    if (word.empty()) {
      reader.drop();  // nothing that has a meaning
      continue;
    }
    reader.skip(" \t");
    if (!reader.eat('=')) {  // a word without a value begins the next challenge
      bearer = is_bearer(word);
      continue;
    }
    reader.skip(" \t");
    auto value = reader.value();
    if (bearer) keep(challenge, word, std::move(value));
  }
  return challenge;
}

}  // namespace mcpac::mcp::oauth
