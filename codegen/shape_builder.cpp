// SPDX-License-Identifier: Apache-2.0

#include "codegen/shape_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/enumerators.h"
#include "codegen/facts.h"
#include "codegen/names.h"
#include "core/schema/uri.h"

namespace mcpac::codegen {
namespace {

// The deepest real schema has 24 levels of JSON, which is 12 of schemas.
constexpr int kDeepestShape = 40;
// The largest real tool holds about 1,500 schemas; unfolding more than this is an attack.
constexpr std::size_t kMaxVisited = 20'000;
constexpr std::size_t kMostEnumerators = 1024;
constexpr std::size_t kMaxEnumText = 512;  // a value is a name, not a text
constexpr std::size_t kMaxNotes = 50;      // of one shape: more tell nothing new

// The type name that a schema without "type" means by its other keywords; "" if nothing tells.
std::string_view implied_type(const OrderedJson& schema) {
  static constexpr std::pair<std::string_view, std::string_view> kImplied[] = {
      {"properties", "object"},
      {"additionalProperties", "object"},
      {"patternProperties", "object"},
      {"required", "object"},
      {"items", "array"},
      {"prefixItems", "array"},
      {"minItems", "array"},
      {"minLength", "string"},
      {"maxLength", "string"},
      {"pattern", "string"},
      {"minimum", "number"},
      {"maximum", "number"}};
  for (const auto& [name, type] : kImplied) {
    if (keyword(schema, name) != nullptr) return type;
  }
  return "";
}

// Beyond the signed range only where the schema asks for it: all others want std::int64_t.
Type::Kind integer_kind(const OrderedJson& schema) {
  const OrderedJson* most = keyword(schema, "maximum");
  const OrderedJson* least = keyword(schema, "minimum");
  const bool large =
      text_of(schema, "format") == "uint64" ||
      (most != nullptr && most->is_number() && most->get<double>() >= 9223372036854775808.0);
  const bool positive = least != nullptr && least->is_number() && least->get<double>() >= 0;
  return large && positive ? Type::Kind::kUnsigned : Type::Kind::kInteger;
}

}  // namespace

ShapeBuilder::Spot ShapeBuilder::Spot::below(std::string_view step, std::string hint_below) const {
  return {place + "/" + schema::pointer_token(step), std::move(hint_below), depth + 1};
}

void ShapeBuilder::note(const std::string& place, std::string message) {
  if (++noted_ > kMaxNotes) return;
  if (noted_ == kMaxNotes) message = "more places like these in this schema";
  notes_.push_back({permission_, place, std::move(message)});
}

Type ShapeBuilder::fall_back(const Spot& spot, std::string reason) {
  ++shape_.became_json;
  note(spot.place, "becomes Json: " + std::move(reason));
  return {};
}

Shape ShapeBuilder::build() {
  const Spot top{place_, "Args", 0};
  const Resolved root = resolver_.whole();
  const OrderedJson* schema = root.schema;
  std::string why = root.why;
  if (schema != nullptr && !schema->is_object()) why = "it is no schema of an object";
  // Nothing but "more properties are welcome" is an object of the caller's own making.
  const OrderedJson* more = schema == nullptr ? nullptr : keyword(*schema, "additionalProperties");
  const OrderedJson* own = schema == nullptr ? nullptr : keyword(*schema, "properties");
  if (more != nullptr && *more != false && (own == nullptr || own->empty()) &&
      kind_ == ShapeKind::kArgs) {
    shape_.free_form = true;
    return std::move(shape_);
  }
  if (schema != nullptr && why.empty() && text_of(*schema, "type") != "object" &&
      implied_type(*schema) != "object") {
    why = schema->empty() ? "it says nothing" : "it describes no object";
  }
  if (why.empty()) {
    structs_top_ = schema;
    shape_.fields = fields_of(*schema, top);
    // The whole of a result has structured() for what it does not name.
    if (kind_ == ShapeKind::kArgs) shape_.extra = extra_of(*schema, shape_.fields, top);
    if (exhausted_) why = "it unfolds into too many schemas";
  }
  if (!why.empty()) {
    shape_ =
        Shape{.free_form = true, .properties = shape_.properties, .became_json = shape_.properties};
    note(place_, "becomes Json: " + why);
    return std::move(shape_);
  }
  forget_unused();
  name_types();
  return std::move(shape_);
}

Type ShapeBuilder::type_of(const OrderedJson& schema, const Spot& spot) {
  if (++visited_ > kMaxVisited) exhausted_ = true;
  if (exhausted_ || !schema.is_object() || schema.empty()) return {};  // true, {}: anything
  if (spot.depth > kDeepestShape) return fall_back(spot, "it is nested too deeply");
  const Resolved target = resolver_.follow(schema);
  if (target.schema == nullptr) return fall_back(spot, target.why);
  if (target.schema == &schema) return type_of_target(schema, spot);
  // Once a target: a copy that refers to itself would unfold without end.
  if (refines_reference(schema) && being_refined_.insert(target.schema).second) {
    Type type = type_of_target(schema, spot);
    being_refined_.erase(target.schema);
    return type;
  }

  if (target.schema == &root_ || target.schema == structs_top_) {
    return fall_back(spot, "it refers to the whole schema");
  }
  if (const auto made = structs_.find(target.schema); made != structs_.end())
    return named_type(made->second);
  if (!being_visited_.insert(target.schema).second) return fall_back(spot, "it refers to itself");
  Spot there = spot;
  if (std::string hint = to_pascal_case(target.name); !hint.empty()) there.hint = std::move(hint);
  Type type = type_of_target(*target.schema, there);
  being_visited_.erase(target.schema);
  return type;
}

Type ShapeBuilder::type_of_target(const OrderedJson& target, const Spot& spot) {
  const Resolved merged = resolver_.merged(target);
  if (merged.schema == nullptr) return fall_back(spot, merged.why);
  const bool wrapper = merged.schema != &target &&
                       (keyword(*merged.schema, "$ref") || keyword(*merged.schema, "allOf"));
  if (wrapper) return type_of(*merged.schema, {spot.place, spot.hint, spot.depth + 1});
  Type type = type_by_keywords(*merged.schema, target, spot);
  const OrderedJson* nullable = keyword(*merged.schema, "nullable");  // OpenAPI's spelling
  if (nullable != nullptr && *nullable == true) type.nullable = true;
  return type;
}

Type ShapeBuilder::type_by_keywords(const OrderedJson& schema, const OrderedJson& identity,
                                    const Spot& spot) {
  if (const OrderedJson* constant = keyword(schema, "const"); constant != nullptr) {
    return enum_type(OrderedJson::array({*constant}), schema, spot);
  }
  if (const OrderedJson* values = keyword(schema, "enum");
      values != nullptr && values->is_array()) {
    return enum_type(*values, schema, spot);
  }
  for (const std::string_view name : {"anyOf", "oneOf"}) {
    const OrderedJson* branches = keyword(schema, name);
    if (branches != nullptr && branches->is_array() && !branches->empty()) {
      return union_type(schema, *branches, identity,
                        {spot.place + "/" + schema::pointer_token(name), spot.hint, spot.depth});
    }
  }
  return type_by_type(schema, identity, spot);
}

Type ShapeBuilder::type_by_type(const OrderedJson& schema, const OrderedJson& identity,
                                const Spot& spot) {
  const OrderedJson* type = keyword(schema, "type");
  if (type == nullptr) return type_by_name(implied_type(schema), schema, identity, spot);
  if (type->is_string())
    return type_by_name(type->get_ref<const std::string&>(), schema, identity, spot);
  if (!type->is_array()) return fall_back(spot, "its \"type\" is no type");
  std::vector<Type> alternatives;
  bool nullable = false;
  for (const auto& name : *type) {
    if (!name.is_string()) return fall_back(spot, "its \"type\" is no type");
    if (name == "null") {
      nullable = true;
    } else {
      alternatives.push_back(
          type_by_name(name.get_ref<const std::string&>(), schema, identity, spot));
    }
  }
  Type result = variant_of(std::move(alternatives), spot);
  result.nullable = result.nullable || nullable;
  return result;
}

Type ShapeBuilder::type_by_name(std::string_view name, const OrderedJson& schema,
                                const OrderedJson& identity, const Spot& spot) {
  using Kind = Type::Kind;
  if (name == "string") return {.kind = Kind::kString};
  if (name == "number") return {.kind = Kind::kNumber};
  if (name == "boolean") return {.kind = Kind::kBoolean};
  if (name == "array") return array_type(schema, spot);
  if (name == "object") return object_type(schema, identity, spot);
  if (name == "integer") return {.kind = integer_kind(schema)};
  if (name == "null") return {};
  return name.empty() ? Type{} : fall_back(spot, "its \"type\" is unknown to JSON Schema");
}

// The type of one JSON value that is no object and no array.
Type ShapeBuilder::scalar_type(const OrderedJson& value) {
  using Kind = Type::Kind;
  if (value.is_string()) return {.kind = Kind::kString};
  if (value.is_boolean()) return {.kind = Kind::kBoolean};
  if (value.is_number_float()) return {.kind = Kind::kNumber};
  if (!value.is_number()) return {.nullable = value.is_null()};
  const bool large = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
  return {.kind = large ? Kind::kUnsigned : Kind::kInteger};
}

Type ShapeBuilder::enum_type(const OrderedJson& values, const OrderedJson& schema,
                             const Spot& spot) {
  std::vector<OrderedJson> distinct;
  std::set<std::string> seen;
  bool nullable = false;
  for (const auto& value : values) {
    nullable = nullable || value.is_null();
    if (value.is_structured())
      return values.size() == 1 ? Type{} : fall_back(spot, "its enum holds objects or arrays");
    if (!value.is_null() && seen.insert(value.dump()).second) distinct.push_back(value);
  }
  Type type{.nullable = nullable};
  if (distinct.empty()) return type;
  const auto all = [&](auto predicate) { return std::ranges::all_of(distinct, predicate); };
  const bool strings = all([](const auto& value) { return value.is_string(); });
  const bool numbers = all([](const auto& value) { return value.is_number(); });
  const bool whole = all([](const auto& value) { return value.is_number_integer(); });
  // Numbers with fractions are no names, and yes or no is a bool.
  if ((numbers && !whole) || all([](const auto& value) { return value.is_boolean(); }) ||
      keyword(schema, "const") != nullptr) {
    type.kind = numbers && !whole ? Type::Kind::kNumber : scalar_type(distinct.front()).kind;
    return type;
  }
  const auto is_long = [](const OrderedJson& value) {
    return value.is_string() && value.get_ref<const std::string&>().size() > kMaxEnumText;
  };
  if (distinct.size() > kMostEnumerators || std::ranges::any_of(distinct, is_long)) {
    if (!strings && !whole) return fall_back(spot, "its enum has too many or too long values");
    note(spot.place, fmt::format("becomes {}: its enum has too many or too long values",
                                 strings ? "a string" : "an integer"));
    type.kind = strings ? Type::Kind::kString : scalar_type(distinct.front()).kind;
    return type;
  }
  NamedType made{.cpp_name = spot.hint, .words = words_of(schema, schema)};
  made.words.facts.clear();  // they belong to the field
  made.values = enumerators_of(distinct);
  describe_values(schema, made.values);
  shape_.types.push_back(std::move(made));
  Type named = named_type(finish_type(shape_.types.size() - 1));
  named.nullable = nullable;
  return named;
}

}  // namespace mcpac::codegen
