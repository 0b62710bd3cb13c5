// Content: one piece of what a tool answered, in the words of MCP.
//
// Binary data stays base64, as it came, until somebody asks for bytes(). Members that this version
// does not know are kept in `raw`. What an answer is as text stands here too, for programs and for
// the host alike.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "json.hpp"

namespace mcpac {

struct Content {
  // One of the enumerators, and its name in MCP as text: it is compared, switched over, converted,
  // printed and put together with other texts. "link" is the same as "resource_link".
  class Type {
   public:
    enum class Kind : ::std::uint8_t { text, image, audio, resource, link, other };
    using enum Kind;

    constexpr Type() = default;
    constexpr Type(Kind kind) : kind_(kind) {}

    constexpr operator Kind() const { return kind_; }
    template <class I>
    requires(::std::is_integral_v<I> && !::std::is_same_v<I, bool>)  // as a cast, like an enum
        explicit constexpr
        operator I() const {
      return static_cast<I>(kind_);
    }
    constexpr operator ::std::string_view() const { return text_of(kind_); }
    operator ::std::string() const { return ::std::string(text_of(kind_)); }

    friend constexpr bool operator==(Type, Type) = default;
    friend constexpr auto operator<=>(Type, Type) = default;
    friend constexpr bool operator==(Type self, Kind kind) { return self.kind_ == kind; }
    friend constexpr bool operator==(Type self, ::std::string_view word) {
      return text_of(self) == word || (self == Kind::link && word == "link");
    }
    friend ::std::string operator+(::std::string before, Type self) {
      return ::std::move(before += text_of(self));
    }
    friend ::std::string operator+(Type self, ::std::string_view after) {
      return ::std::string(text_of(self)) += after;
    }
    // To a std::ostream, where that is included.
    template <class Traits>
    friend auto& operator<<(::std::basic_ostream<char, Traits>& out, Type self) {
      return out << text_of(self);
    }

