// SPDX-License-Identifier: Apache-2.0

// The composite part of ShapeBuilder: arrays, objects, and the names of the types they need.
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

constexpr std::size_t kMostProperties = 4096;
constexpr std::size_t kMaxPropertyName =
    512;  // longer than any name a person types; keeps lines bounded
constexpr std::size_t kMaxPatterns = 32;
constexpr std::size_t kMaxTuple = 16;

}  // namespace

Type ShapeBuilder::named_type(std::size_t index) {
  const bool unfinished = unfinished_.contains(index);
  if (unfinished) shape_.types[index].recursive = true;
  return {.kind = Kind::kNamed, .boxed = unfinished, .named = index};
}

Type ShapeBuilder::array_type(const OrderedJson& schema, const Spot& spot) {
  const OrderedJson* tuple = keyword(schema, "prefixItems");
  const OrderedJson* items = keyword(schema, "items");
  const OrderedJson* rest = items;
  if (tuple == nullptr && items != nullptr && items->is_array()) {  // draft 7
    tuple = items;
    rest = keyword(schema, "additionalItems");
  }
  if (tuple != nullptr && tuple->is_array() && !tuple->empty())
    return tuple_type(*tuple, rest, spot);
  if (items == nullptr) return {.kind = Kind::kArray, .of = {Type{}}};
  return {.kind = Kind::kArray,
          .of = {type_of(*items, spot.below("items", type_hint(*items, spot.hint)))}};
}

// A pair of numbers is a vector of numbers: the host counts them. So is a tuple that goes on with
// further items; what each may be is then said by a variant.
Type ShapeBuilder::tuple_type(const OrderedJson& items, const OrderedJson* rest, const Spot& spot) {
  if (items.size() > kMaxTuple) return fall_back(spot, "its tuple is too long");
  std::vector<Type> types;
  for (std::size_t i = 0; i < items.size(); ++i) {
    types.push_back(type_of(
        items[i], spot.below("prefixItems", spot.hint).below(std::to_string(i), spot.hint)));
  }
  const bool goes_on = rest != nullptr && rest->is_object() && !rest->empty();
  if (goes_on) types.push_back(type_of(*rest, spot.below("items", spot.hint)));
  const bool uniform =
      std::ranges::all_of(types, [&](const Type& type) { return type == types.front(); });
  if (uniform) return {.kind = Kind::kArray, .of = {types.front()}};
  if (!goes_on) return {.kind = Kind::kTuple, .of = std::move(types)};
  return {.kind = Kind::kArray, .of = {variant_of(std::move(types), spot)}};
}

Type ShapeBuilder::object_type(const OrderedJson& schema, const OrderedJson& identity,
                               const Spot& spot) {
  const OrderedJson* properties = keyword(schema, "properties");
  if (properties != nullptr && properties->is_object() && !properties->empty()) {
    if (properties->size() > kMostProperties) {
      return fall_back(spot, fmt::format("it has {} properties", properties->size()));
    }
    return struct_type(schema, identity, spot);
  }
  const auto values = unnamed_values(schema, spot);
  if (!values || (values->kind == Kind::kJson && !values->nullable)) return {};  // any object
  return {.kind = Kind::kMap, .of = {*values}};
}

// The type of the members that a schema lets in without listing them; nothing where it does not
// say that it does.
std::optional<Type> ShapeBuilder::unnamed_values(const OrderedJson& schema, const Spot& spot) {
  const OrderedJson* additional = keyword(schema, "additionalProperties");
  const OrderedJson* patterns = keyword(schema, "patternProperties");
  std::vector<Type> types;
  const auto add = [&](const OrderedJson& values, const Spot& below) {
    types.push_back(type_of(values, below.below("", type_hint(values, spot.hint))));
  };
  if (patterns != nullptr && patterns->is_object() && patterns->size() <= kMaxPatterns) {
    for (const auto& [pattern, values] : patterns->items()) {
      if (values != false) add(values, spot.below("patternProperties", spot.hint));
    }
  }
  const bool by_pattern = !types.empty();
  if (additional != nullptr && *additional == false)
    return by_pattern ? std::optional(variant_of(std::move(types), spot)) : std::nullopt;
  if (additional != nullptr && additional->is_object() && !additional->empty()) {
    add(*additional, spot.below("additionalProperties", spot.hint));
    return variant_of(std::move(types), spot);
  }
  // Any value under any other name: a caller is told of the patterns, an answer may hold the rest.
  if (by_pattern && kind_ == ShapeKind::kArgs) return variant_of(std::move(types), spot);
  return by_pattern || additional != nullptr ? std::optional(Type{}) : std::nullopt;
}

