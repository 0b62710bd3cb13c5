#include "gate/result_line.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/json_escape.h"

namespace mcpac::gate {
namespace {

constexpr std::uint64_t every_byte(std::uint8_t byte) {
  return 0x0101010101010101ULL * byte;
}

// Whether one of eight bytes is a control byte, a quote, a backslash or not ASCII. The subtraction
// borrows into the next byte only past one that is found already, so there is no false "no".
bool is_special(std::uint64_t eight) {
  const std::uint64_t high = every_byte(0x80);
  const std::uint64_t quote = eight ^ every_byte('"');
  const std::uint64_t backslash = eight ^ every_byte('\\');
  const std::uint64_t found =
      (eight - every_byte(0x20)) | (quote - every_byte(1)) | (backslash - every_byte(1)) | eight;
  return (found & high) != 0;
}

bool is_special(char c) {
  return needs_json_escape(c) || static_cast<std::uint8_t>(c) >= 0x80;
}

// The length of the start of `text` that stands in JSON as it is.
std::size_t plain_length(std::string_view text) {
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if (is_special(eight)) break;
  }
  while (at < text.size() && !is_special(text[at])) ++at;
  return at;
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (true) {
    const std::size_t plain = plain_length(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    if (static_cast<std::uint8_t>(text.front()) >= 0x80) {
      // Not ASCII: the library checks the encoding, so that what we send is always UTF-8.
      const std::string rest = to_text(Json(text));
      out.append(rest, 1);
      return;
    }
    append_json_escape(out, text.front());
    text.remove_prefix(1);
  }
  out += '"';
}

void append_value(std::string& out, const Json& value) {
  if (value.is_string()) return append_string(out, value.get_ref<const std::string&>());
  char separator = 0;
  const auto separate = [&] {
    if (separator != 0) out += separator;
    separator = ',';
  };
  if (value.is_object()) {
    out += '{';
    for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
      separate();
      append_string(out, name);
      out += ':';
      append_value(out, member);
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (const Json& element : value.get_ref<const Json::array_t&>()) {
      separate();
      append_value(out, element);
    }
    out += ']';
  } else {
    out += to_text(value);
  }
}

}  // namespace

std::string result_line(const ipc::Id& id, const Json& result) {
  std::string out;
  const std::size_t bytes = text_bytes(result);
  out.reserve(bytes + bytes / 16 + 128);
  out += R"({"jsonrpc":"2.0","id":)";
  out += ipc::to_text(id);
  out += R"(,"result":)";
  append_value(out, result);
  out += '}';
  return out;
}

std::size_t text_bytes(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size();
  std::size_t sum = 0;
  if (value.is_object()) {
    for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
      sum += name.size() + text_bytes(member);
    }
  } else if (value.is_array()) {
    for (const Json& element : value.get_ref<const Json::array_t&>()) sum += text_bytes(element);
  }
  return sum;
}

}  // namespace mcpac::gate
