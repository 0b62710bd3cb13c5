// SPDX-License-Identifier: Apache-2.0

#include "core/json_writer.h"

#include <array>
#include <charconv>
#include <utility>

#include "core/characters.h"
#include "core/json_escape.h"

namespace mcpac {
namespace {

template <class Number>
void append_number(std::string& out, Number number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  out.append(digits.begin(), end);
}

template <class Value>
void append_by_library(std::string& out, const Value& value) {
  out += value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

template <class Value>
void append_value(std::string& out, const Value& value);

template <class Value>
void append_object(std::string& out, const Value& object) {
  char separator = '{';
  for (const auto& [name, member] : object.template get_ref<const typename Value::object_t&>()) {
    out += separator;
    append_json_string(out, name);
    out += ':';
    append_value(out, member);
    separator = ',';
  }
  if (separator == '{') out += '{';
  out += '}';
}

template <class Value>
void append_array(std::string& out, const Value& array) {
  char separator = '[';
  for (const Value& element : array.template get_ref<const typename Value::array_t&>()) {
    out += separator;
    append_value(out, element);
    separator = ',';
  }
  if (separator == '[') out += '[';
  out += ']';
}

template <class Value>
void append_value(std::string& out, const Value& value) {
  switch (value.type()) {
    case Value::value_t::object: return append_object(out, value);
    case Value::value_t::array: return append_array(out, value);
    case Value::value_t::string:
      return append_json_string(out, value.template get_ref<const std::string&>());
    case Value::value_t::number_integer:
      return append_number(out, value.template get_ref<const std::int64_t&>());
    case Value::value_t::number_unsigned:
      return append_number(out, value.template get_ref<const std::uint64_t&>());
    case Value::value_t::boolean:
      out += value.template get_ref<const bool&>() ? "true" : "false";
      return;
    case Value::value_t::null: out += "null"; return;
    default: return append_by_library(out, value);
  }
}

// What needs no escape, in one step: names and most texts.
void append_quoted(std::string& out, std::string_view plain) {
  const std::size_t before = out.size();
  const std::size_t after = before + plain.size() + 2;
  out.resize_and_overwrite(after, [=](char* bytes, std::size_t) {
    bytes[before] = '"';
    plain.copy(bytes + before + 1, plain.size());
    bytes[after - 1] = '"';
    return after;
  });
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  std::size_t plain = plain_json_length(text);
  if (plain == text.size()) return append_quoted(out, text);
  out += '"';
  for (;; plain = plain_json_length(text)) {
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    if (needs_json_escape(text.front())) {
      append_json_escape(out, text.front());
      text.remove_prefix(1);
      continue;
    }
    const std::size_t bytes = first_character(text).bytes;
    if (bytes == 1) {
      // No UTF-8: the library says what becomes of it and of the rest.
      std::string rest;
      append_by_library(rest, Json(text));
      out.append(rest, 1);
      return;
    }
    out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  out += '"';
}

std::string& JsonMembers::begin(std::string_view name) {
  out_ += std::exchange(is_empty_, false) ? "\"" : ",\"";
  out_ += name;
  return out_ += "\":";
}

void JsonMembers::add(std::string_view name, std::uint64_t number) {
  append_number(begin(name), number);
}

void JsonMembers::add(std::string_view name, std::int64_t number) {
  append_number(begin(name), number);
}

void append_json(std::string& out, const Json& value) {
  append_value(out, value);
}

void append_json(std::string& out, const OrderedJson& value) {
  append_value(out, value);
}

}  // namespace mcpac
