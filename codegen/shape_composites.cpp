// The composite half of ShapeBuilder: arrays, objects, unions, and the names of what they need.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/emitted_words.h"
#include "codegen/facts.h"
#include "codegen/names.h"
#include "codegen/shape_builder.h"

namespace mcpac::codegen {
namespace {

using Kind = Type::Kind;

constexpr std::size_t kMaxProperties = 4096;
constexpr std::size_t kMaxPropertyName =
    512;  // longer than any name a person types; keeps lines bounded
constexpr std::size_t kMaxAlternatives = 32;
constexpr std::size_t kMaxTuple = 16;
constexpr std::size_t kMaxTitle =
    40;  // a title is for people; only a short one is a good type name

std::string hint_of(const OrderedJson& schema, std::string_view otherwise) {
  const std::string title = text_of(schema, "title");
  std::string hint = title.size() <= kMaxTitle ? to_pascal_case(title) : "";
  if (hint.empty()) hint = to_pascal_case(otherwise);
  return hint.empty() ? "Value" : hint;
}

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

}  // namespace

Type ShapeBuilder::named_type(std::size_t index) {
  const bool unfinished = unfinished_.contains(index);
  if (unfinished) shape_.types[index].recursive = true;
  return {.kind = Kind::kNamed, .boxed = unfinished, .named = index};
}

Type ShapeBuilder::array_type(const OrderedJson& schema, const Spot& spot) {
  const OrderedJson* tuple = keyword(schema, "prefixItems");
  const OrderedJson* items = keyword(schema, "items");
  if (tuple == nullptr && items != nullptr && items->is_array()) tuple = items;  // draft 7
  if (tuple != nullptr && tuple->is_array() && !tuple->empty()) return tuple_type(*tuple, spot);
  if (items == nullptr) return {.kind = Kind::kArray, .of = {Type{}}};
  return {.kind = Kind::kArray,
          .of = {type_of(*items, spot.below("items", hint_of(*items, spot.hint)))}};
}

// A pair of numbers is a vector of numbers: the host counts them.
Type ShapeBuilder::tuple_type(const OrderedJson& items, const Spot& spot) {
  if (items.size() > kMaxTuple) return fall_back(spot, "its tuple is too long");
  std::vector<Type> types;
  for (std::size_t i = 0; i < items.size(); ++i) {
    types.push_back(type_of(
        items[i], spot.below("prefixItems", spot.hint).below(std::to_string(i), spot.hint)));
  }
  const bool uniform =
      std::ranges::all_of(types, [&](const Type& type) { return type == types.front(); });
  if (uniform) return {.kind = Kind::kArray, .of = {types.front()}};
  return {.kind = Kind::kTuple, .of = std::move(types)};
}

Type ShapeBuilder::object_type(const OrderedJson& schema, const OrderedJson& identity,
                               const Spot& spot) {
  const OrderedJson* properties = keyword(schema, "properties");
  if (properties != nullptr && properties->is_object() && !properties->empty()) {
    if (properties->size() > kMaxProperties) {
      return fall_back(spot, fmt::format("it has {} properties", properties->size()));
    }
    return struct_type(schema, identity, spot);
  }
  const OrderedJson* values = keyword(schema, "additionalProperties");
  std::string_view step = "additionalProperties";
  const OrderedJson* patterns = keyword(schema, "patternProperties");
  if ((values == nullptr || !values->is_object()) && patterns != nullptr && patterns->is_object() &&
      patterns->size() == 1) {
    values = &*patterns->begin();
    step = "patternProperties";
  }
  if (values == nullptr || !values->is_object() || values->empty()) return {};  // any object
  return {.kind = Kind::kMap,
          .of = {type_of(*values, spot.below(step, hint_of(*values, spot.hint)))}};
}

Type ShapeBuilder::struct_type(const OrderedJson& schema, const OrderedJson& identity,
                               const Spot& spot) {
  const std::size_t index = shape_.types.size();
  shape_.types.push_back({.cpp_name = spot.hint, .words = words_of(identity, schema)});
  shape_.types[index].words.facts.clear();  // they belong to the field
  structs_[&identity] = index;
  unfinished_.insert(index);
  auto fields = fields_of(schema, spot);
  shape_.types[index].fields = std::move(fields);
  unfinished_.erase(index);
  const std::size_t finished = finish_type(index);
  structs_[&identity] = finished;
  return named_type(finished);
}

std::vector<Field> ShapeBuilder::fields_of(const OrderedJson& schema, const Spot& spot) {
  std::vector<Field> fields;
  const OrderedJson* properties = keyword(schema, "properties");
  if (properties == nullptr || !properties->is_object()) return fields;
  if (properties->size() > kMaxProperties) {
    exhausted_ = true;
    return fields;
  }
  std::set<std::string> must;
  if (const OrderedJson* names = keyword(schema, "required");
      names != nullptr && names->is_array()) {
    for (const auto& name : *names) must.insert(name.is_string() ? name.get<std::string>() : "");
  }
  const Spot below = spot.below("properties", spot.hint);
  for (const auto& [name, property] : properties->items()) {
    ++shape_.properties;
    if (name.size() > kMaxPropertyName || name.contains('\0')) {
      note(below.place,
           "a property is left out of the C++ type: its name is too long or holds a zero byte");
      continue;
    }
    const Resolved target = resolver_.follow(property);
    Field field{.name = name, .required = must.contains(name)};
    field.type = type_of(property, below.below(name, hint_of(property, name)));
    field.words = words_of(property, target.schema == nullptr ? property : *target.schema);
    if (field.type.kind == Kind::kNamed) {  // said once is enough
      Words& type_words = shape_.types[field.type.named].words;
      if (type_words.description == field.words.description) type_words = {};
    }
    fields.push_back(std::move(field));
  }
  std::vector<Field> ordered;
  for (const bool required : {true, false}) {
    for (Field& field : fields) {
      if (field.required == required) ordered.push_back(std::move(field));
    }
  }
  fields = std::move(ordered);
  std::vector<std::string> originals;
  for (const Field& field : fields) originals.push_back(field.name);
  const auto names = assign_names(originals, field_words(kind_));
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i].cpp_name = names[i];
  return fields;
}

