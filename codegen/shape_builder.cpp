#include "codegen/shape_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/emitted_words.h"
#include "codegen/facts.h"
#include "codegen/names.h"

namespace mcpac::codegen {
namespace {

// The deepest real schema has 24 levels of JSON, which is 12 of schemas.
constexpr int kMaxDepth = 40;
// The largest real tool holds about 1,500 schemas; unfolding more than this is an attack.
constexpr std::size_t kMaxVisited = 20'000;
constexpr std::size_t kMaxEnumerators = 1024;
constexpr std::size_t kMaxEnumText = 512;  // a value is a name, not a text
constexpr std::size_t kMaxNotes = 50;      // of one shape: more tell nothing new

std::string pointer_part(std::string_view name) {
  std::string part = "/";
  for (const char c : name) {
    if (c == '~') {
      part += "~0";
    } else if (c == '/') {
      part += "~1";
    } else {
      part += c;
    }
  }
  return part;
}

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

}  // namespace

ShapeBuilder::Spot ShapeBuilder::Spot::below(std::string_view step, std::string hint_below) const {
  return {place + pointer_part(step), std::move(hint_below), depth + 1};
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
  Resolved root = resolver_.follow(root_);
  if (root.schema != nullptr) root = resolver_.merged(*root.schema);
  if (root.schema != nullptr) root = resolver_.follow(*root.schema);
  const OrderedJson* schema = root.schema;
  std::string why = root.why;
  if (schema != nullptr) {
    for (const std::string_view name : {"anyOf", "oneOf"}) {
      const OrderedJson* branches = schema == nullptr ? nullptr : keyword(*schema, name);
      if (branches == nullptr || !branches->is_array() || branches->empty()) continue;
      const Resolved flat = resolver_.with_branches(*schema, *branches);
      schema = flat.schema;
      why = flat.why;
    }
  }
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
  if (spot.depth > kMaxDepth) return fall_back(spot, "it is nested too deeply");
  const Resolved target = resolver_.follow(schema);
  if (target.schema == nullptr) return fall_back(spot, target.why);
  if (target.schema == &schema) return type_of_target(schema, spot);

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
                        {spot.place + pointer_part(name), spot.hint, spot.depth});
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
  if (name == "integer") {
    // Beyond the signed range only where the schema asks for it: everybody else wants std::int64_t.
    const OrderedJson* most = keyword(schema, "maximum");
    const OrderedJson* least = keyword(schema, "minimum");
    const bool large =
        most != nullptr && most->is_number_unsigned() && most->get<std::uint64_t>() > INT64_MAX;
    const bool positive = least != nullptr && least->is_number_integer() && *least >= 0;
    return {.kind = large && positive ? Kind::kUnsigned : Kind::kInteger};
  }
  if (name == "null") return {};
  return name.empty() ? Type{} : fall_back(spot, "its \"type\" is unknown to JSON Schema");
}

Type ShapeBuilder::enum_type(const OrderedJson& values, const OrderedJson& schema,
                             const Spot& spot) {
  std::vector<std::string> texts;
  std::set<std::string> seen;
  bool nullable = false;
  bool numbers = true;
  bool integers = true;
  bool booleans = true;
  for (const auto& value : values) {
    if (value.is_null()) {
      nullable = true;
      continue;
    }
    numbers = numbers && value.is_number();
    integers = integers && value.is_number_integer();
    booleans = booleans && value.is_boolean();
    if (value.is_string() && seen.insert(value.get<std::string>()).second)
      texts.push_back(value.get<std::string>());
  }
  const std::size_t others = values.size() - (nullable ? 1U : 0U);
  using Kind = Type::Kind;
  Type type{.nullable = nullable};
  if (others == 0) return type;
  if (integers || numbers || booleans) {
    type.kind = integers ? Kind::kInteger : numbers ? Kind::kNumber : Kind::kBoolean;
    return type;
  }
  if (seen.empty() ||
      std::ranges::any_of(values, [](const auto& v) { return !v.is_string() && !v.is_null(); })) {
    return values.size() == 1 ? type : fall_back(spot, "its enum mixes types");
  }
  type.kind = Kind::kString;
  if (keyword(schema, "const") != nullptr) return type;
  const auto is_long = [](const std::string& text) { return text.size() > kMaxEnumText; };
  if (texts.size() > kMaxEnumerators || std::ranges::any_of(texts, is_long)) {
    note(spot.place, "becomes a string: its enum has too many or too long values");
    return type;
  }
  const auto names = assign_names(texts);
  NamedType made{.cpp_name = spot.hint, .words = words_of(schema, schema)};
  made.words.facts.clear();  // they belong to the field
  for (std::size_t i = 0; i < texts.size(); ++i) made.values.push_back({texts[i], names[i]});
  describe_values(schema, made.values);
  shape_.types.push_back(std::move(made));
  Type named = named_type(finish_type(shape_.types.size() - 1));
  named.nullable = nullable;
  return named;
}

}  // namespace mcpac::codegen