std::optional<ExtraFields> ShapeBuilder::extra_of(const OrderedJson& schema,
                                                  const std::vector<Field>& fields,
                                                  const Spot& spot) {
  auto values = unnamed_values(schema, spot);
  if (!values) return std::nullopt;
  NameScope scope(field_words(kind_));
  for (const Field& field : fields) scope.take(field.cpp_name);
  return ExtraFields{scope.claim("extra"), std::move(*values)};
}

Type ShapeBuilder::struct_type(const OrderedJson& schema, const OrderedJson& identity,
                               const Spot& spot) {
  const std::size_t index = shape_.types.size();
  shape_.types.push_back({.cpp_name = spot.hint, .words = words_of(identity, schema)});
  shape_.types[index].words.facts.clear();  // they belong to the field
  structs_[&identity] = index;
  unfinished_.insert(index);
  auto fields = fields_of(schema, spot);
  auto extra = extra_of(schema, fields, spot);
  shape_.types[index].fields = std::move(fields);
  shape_.types[index].extra = std::move(extra);
  unfinished_.erase(index);
  const std::size_t finished = finish_type(index);
  structs_[&identity] = finished;
  return named_type(finished);
}

// The one value that a property may have, where it is const or an enum of one.
const OrderedJson* ShapeBuilder::constant_of(const OrderedJson& property) {
  constexpr std::size_t kMaxConstant = 4096;
  Resolved target = resolver_.follow(property);
  if (target.schema != nullptr) target = resolver_.merged(*target.schema);
  if (target.schema == nullptr) return nullptr;
  const OrderedJson* value = keyword(*target.schema, "const");
  const OrderedJson* values = keyword(*target.schema, "enum");
  if (value == nullptr && values != nullptr && values->is_array() && values->size() == 1)
    value = &values->front();
  return value == nullptr || value->dump().size() > kMaxConstant ? nullptr : value;
}

Field ShapeBuilder::field_of(const std::string& name, const OrderedJson& property, bool required,
                             const Spot& below) {
  const Resolved target = resolver_.follow(property);
  Field field{.name = name, .required = required};
  if (const OrderedJson* constant = constant_of(property)) {
    field.type = scalar_type(*constant);
    field.type.nullable = false;
    field.constant = *constant;
  } else {
    field.type = type_of(property, below.below(name, type_hint(property, name)));
  }
  field.words = words_of(property, target.schema == nullptr ? property : *target.schema);
  if (field.type.kind == Kind::kNamed) {  // said once is enough
    Words& type_words = shape_.types[field.type.named].words;
    if (type_words.description == field.words.description) type_words = {};
  }
  return field;
}

std::vector<Field> ShapeBuilder::fields_of(const OrderedJson& schema, const Spot& spot) {
  std::vector<Field> fields;
  const OrderedJson* properties = keyword(schema, "properties");
  if (properties == nullptr || !properties->is_object()) return fields;
  if (properties->size() > kMostProperties) {
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
    } else if (property != false || must.contains(name)) {  // false: it may not be given
      fields.push_back(field_of(name, property, must.contains(name), below));
    }
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

// Two inline schemas with one name and one content are one type; the copy is forgotten.
std::size_t ShapeBuilder::finish_type(std::size_t index) {
  constexpr std::size_t kCompared =
      16;  // the last of a name: bounds the work for hostile repetition
  const NamedType& made = shape_.types[index];
  auto& candidates = by_hint_[made.cpp_name];
  if (!made.recursive) {
    for (std::size_t i = candidates.size(); i > 0 && i + kCompared > candidates.size(); --i) {
      const NamedType& other = shape_.types[candidates[i - 1]];
      if (!other.recursive && other.fields == made.fields && other.values == made.values &&
          other.extra == made.extra) {
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
  const auto open_fields = [&](const auto& holder) {
    for (const Field& field : holder.fields) open.push_back(&field.type);
    if (holder.extra) open.push_back(&holder.extra->type);
  };
  open_fields(shape_);
  while (!open.empty()) {
    const Type& type = *open.back();
    open.pop_back();
    for (const Type& inner : type.of) open.push_back(&inner);
    if (type.kind == Kind::kNamed && used.insert(type.named).second) {
      open_fields(shape_.types[type.named]);
    }
  }
  std::erase_if(shape_.order, [&](std::size_t index) { return !used.contains(index); });
}

void ShapeBuilder::name_types() {
  NameScope scope(type_words());
  const auto take_fields = [&](const auto& holder) {
    for (const Field& field : holder.fields) scope.take(field.cpp_name);
    if (holder.extra) scope.take(holder.extra->cpp_name);
  };
  take_fields(shape_);
  for (const std::size_t index : shape_.order) take_fields(shape_.types[index]);
  for (const std::size_t index : shape_.order) {
    shape_.types[index].cpp_name = claim_unreserved(scope, shape_.types[index].cpp_name);
  }
}

}  // namespace mcpac::codegen
