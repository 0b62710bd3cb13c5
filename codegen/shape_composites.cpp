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
          .of = {type_of(*items, spot.below("items", hint_of(*items, spot.hint)))}};
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
    if (properties->size() > kMaxProperties) {
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
    types.push_back(type_of(values, below.below("", hint_of(values, spot.hint))));
  };
  if (patterns != nullptr && patterns->is_object() && patterns->size() <= kMaxAlternatives) {
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
    field.type = type_of(property, below.below(name, hint_of(property, name)));
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
    } else if (property != false || must.contains(name)) {  // false: nobody may give it
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
        spot.below(std::to_string(i), title.empty() ? hint : hint_of({{"title", title}}, hint))));
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
    shape_.types[index].cpp_name = scope.claim(shape_.types[index].cpp_name);
  }
}

}  // namespace mcpac::codegen
