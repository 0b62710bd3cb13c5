// SPDX-License-Identifier: Apache-2.0

#include "codegen/emit_types.h"

#include <fmt/format.h>

#include <cstdint>

#include "codegen/text_escape.h"

namespace mcpac::codegen {
namespace {

using Kind = Type::Kind;

const NamedType* struct_of(const Type& type, const Shape& shape) {
  if (type.kind != Kind::kNamed || type.boxed) return nullptr;
  const NamedType& named = shape.types[type.named];
  return named.is_enum() ? nullptr : &named;
}

std::string plain_text(const Type& type, const Shape& shape) {
  const auto list = [&] {
    std::string texts;
    for (const Type& inner : type.of)
      texts += (texts.empty() ? "" : ", ") + type_text(inner, shape);
    return texts;
  };
  switch (type.kind) {
    case Kind::kJson: return "::mcpac::Json";
    case Kind::kString: return "::std::string";
    case Kind::kInteger: return "::std::int64_t";
    case Kind::kUnsigned: return "::std::uint64_t";
    case Kind::kNumber: return "double";
    case Kind::kBoolean: return "bool";
    case Kind::kMap: return fmt::format("::std::map<::std::string, {}>", list());
    case Kind::kTuple: return fmt::format("::std::tuple<{}>", list());
    case Kind::kVariant: return fmt::format("::mcpac::Variant<{}>", list());
    case Kind::kArray: {
      // A vector may hold what is not complete yet; a Box around it would only be in the way.
      Type item = type.of.front();
      if (!item.nullable) item.boxed = false;
      return fmt::format("::std::vector<{}>", type_text(item, shape));
    }
    case Kind::kNamed: break;
  }
  const std::string& name = shape.types[type.named].cpp_name;
  return type.boxed ? fmt::format("::mcpac::Box<{}>", name) : name;
}

std::string argument_text(const Field& field, const Shape& shape) {
  const NamedType* nested = struct_of(field.type, shape);
  if (field.fills_itself())
    return fmt::format("::mcpac::Required<{}> {} = {};", type_text(field.type, shape),
                       field.cpp_name, value_text(*field.constant));
  if (field.required) {
    if (nested != nullptr && !field.type.nullable)
      return fmt::format("{} {};", nested->cpp_name, field.cpp_name);
    return fmt::format("::mcpac::Required<{}> {};", type_text(field.type, shape), field.cpp_name);
  }
  if (nested == nullptr)
    return fmt::format("::mcpac::Optional<{}> {}{{}};", type_text(field.type, shape),
                       field.cpp_name);
  std::string members = absent_members(nested->fields, shape);
  if (!members.empty()) members += ", ";
  return fmt::format("{} {}{{{}.mcpac_presence = ::mcpac::absent}};", nested->cpp_name,
                     field.cpp_name, members);
}

// A result is only read, so nothing needs to be told apart; a box in it may always be empty.
std::string result_text(const Field& field, const Shape& shape) {
  const bool may_be_absent = !field.required || field.type.boxed;
  Type type = field.type;
  if (may_be_absent) type.nullable = false;  // absent and null read the same
  const std::string text = type_text(type, shape);
  return may_be_absent ? fmt::format("::mcpac::Optional<{}> {}{{}};", text, field.cpp_name)
                       : fmt::format("{} {}{{}};", text, field.cpp_name);
}

}  // namespace

std::string absent_members(const std::vector<Field>& fields, const Shape& shape,
                           const std::string& absent) {
  std::string members;
  for (const Field& field : fields) {
    if (!field.required || field.constant) continue;  // a constant has its default
    const NamedType* inner = field.type.nullable ? nullptr : struct_of(field.type, shape);
    const std::string value =
        inner == nullptr ? absent
                         : fmt::format("{{{}}}", absent_members(inner->fields, shape, absent));
    members += fmt::format("{}.{} = {}", members.empty() ? "" : ", ", field.cpp_name, value);
  }
  return members;
}

std::string value_text(const OrderedJson& value) {
  if (value.is_null()) return "nullptr";
  if (value.is_structured()) {
    return fmt::format("::mcpac::Json::parse({})", string_literal(value.dump(-1, ' ', true)));
  }
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (text.find('\0') == std::string::npos) return string_literal(text);
    return fmt::format("::std::string_view{{{}, {}}}", string_literal(text), text.size());
  }
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)
    return value.dump() + "U";
  // There is no literal for the least integer, only for its opposite plus one.
  if (value.is_number_integer() && value == INT64_MIN) return "(-9223372036854775807 - 1)";
  return value.dump();
}

std::string type_text(const Type& type, const Shape& shape) {
  const std::string text = plain_text(type, shape);
  return type.nullable ? fmt::format("::mcpac::Nullable<{}>", text) : text;
}

std::set<std::size_t> optional_structs(const Shape& shape) {
  std::set<std::size_t> found;
  const auto look = [&](const std::vector<Field>& fields) {
    for (const Field& field : fields) {
      if (!field.required && struct_of(field.type, shape) != nullptr)
        found.insert(field.type.named);
    }
  };
  look(shape.fields);
  for (const std::size_t index : shape.order) look(shape.types[index].fields);
  return found;
}

std::string extra_text(const ExtraFields& extra, const Shape& shape) {
  return fmt::format("::mcpac::Extra<{}> {}{{}};", type_text(extra.type, shape), extra.cpp_name);
}

std::string field_text(const Field& field, const Shape& shape, ShapeKind kind) {
  return kind == ShapeKind::kArgs ? argument_text(field, shape) : result_text(field, shape);
}

}  // namespace mcpac::codegen