Type ShapeBuilder::union_type(const OrderedJson& schema, const OrderedJson& branches,
                              const OrderedJson& identity, const Spot& spot) {
  std::vector<const OrderedJson*> alternatives;
  bool nullable = false;
  for (const auto& branch : branches) {
    const Resolved target = resolver_.follow(branch);
    if (target.schema == nullptr) return fall_back(spot, target.why);
    if (is_null_schema(*target.schema)) {
      nullable = true;
    } else {
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
    const std::string title = text_of(*alternatives[i], "title");
    types.push_back(type_of(
        *alternatives[i],
        spot.below(std::to_string(i), title.empty() ? hint : hint_of(*alternatives[i], hint))));
  }
  return variant_of(std::move(types), spot);
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
  const auto wire_kind = [&](const Type& type) {
    switch (type.kind) {
      case Kind::kString: return WireKind::kString;
      case Kind::kInteger:
      case Kind::kUnsigned:
      case Kind::kNumber: return WireKind::kNumber;
      case Kind::kBoolean: return WireKind::kBoolean;
      case Kind::kArray:
      case Kind::kTuple: return WireKind::kArray;
      case Kind::kMap: return WireKind::kObject;
      case Kind::kNamed:
        return shape_.types[type.named].is_enum() ? WireKind::kString : WireKind::kObject;
      case Kind::kJson:
      case Kind::kVariant: break;
    }
    return WireKind::kAny;
  };
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
  const bool string = has(Kind::kString);
  std::erase_if(flat, [&](const Type& type) {
    return (number && (type.kind == Kind::kInteger || type.kind == Kind::kUnsigned)) ||
           (string && type.kind == Kind::kNamed && shape_.types[type.named].is_enum());
  });
  Type result;
  if (flat.size() == 1) {
    result = std::move(flat.front());
  } else if (!flat.empty()) {
    std::set<WireKind> kinds;
    for (const Type& type : flat) kinds.insert(wire_kind(type));
    if (kinds.contains(WireKind::kAny))
      return fall_back(spot, "one of its alternatives is untyped");
    // An argument says by its C++ type which alternative it is; an answer only by its form.
    if (kind_ == ShapeKind::kResult && kinds.size() < flat.size())
      return fall_back(spot, "two of its alternatives look the same on the wire");
    result = {.kind = Kind::kVariant, .of = std::move(flat)};
  }
  result.nullable = result.nullable || nullable;
  return result;
}

// Two inline schemas with one name and one content are one type; the copy is forgotten.
std::size_t ShapeBuilder::finish_type(std::size_t index) {
  constexpr std::size_t kCompared =
      16;  // the last of a name: bounds the work for hostile repetition
  const NamedType& made = shape_.types[index];
  auto& candidates = by_hint_[made.cpp_name];
  if (!made.recursive) {
    for (std::size_t i = candidates.size(); i > 0 && i + kCompared > candidates.size(); --i) {
      const NamedType& other = shape_.types[candidates[i - 1]];
      if (!other.recursive && other.fields == made.fields && other.values == made.values) {
        return candidates[i - 1];
      }
    }
  }
  candidates.push_back(index);
  shape_.order.push_back(index);
  return index;
}

// An alternative that fell back to Json may leave types behind that nothing uses.
void ShapeBuilder::forget_unused() {
  std::set<std::size_t> used;
  std::vector<const Type*> open;
  const auto open_fields = [&](const std::vector<Field>& fields) {
    for (const Field& field : fields) open.push_back(&field.type);
  };
  open_fields(shape_.fields);
  while (!open.empty()) {
    const Type& type = *open.back();
    open.pop_back();
    for (const Type& inner : type.of) open.push_back(&inner);
    if (type.kind == Kind::kNamed && used.insert(type.named).second) {
      open_fields(shape_.types[type.named].fields);
    }
  }
  std::erase_if(shape_.order, [&](std::size_t index) { return !used.contains(index); });
}

void ShapeBuilder::name_types() {
  NameScope scope(type_words());
  const auto take_fields = [&](const std::vector<Field>& fields) {
    for (const Field& field : fields) scope.take(field.cpp_name);
  };
  take_fields(shape_.fields);
  for (const std::size_t index : shape_.order) take_fields(shape_.types[index].fields);
  for (const std::size_t index : shape_.order) {
    shape_.types[index].cpp_name = scope.claim(shape_.types[index].cpp_name);
  }
}

}  // namespace mcpac::codegen
