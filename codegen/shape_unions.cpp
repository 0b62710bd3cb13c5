// SPDX-License-Identifier: Apache-2.0

// The part of ShapeBuilder that reads anyOf and oneOf: null, an enum in pieces, an object of
// several forms, or a variant whose alternatives can be told apart.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/facts.h"
#include "codegen/names.h"
#include "codegen/shape_builder.h"

namespace mcpac::codegen {
namespace {

using Kind = Type::Kind;

constexpr std::size_t kMaxAlternatives = 32;

bool is_null_schema(const OrderedJson& schema) {
  const OrderedJson* constant = keyword(schema, "const");
  return text_of(schema, "type") == "null" || (constant != nullptr && constant->is_null());
}

bool describes_object(const OrderedJson& schema) {
  return keyword(schema, "properties") != nullptr || keyword(schema, "required") != nullptr ||
         text_of(schema, "type") == "object";
}

// Only strings: a constant, an enum of strings, or any string.
bool describes_string(const OrderedJson& schema) {
  if (text_of(schema, "type") == "string") return true;
  if (const OrderedJson* constant = keyword(schema, "const")) return constant->is_string();
  const OrderedJson* values = keyword(schema, "enum");
  return values != nullptr && values->is_array() && !values->empty() &&
         std::ranges::all_of(*values, [](const auto& value) { return value.is_string(); });
}

// Lets nothing in: how some generators spell "or left out".
bool is_never(const OrderedJson& schema) {
  const OrderedJson* never = keyword(schema, "not");
  return schema == false || (never != nullptr && schema.size() == 1 &&
                             (*never == true || (never->is_object() && never->empty())));
}

// A branch such as {"required": ["a"]} or {"not": …} only adds a condition to what stands beside
// it.
bool is_condition(const OrderedJson& schema) {
  for (const std::string_view name :
       {"type", "properties", "items", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"}) {
    if (keyword(schema, name) != nullptr) return false;
  }
  return true;
}

// What tells two alternatives apart on the wire.
enum class WireKind { kAny, kString, kNumber, kBoolean, kArray, kObject };

WireKind wire_kind_of(const NamedType& type) {
  if (!type.is_enum()) return WireKind::kObject;
  const auto all = [&](auto predicate) { return std::ranges::all_of(type.values, predicate); };
  if (all([](const Enumerator& value) { return value.value.is_string(); }))
    return WireKind::kString;
  const bool numbers = all([](const Enumerator& value) { return value.value.is_number(); });
  return numbers ? WireKind::kNumber : WireKind::kAny;
}

WireKind wire_kind_of(const Type& type, const Shape& shape) {
  switch (type.kind) {
    case Kind::kString: return WireKind::kString;
    case Kind::kInteger:
    case Kind::kUnsigned:
    case Kind::kNumber: return WireKind::kNumber;
    case Kind::kBoolean: return WireKind::kBoolean;
    case Kind::kArray:
    case Kind::kTuple: return WireKind::kArray;
    case Kind::kMap: return WireKind::kObject;
    case Kind::kNamed: return wire_kind_of(shape.types[type.named]);
    case Kind::kJson:
    case Kind::kVariant: break;
  }
  return WireKind::kAny;
}

bool has_required(const NamedType& type) {
  return std::ranges::any_of(type.fields, &Field::required);
}

}  // namespace

Type ShapeBuilder::union_type(const OrderedJson& schema, const OrderedJson& branches,
                              const OrderedJson& identity, const Spot& spot) {
  std::vector<const OrderedJson*> alternatives;
  bool nullable = false;
  for (const auto& branch : branches) {
    const Resolved target = resolver_.follow(branch);
    if (target.schema == nullptr) return fall_back(spot, target.why);
    if (is_null_schema(*target.schema)) {
      nullable = true;
    } else if (!is_never(*target.schema)) {
      alternatives.push_back(&branch);
    }
  }
  Type type = alternatives_type(schema, branches, alternatives, identity, spot);
  type.nullable = type.nullable || nullable;
  return type;
}

Type ShapeBuilder::alternatives_type(const OrderedJson& schema, const OrderedJson& branches,
                                     const std::vector<const OrderedJson*>& alternatives,
                                     const OrderedJson& identity, const Spot& spot) {
  const auto all = [&](auto predicate) {
    return std::ranges::all_of(alternatives, [&](const auto* branch) {
      return predicate(*resolver_.follow(*branch).schema);
    });
  };
  if (alternatives.empty()) return {};
  if (alternatives.size() > kMaxAlternatives)
    return fall_back(spot, "it has too many alternatives");
  if (all(is_condition)) return type_by_type(schema, identity, spot);
  if (all(describes_object) && keyword(schema, "properties") != nullptr) {
    const Resolved flat = resolver_.with_branches(schema, branches);
    return flat.schema == nullptr ? fall_back(spot, flat.why)
                                  : object_type(*flat.schema, identity, spot);
  }
  if (alternatives.size() > 1 && all(describes_string))
    return strings_type(schema, alternatives, spot);
  std::vector<Type> types;
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    const std::string hint =
        alternatives.size() == 1 ? spot.hint : spot.hint + "Option" + std::to_string(i + 1);
    const Resolved branch = marked(schema, *alternatives[i]);
    if (branch.schema == nullptr) return fall_back(spot, branch.why);
    const std::string title = branch.name.empty() ? text_of(*branch.schema, "title") : branch.name;
    const std::size_t before = shape_.became_json;
    types.push_back(type_of(
        *branch.schema,
        spot.below(std::to_string(i), title.empty() ? hint : type_hint({{"title", title}}, hint))));
    const bool object = text_of(*resolver_.follow(*branch.schema).schema, "type") == "object";
    if (types.back() == Type{} && object && before == shape_.became_json)
      types.back() = {.kind = Kind::kMap, .of = {Type{}}};  // not just anything: an object
  }
  return variant_of(std::move(types), spot);
}

// OpenAPI's discriminator says in the union what JSON Schema says in each branch with a const.
Resolved ShapeBuilder::marked(const OrderedJson& schema, const OrderedJson& branch) {
  const OrderedJson* discriminator = keyword(schema, "discriminator");
  const std::string property =
      discriminator == nullptr ? "" : text_of(*discriminator, "propertyName");
  const Resolved target = resolver_.follow(branch);
  if (property.empty() || !describes_object(*target.schema)) return {&branch, "", ""};
  const OrderedJson* properties = keyword(*target.schema, "properties");
  const OrderedJson* own = properties == nullptr ? nullptr : keyword(*properties, property);
  if (own != nullptr && (keyword(*own, "const") != nullptr || keyword(*own, "enum") != nullptr))
    return {&branch, "", ""};
  std::string value = target.name;
  const std::string reference = text_of(branch, "$ref");
  if (const OrderedJson* mapping = keyword(*discriminator, "mapping"); mapping != nullptr) {
    for (const auto& [key, to] : mapping->items()) {
      if (to.is_string() && !reference.empty() && (to == reference || to == target.name))
        value = key;
    }
  }
  if (value.empty()) return {&branch, "", ""};
  Resolved made = resolver_.with_constant(*target.schema, property, value);
  made.name = target.name;
  return made;
}

// Constants and enums of strings together are one enum; beside "any string" they add nothing.
Type ShapeBuilder::strings_type(const OrderedJson& schema,
                                const std::vector<const OrderedJson*>& alternatives,
                                const Spot& spot) {
  OrderedJson values = OrderedJson::array();
  for (const OrderedJson* branch : alternatives) {
    const OrderedJson& target = *resolver_.follow(*branch).schema;
    if (const OrderedJson* constant = keyword(target, "const")) {
      values.push_back(*constant);
    } else if (const OrderedJson* some = keyword(target, "enum");
               some != nullptr && some->is_array()) {
      for (const auto& value : *some) values.push_back(value);
    } else {
      return {.kind = Kind::kString};
    }
  }
  return enum_type(values, schema, spot);
}

Type ShapeBuilder::variant_of(std::vector<Type> alternatives, const Spot& spot) {
  std::vector<Type> flat;
  bool nullable = false;
  const auto add = [&](Type type) {
    nullable = nullable || std::exchange(type.nullable, false);
    if (std::ranges::find(flat, type) == flat.end()) flat.push_back(std::move(type));
  };
  for (Type& type : alternatives) {
    if (type.kind == Kind::kVariant) {
      for (Type& inner : type.of) add(std::move(inner));
    } else {
      add(std::move(type));
    }
  }
  // double holds every integer a schema beside "number" means; a string holds every enum.
  const auto has = [&](Kind kind) {
    return std::ranges::any_of(flat, [&](const Type& type) { return type.kind == kind; });
  };
  const bool number = has(Kind::kNumber);
  const bool integer = has(Kind::kInteger) || has(Kind::kUnsigned);
  const bool string = has(Kind::kString);
  const auto is_enum_of = [&](const Type& type, WireKind kind) {
    return type.kind == Kind::kNamed && wire_kind_of(type, shape_) == kind;
  };
  std::erase_if(flat, [&](const Type& type) {
    return (number && (type.kind == Kind::kInteger || type.kind == Kind::kUnsigned)) ||
           (string && is_enum_of(type, WireKind::kString)) ||
           ((number || integer) && is_enum_of(type, WireKind::kNumber));
  });
  Type result;
  if (flat.size() == 1) {
    result = std::move(flat.front());
  } else if (!flat.empty()) {
    const auto is_any = [&](const Type& type) {
      return wire_kind_of(type, shape_) == WireKind::kAny;
    };
    if (std::ranges::any_of(flat, is_any))
      return fall_back(spot, "one of its alternatives is untyped");
    // An argument says by its C++ type which alternative it is; an answer only by its form.
    if (kind_ == ShapeKind::kResult && !all_told_apart(flat))
      return fall_back(spot, "two of its alternatives look the same on the wire");
    result = {.kind = Kind::kVariant, .of = std::move(flat)};
  }
  result.nullable = result.nullable || nullable;
  return result;
}

bool ShapeBuilder::all_told_apart(const std::vector<Type>& types) const {
  for (std::size_t i = 0; i < types.size(); ++i) {
    for (std::size_t j = i + 1; j < types.size(); ++j) {
      if (!told_apart(types[i], types[j])) return false;
    }
  }
  return true;
}

// Whether JSON of one cannot be taken for the other, when the reader takes what fits best.
bool ShapeBuilder::told_apart(const Type& a, const Type& b) const {
  if (wire_kind_of(a, shape_) != wire_kind_of(b, shape_)) return true;
  if (a.kind == Kind::kArray && b.kind == Kind::kArray)  // an empty one is both
    return told_apart(a.of.front(), b.of.front());
  if (a.kind == Kind::kTuple && b.kind == Kind::kTuple) return a.of.size() != b.of.size();
  if (a.kind == Kind::kMap && b.kind == Kind::kNamed) return has_required(shape_.types[b.named]);
  if (a.kind == Kind::kNamed && b.kind == Kind::kMap) return has_required(shape_.types[a.named]);
  if (a.kind != Kind::kNamed || b.kind != Kind::kNamed) return false;
  // Of a type that contains the union itself the fields are not known yet; a tree has leaves.
  if (a.named != b.named && (unfinished_.contains(a.named) || unfinished_.contains(b.named)))
    return true;
  return structs_told_apart(shape_.types[a.named], shape_.types[b.named]);
}

// By a property that both require and that differs, or by one that only one of them knows.
bool ShapeBuilder::structs_told_apart(const NamedType& a, const NamedType& b) const {
  const auto find = [](const NamedType& type, const std::string& name) -> const Field* {
    const auto found = std::ranges::find(type.fields, name, &Field::name);
    return found == type.fields.end() ? nullptr : &*found;
  };
  for (const Field& field : a.fields) {
    const Field* other = find(b, field.name);
    if (field.required && other == nullptr) return true;
    if (other == nullptr || !field.required || !other->required) continue;
    if (field.constant && other->constant && *field.constant != *other->constant) return true;
    const WireKind kind = wire_kind_of(field.type, shape_);
    const WireKind others = wire_kind_of(other->type, shape_);
    if (kind != others && kind != WireKind::kAny && others != WireKind::kAny) return true;
  }
  return std::ranges::any_of(b.fields, [&](const Field& field) {
    return field.required && find(a, field.name) == nullptr;
  });
}

}  // namespace mcpac::codegen
