#include "gate/result_line.h"

#include <string_view>

#include "core/json_escape.h"

namespace mcpac::gate {
namespace {

void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (true) {
    const std::size_t plain = plain_json_length(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    if (static_cast<unsigned char>(text.front()) >= 0x80) {
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
