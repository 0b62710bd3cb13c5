// SPDX-License-Identifier: Apache-2.0

#include "codegen/json_text.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "codegen/text_escape.h"

namespace mcpac::codegen {
namespace {

void append_compact(std::string& out, const OrderedJson& value) {
  if (value.is_structured()) {
    const bool object = value.is_object();
    out += object ? '{' : '[';
    for (bool first = true; const auto& [name, member] : value.items()) {
      if (!std::exchange(first, false)) out += ", ";
      if (object) out += json_string(name) + ": ";
      append_compact(out, member);
    }
    out += object ? '}' : ']';
  } else if (value.is_string()) {
    out += json_string(value.get_ref<const std::string&>());
  } else {
    out += value.dump();
  }
}

bool is_utf8(std::string_view text) {
  // The decoder replaces what is not UTF-8; a text that holds U+FFFD itself comes back unchanged.
  const OrderedJson probe = std::string(text);
  try {
    static_cast<void>(probe.dump());
    return true;
  } catch (const OrderedJson::exception&) {  // strict error handler: the library's way to say no
    return false;
  }
}

}  // namespace

std::string compact_json(const OrderedJson& value) {
  std::string out;
  append_compact(out, value);
  return out;
}

std::string one_member_a_line(const OrderedJson& object, std::size_t indent) {
  if (!object.is_object() || object.empty()) return compact_json(object);
  std::string out = "{";
  for (bool first = true; const auto& [name, member] : object.items()) {
    out += std::exchange(first, false) ? "\n" : ",\n";
    out += std::string(indent, ' ') + json_string(name) + ": " + compact_json(member);
  }
  return out + "\n" + std::string(indent - 2, ' ') + "}";
}

std::string why_not_json(const OrderedJson& value, std::size_t max_depth) {
  if (value.is_binary() || value.is_discarded()) return "it holds a value that is no JSON";
  if (value.is_string() && !is_utf8(value.get_ref<const std::string&>())) return "it is not UTF-8";
  if (value.is_number_float() && !std::isfinite(value.get<double>()))
    return "it holds a number that is no JSON";
  if (!value.is_structured()) return "";
  if (max_depth == 0) return "it is nested too deeply";
  for (const auto& [name, member] : value.items()) {
    if (value.is_object() && !is_utf8(name)) return "it is not UTF-8";
    if (std::string why = why_not_json(member, max_depth - 1); !why.empty()) return why;
  }
  return "";
}

}  // namespace mcpac::codegen
