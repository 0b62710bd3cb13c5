#include "codegen/canonical_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "codegen/text_escape.h"

namespace mcpac::codegen {
namespace {

// RFC 8785, 3.2.2.2: only what JSON demands is escaped, with the short forms where they exist.
void append_canonical_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// ECMAScript's Number::toString: the shortest digits that read back, placed by the exponent.
std::string ecmascript_number(double value) {
  if (value == 0) return "0";
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                 std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const auto e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(),
                  exponent);
  std::string digits;
  std::ranges::copy_if(text.substr(0, e), std::back_inserter(digits),
                       [](char c) { return c != '.'; });

  const std::string sign = value < 0 ? "-" : "";
  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // "n" of ECMA-262, 6.1.6.1.20
  if (count <= point && point <= 21)
    return sign + digits + std::string(static_cast<std::size_t>(point - count), '0');
  if (0 < point && point <= 21) {
    return sign + digits.substr(0, static_cast<std::size_t>(point)) + "." +
           digits.substr(static_cast<std::size_t>(point));
  }
  if (-6 < point && point <= 0)
    return sign + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  const std::string fraction = count == 1 ? "" : "." + digits.substr(1);
  return fmt::format("{}{}{}e{}{}", sign, digits[0], fraction, exponent < 0 ? "-" : "+",
                     std::abs(exponent));
}

// UTF-8 sorts by code point. UTF-16 differs in one thing only: characters beyond U+FFFF
// (surrogates, lead byte F0 and more) come before U+E000 to U+FFFF (lead bytes EE and EF).
bool utf16_less(std::string_view a, std::string_view b) {
  const auto [at, bt] = std::ranges::mismatch(a, b);
  if (at == a.end() || bt == b.end()) return at == a.end() && bt != b.end();
  const auto weight = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0xF0   ? byte - 0xF0 + 0xEE
           : byte >= 0xEE ? byte - 0xEE + 0xF8
                          : static_cast<int>(byte);
  };
  return weight(*at) < weight(*bt);
}

void append_canonical(std::string& out, const OrderedJson& value) {
  if (value.is_object()) {
    const auto& object = value.get_ref<const OrderedJson::object_t&>();
    std::vector<const OrderedJson::object_t::value_type*> members;
    for (const auto& member : object) members.push_back(&member);
    std::ranges::sort(members, utf16_less,
                      [](const auto* member) -> std::string_view { return member->first; });
    out += '{';
    for (const auto* member : members) {
      if (out.back() != '{') out += ',';
      append_canonical_string(out, member->first);
      out += ':';
      append_canonical(out, member->second);
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (bool first = true; const auto& item : value) {
      if (!std::exchange(first, false)) out += ',';
      append_canonical(out, item);
    }
    out += ']';
  } else if (value.is_string()) {
    append_canonical_string(out, value.get_ref<const std::string&>());
  } else if (value.is_number_float()) {
    out += ecmascript_number(value.get<double>());
  } else {
    out += value.dump();
  }
}

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

std::string canonical_json(const OrderedJson& value) {
  std::string out;
  append_canonical(out, value);
  return out;
}

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