   private:
    [[nodiscard]] static constexpr ::std::string_view text_of(Kind kind) {
      switch (kind) {
        case Kind::text: return "text";
        case Kind::image: return "image";
        case Kind::audio: return "audio";
        case Kind::resource: return "resource";
        case Kind::link: return "resource_link";
        case Kind::other: break;
      }
      return "other";
    }
    Kind kind_ = Kind::other;
  };
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
  return type;
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

// The length of what base64 text decodes to.
[[nodiscard]] inline ::std::size_t bytes_of_base64(::std::string_view data) {
  const auto end =
      ::std::find_if(data.begin(), data.end(), [](char c) { return base64_value(c) < 0; });
  return static_cast<::std::size_t>(end - data.begin()) * 3 / 4;
}

[[nodiscard]] inline ::std::string size_text(::std::size_t bytes) {
  return ::std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// A block that is no text in one line, "image/png, 8 bytes"; below it the text of a resource that
// is text. Its words are the server's.
[[nodiscard]] inline ::std::string line_of(const Content& content) {
  using Type = Content::Type;
  ::std::string line = content.uri;
  const auto add = [&line](::std::string_view part) {
    if (part.empty()) return;
    if (!line.empty()) line += ", ";
    line += part;
  };
  add(content.name);
  add(content.mime_type);
  const ::std::string type = member_text(content.raw, "type");
  if (line.empty()) add(type.empty() ? "a block without a type" : type);
  if (content.type == Type::link) {
    const auto size = content.raw.find("size");
    if (size != content.raw.end() && size->is_number_unsigned())
      add(size_text(size->get<::std::size_t>()));
  } else if (content.type == Type::resource && !content.text.empty()) {
    add(size_text(content.text.size()));
    line += '\n' + content.text;
  } else if (content.type == Type::other) {
    constexpr auto replace = Json::error_handler_t::replace;
    add(size_text(content.raw.dump(-1, ' ', false, replace).size()) + " of JSON");
  } else {
    add(size_text(bytes_of_base64(content.data)));
  }
  return line;
}

// Whether a text says what structured content does: it is the same JSON, or has each of its values
// as a word. Bounded: a server may send thousands of values and a long text.
class Repetition {
 public:
  explicit Repetition(::std::string_view text) : text_(text) {}
  [[nodiscard]] bool of(const Json& structured) {
    if (text_.empty()) return false;
    if (text_.front() == '{' || text_.front() == '[') {
      const Json parsed = detail::json_of_text(text_);
      if (!parsed.is_discarded() && parsed == structured) return true;
    }
    return has_all(structured);
  }

 private:
  [[nodiscard]] bool has_all(const Json& value) {
    if (value.is_structured())
      return ::std::all_of(value.begin(), value.end(),
                           [this](const Json& one) { return has_all(one); });
    if (value.is_null()) return true;
    const ::std::string dumped = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (!value.is_string()) {
      if (has(dumped)) return true;
      return dumped.ends_with(".0") && has(::std::string_view(dumped).substr(0, dumped.size() - 2));
    }
    const auto& text = value.get_ref<const ::std::string&>();
    return has(text) || has(::std::string_view(dumped).substr(1, dumped.size() - 2));
  }
  // As a word: "5" does not stand in "15".
  [[nodiscard]] bool has(::std::string_view wanted) {
    if (wanted.empty()) return true;
    for (::std::size_t at = 0;; ++at) {
      const ::std::size_t from = at;
      at = text_.find(wanted, at);
      const bool is_found = at != text_.npos;
      looked_at_ += (is_found ? at : text_.size()) - from + wanted.size();
      if (!is_found || looked_at_ > kMost) return false;
      const ::std::size_t end = at + wanted.size();
      const bool goes_on_before = at > 0 && is_word(wanted.front()) && is_word(text_[at - 1]);
      const bool goes_on_behind =
          end < text_.size() && is_word(wanted.back()) && is_word(text_[end]);
      if (!goes_on_before && !goes_on_behind) return true;
    }
  }
  [[nodiscard]] static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  static constexpr ::std::size_t kMost = ::std::size_t{64} << 20U;  // four times the longest answer
  ::std::string_view text_;
  ::std::size_t looked_at_ = 0;
};

// An answer as text, piece by piece: its text blocks, a line for each other block, and last the
// structured content where the texts do not repeat it.
[[nodiscard]] inline ::std::vector<::std::string> views_of(const ::std::vector<Content>& contents,
                                                           const Json& structured) {
  ::std::vector<::std::string> views;
  views.reserve(contents.size() + 1);
  for (const Content& content : contents)
    views.push_back(content.type == Content::Type::text ? content.text : line_of(content));
  if (!structured.is_null() && !Repetition(text_of(contents)).of(structured))
    views.push_back(structured.dump(-1, ' ', false, Json::error_handler_t::replace));
  return views;
}

// The structured content of a tools/call result; null where there is none.
[[nodiscard]] inline Json structured_of(const Json& result) {
  const auto found = result.is_object() ? result.find("structuredContent") : result.end();
  return found == result.end() ? Json() : *found;
}

// The same in one text, one below the other.
[[nodiscard]] inline ::std::string view_of(const ::std::vector<Content>& contents,
                                           const Json& structured) {
  ::std::string all;
  bool first = true;
  for (const ::std::string& view : views_of(contents, structured)) {
    if (!first) all += '\n';
    all += view;
    first = false;
  }
  return all;
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

// For algorithms that compare the type of a content with a text or an enumerator.
template <>
struct std::common_type<::mcpac::Content::Type, const char*> {
  using type = ::std::string_view;
};
template <>
struct std::common_type<const char*, ::mcpac::Content::Type> {
  using type = ::std::string_view;
};
template <>
struct std::common_type<::mcpac::Content::Type, char*> {
  using type = ::std::string_view;
};
template <>
struct std::common_type<char*, ::mcpac::Content::Type> {
  using type = ::std::string_view;
};
template <>
struct std::common_type<::mcpac::Content::Type, ::mcpac::Content::Type::Kind> {
  using type = ::mcpac::Content::Type;
};
template <>
struct std::common_type<::mcpac::Content::Type::Kind, ::mcpac::Content::Type> {
  using type = ::mcpac::Content::Type;
};
template <>
struct std::hash<::mcpac::Content::Type> {
  [[nodiscard]] ::std::size_t operator()(::mcpac::Content::Type type) const noexcept {
    return static_cast<::std::size_t>(type);
  }
};
