// Content: one piece of what a tool answered, in the words of MCP.
//
// Binary data stays base64, as it came, until somebody asks for bytes(). Members that this version
// does not know are kept in `raw`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json.hpp"

namespace mcpac {

struct Content {
  enum class Type : ::std::uint8_t { text, image, audio, resource, link, other };
  Type type = Type::other;
  ::std::string text{};       // text, and resources that are text
  ::std::string data{};       // base64: image, audio, and resources that are binary
  ::std::string mime_type{};  // empty where the server gave none
  ::std::string uri{};        // resource, link
  ::std::string name{};       // link
  Json raw{};                 // the whole block

  // `data`, decoded up to the first character that is not base64.
  [[nodiscard]] inline ::std::string bytes() const;
};

// As MCP names it.
[[nodiscard]] constexpr ::std::string_view to_string(Content::Type type) {
  switch (type) {
    case Content::Type::text: return "text";
    case Content::Type::image: return "image";
    case Content::Type::audio: return "audio";
    case Content::Type::resource: return "resource";
    case Content::Type::link: return "resource_link";
    case Content::Type::other: break;
  }
  return "other";
}
// Of MCP's names, and of the enumerators: "link" is the same as "resource_link".
[[nodiscard]] constexpr bool operator==(Content::Type type, ::std::string_view name) {
  return to_string(type) == name || (type == Content::Type::link && name == "link");
}

namespace detail {

// A string member, or nothing: blocks come from servers, any member may be of any type.
[[nodiscard]] inline ::std::string member_text(const Json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get_ref<const ::std::string&>()
                                                     : ::std::string();
}

[[nodiscard]] inline Content content_of(const Json& block) {
  Content content;
  content.raw = block;
  const ::std::string type = member_text(block, "type");
  const Json* source = &block;
  if (type == "text") content.type = Content::Type::text;
  if (type == "image") content.type = Content::Type::image;
  if (type == "audio") content.type = Content::Type::audio;
  if (type == "resource_link") content.type = Content::Type::link;
  if (type == "resource") {
    content.type = Content::Type::resource;
    const auto found = block.find("resource");
    if (found != block.end()) source = &*found;
  }
  content.text = member_text(*source, "text");
  content.data = member_text(*source, type == "resource" ? "blob" : "data");
  content.mime_type = member_text(*source, "mimeType");
  content.uri = member_text(*source, "uri");
  content.name = member_text(*source, "name");
  return content;
}

// The blocks of a tools/call result.
[[nodiscard]] inline ::std::vector<Content> contents_of(const Json& result) {
  ::std::vector<Content> contents;
  const auto found = result.is_object() ? result.find("content") : result.end();
  if (found == result.end() || !found->is_array()) return contents;
  contents.reserve(found->size());
  for (const Json& block : *found) contents.push_back(content_of(block));
  return contents;
}

// The text blocks, one below the other.
[[nodiscard]] inline ::std::string text_of(const ::std::vector<Content>& contents) {
  ::std::string text;
  bool first = true;
  for (const Content& content : contents) {
    if (content.type != Content::Type::text) continue;
    if (!first) text += '\n';
    text += content.text;
    first = false;
  }
  return text;
}

[[nodiscard]] inline int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace detail

inline ::std::string Content::bytes() const {
  ::std::string decoded;
  decoded.reserve(data.size() / 4 * 3);
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : data) {
    const int value = detail::base64_value(c);
    if (value < 0) break;
    buffer = (buffer << 6U) | static_cast<unsigned>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    decoded += static_cast<char>((buffer >> static_cast<unsigned>(bits)) & 0xffU);
  }
  return decoded;
}

}  // namespace mcpac
