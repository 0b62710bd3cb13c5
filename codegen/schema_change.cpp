// One walk over both schemas at once. Every place that is compared is one where a smaller set of
// valid values below makes the whole smaller too (properties, items, anyOf, …); places of which
// that is not true (not, if, oneOf, …) are compared as a whole and are "changed".
#include "codegen/schema_change.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "codegen/json_text.h"
#include "core/canonical_json.h"
#include "core/json_compare.h"

namespace mcpac::codegen {
namespace {

constexpr std::size_t kMaxDepth = 200;  // real schemas stay below 40
// Bytes of all pointers and values. The values alone cannot be more than the listing, but a long
// name stands in the pointer of everything below it.
constexpr std::size_t kMaxText = std::size_t{16} << 20U;

using Names = std::set<std::string>;

const Json& any_schema() {
  static const Json schema = Json::object();
  return schema;
}

// {"not": {}} and false say the same, true and {} too.
bool allows_nothing(const Json& schema) {
  return schema.is_boolean() && !schema.get<bool>();
}

bool same(const Json* a, const Json* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return json_equal(*a, *b);
}

std::string shown(const Json* value) {
  return value == nullptr ? "" : compact_json(OrderedJson(*value));
}

std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

// The effect of one set of allowed things that became another.
SchemaEffect effect_of(const Names& before, const Names& after) {
  if (std::ranges::includes(before, after)) return SchemaEffect::kNarrowed;
  if (std::ranges::includes(after, before)) return SchemaEffect::kWidened;
  return SchemaEffect::kChanged;
}

// Every value of JSON is of one of these; "number" holds "integer".
Names types_of(const Json* type) {
  static const Names kAll{"null", "boolean", "object", "array", "string", "integer", "number"};
  if (type == nullptr) return kAll;
  Names names;
  const auto add = [&names](const Json& name) {
    if (!name.is_string()) return;
    names.insert(name.get<std::string>());
    if (name == "number") names.insert("integer");
  };
  if (type->is_array()) {
    for (const Json& name : *type) add(name);
  } else {
    add(*type);
  }
  return names;
}

Names texts_of(const Json* list) {
  Names names;
  if (list == nullptr || !list->is_array()) return names;
  for (const Json& item : *list) names.insert(canonical_json(item));
  return names;
}

class Comparison {
 public:
  Comparison(const Json& before, const Json& after, SchemaSide side, SchemaChanges& changes)
      : side_(side),
        changes_(changes),
        definitions_are_positive_(is_positive(before, 0) && is_positive(after, 0)) {}

  void compare(const Json& before, const Json& after, const std::string& at, std::size_t depth = 0);
  [[nodiscard]] bool too_much() const { return text_ > kMaxText; }

 private:
  void add(SchemaEffect effect, std::string pointer, std::string what, const Json* before,
           const Json* after);
  void keyword(const std::string& name, const Json& before, const Json& after,
               const std::string& at, std::size_t depth);
  void bound(const std::string& name, const Json* before, const Json* after, const std::string& at,
             bool is_lower);
  void allowed_values(const Json& before, const Json& after, const std::string& at);
  void required(const Json& before, const Json& after, const std::string& at);
  void properties(const Json& before, const Json& after, const std::string& at, std::size_t depth);
  void branches(const std::string& name, const Json* before, const Json* after,
                const std::string& at, std::size_t depth);
  void definitions(const std::string& name, const Json* before, const Json* after,
                   const std::string& at, std::size_t depth);
  void below(const std::string& name, const Json* before, const Json* after, const std::string& at,
             std::size_t depth);
  void present(const std::string& name, const Json* before, const Json* after,
               const std::string& at);
  static bool is_positive(const Json& schema, std::size_t depth);

  SchemaSide side_;
  SchemaChanges& changes_;
  bool definitions_are_positive_;
  std::size_t text_ = 0;
};

// A definition may be used below "not" or in one branch of a oneOf, where less means more.
bool Comparison::is_positive(const Json& schema, std::size_t depth) {
  if (depth > kMaxDepth) return false;
  if (schema.is_object()) {
    for (const char* name : {"not", "if", "oneOf", "contains", "unevaluatedProperties",
                             "unevaluatedItems", "dependentSchemas", "dependencies"}) {
      if (schema.contains(name)) return false;
    }
  }
  if (!schema.is_structured()) return true;
  return std::ranges::all_of(schema,
                             [depth](const Json& inner) { return is_positive(inner, depth + 1); });
}

void Comparison::add(SchemaEffect effect, std::string pointer, std::string what, const Json* before,
                     const Json* after) {
  if (too_much()) return;
  SchemaChange change{effect, std::move(pointer), std::move(what), shown(before), shown(after)};
  text_ += change.pointer.size() + change.before.size() + change.after.size();
  changes_.list.push_back(std::move(change));
}

void Comparison::compare(const Json& before, const Json& after, const std::string& at,
                         std::size_t depth) {
  if (too_much() || json_equal(before, after)) return;
  if (depth > kMaxDepth) return add(SchemaEffect::kChanged, at, "changed", &before, &after);
  if (allows_nothing(before) || allows_nothing(after)) {
    return add(allows_nothing(before) ? SchemaEffect::kWidened : SchemaEffect::kNarrowed, at,
               allows_nothing(before) ? "allowed" : "forbidden", &before, &after);
  }
  const Json& old_schema = before.is_object() ? before : any_schema();
  const Json& new_schema = after.is_object() ? after : any_schema();
  if ((!before.is_object() && !before.is_boolean()) ||
      (!after.is_object() && !after.is_boolean())) {
    return add(SchemaEffect::kChanged, at, "changed", &before, &after);
  }
  properties(old_schema, new_schema, at, depth);
  required(old_schema, new_schema, at);
  allowed_values(old_schema, new_schema, at);
  Names names;
  for (const auto* schema : {&old_schema, &new_schema}) {
    for (auto entry = schema->begin(); entry != schema->end(); ++entry) names.insert(entry.key());
  }
  for (const char* done : {"properties", "required", "enum", "const"}) names.erase(done);
  for (const std::string& name : names) keyword(name, old_schema, new_schema, at, depth);
}

void Comparison::keyword(const std::string& name, const Json& before, const Json& after,
                         const std::string& at, std::size_t depth) {
  const Json* old_value = find_member(before, name);
  const Json* new_value = find_member(after, name);
  if (same(old_value, new_value)) return;
  static const Names kLower{"minimum", "exclusiveMinimum", "minLength", "minItems",
                            "minProperties"};
  static const Names kUpper{"maximum", "exclusiveMaximum", "maxLength", "maxItems",
                            "maxProperties"};
  static const Names kSchemas{"additionalProperties", "items", "additionalItems", "propertyNames"};
  static const Names kWords{"title",      "description", "examples",  "$comment",
                            "deprecated", "readOnly",    "writeOnly", "$schema"};
  if (kWords.contains(name)) {
    return add(SchemaEffect::kWords, at + "/" + escaped(name), name, old_value, new_value);
  }
  if (kLower.contains(name) || kUpper.contains(name))
    return bound(name, old_value, new_value, at, kLower.contains(name));
  if (kSchemas.contains(name)) return below(name, old_value, new_value, at, depth);
  if (name == "anyOf" || name == "allOf" || name == "oneOf" || name == "prefixItems")
    return branches(name, old_value, new_value, at, depth);
  if (name == "$defs" || name == "definitions" || name == "patternProperties")
    return definitions(name, old_value, new_value, at, depth);
  if (name == "pattern" || name == "format" || name == "multipleOf" || name == "uniqueItems")
    return present(name, old_value, new_value, at);
  if (name == "type") {
    const Names old_types = types_of(old_value);
    const Names new_types = types_of(new_value);
    if (old_types == new_types) return;  // "string" and ["string"]
    return add(effect_of(old_types, new_types), at + "/type", "type", old_value, new_value);
  }
  add(SchemaEffect::kChanged, at + "/" + escaped(name), "changed", old_value, new_value);
}

void Comparison::bound(const std::string& name, const Json* before, const Json* after,
                       const std::string& at, bool is_lower) {
  SchemaEffect effect = SchemaEffect::kChanged;
  std::string what = name;
  const bool numbers =
      (before == nullptr || before->is_number()) && (after == nullptr || after->is_number());
  if (numbers) {
    const bool tighter = before == nullptr ||
                         (after != nullptr && (is_lower ? compare_numbers(*after, *before) > 0
                                                        : compare_numbers(*after, *before) < 0));
    effect = tighter ? SchemaEffect::kNarrowed : SchemaEffect::kWidened;
  }
  add(effect, at + "/" + name, std::move(what), before, after);
}

// enum and const are one question: which values.
void Comparison::allowed_values(const Json& before, const Json& after, const std::string& at) {
  const auto values = [](const Json& schema) -> Json {
    const Json* one = find_member(schema, "const");
    const Json* some = find_member(schema, "enum");
    if (one != nullptr && some == nullptr) return Json::array({*one});
    return some == nullptr ? Json() : *some;
  };
  const bool both = before.contains("const") && before.contains("enum");
  const Json old_values = values(before);
  const Json new_values = values(after);
  if (json_equal(old_values, new_values) &&
      same(find_member(before, "const"), find_member(after, "const")))
    return;
  const Json* old_shown = old_values.is_null() ? nullptr : &old_values;
  const Json* new_shown = new_values.is_null() ? nullptr : &new_values;
  const std::string pointer =
      at + (after.contains("const") && !after.contains("enum") ? "/const" : "/enum");
  if (both || (after.contains("const") && after.contains("enum"))) {
    return add(SchemaEffect::kChanged, pointer, "allowed values", old_shown, new_shown);
  }
  if (old_shown == nullptr || new_shown == nullptr) {
    return add(old_shown == nullptr ? SchemaEffect::kNarrowed : SchemaEffect::kWidened, pointer,
               old_shown == nullptr ? "only these values" : "any value", old_shown, new_shown);
  }
  const Names old_set = texts_of(old_shown);
  const Names new_set = texts_of(new_shown);
  if (old_set == new_set) return;  // another order
  const SchemaEffect effect = effect_of(old_set, new_set);
  add(effect, pointer,
      effect == SchemaEffect::kNarrowed  ? "values removed"
      : effect == SchemaEffect::kWidened ? "values added"
                                         : "other values",
      old_shown, new_shown);
}

void Comparison::required(const Json& before, const Json& after, const std::string& at) {
  const Names old_names = texts_of(find_member(before, "required"));
  const Names new_names = texts_of(find_member(after, "required"));
  const Json* old_properties = find_member(before, "properties");
  const Json* new_properties = find_member(after, "properties");
  const auto has = [](const Json* properties, const Json& name) {
    return properties != nullptr && properties->is_object() &&
           properties->contains(name.get_ref<const std::string&>());
  };
  const auto name_of = [](const std::string& text) { return Json::parse(text, nullptr, false); };
  for (const std::string& text : new_names) {
    const Json name = name_of(text);
    if (old_names.contains(text) || !name.is_string()) continue;
    // A property that is new and required is said once, by properties().
    if (!has(old_properties, name) && has(new_properties, name)) continue;
    add(SchemaEffect::kNarrowed, at + "/required", "required now", nullptr, &name);
  }
  for (const std::string& text : old_names) {
    const Json name = name_of(text);
    if (new_names.contains(text) || !name.is_string()) continue;
    if (has(old_properties, name) && !has(new_properties, name)) continue;
    add(SchemaEffect::kWidened, at + "/required", "optional now", &name, nullptr);
  }
}

// A property that is new gives a caller one more thing to say, and a program one more to read:
// arguments accept more, results promise more. A required new argument is one that every caller
// lacks.
void Comparison::properties(const Json& before, const Json& after, const std::string& at,
                            std::size_t depth) {
  const Json* old_properties = find_member(before, "properties");
  const Json* new_properties = find_member(after, "properties");
  if (same(old_properties, new_properties)) return;
  if ((old_properties != nullptr && !old_properties->is_object()) ||
      (new_properties != nullptr && !new_properties->is_object())) {
    return add(SchemaEffect::kChanged, at + "/properties", "changed", old_properties,
               new_properties);
  }
  const Names needed = texts_of(find_member(after, "required"));
  const bool input = side_ == SchemaSide::kInput;
  Names names;
  for (const Json* list : {old_properties, new_properties}) {
    if (list == nullptr) continue;
    for (auto entry = list->begin(); entry != list->end(); ++entry) names.insert(entry.key());
  }
  for (const std::string& name : names) {
    const Json* old_one = old_properties == nullptr ? nullptr : find_member(*old_properties, name);
    const Json* new_one = new_properties == nullptr ? nullptr : find_member(*new_properties, name);
    if (too_much() || same(old_one, new_one)) continue;
    const std::string pointer = at + "/properties/" + escaped(name);
    if (old_one != nullptr && new_one != nullptr) {
      compare(*old_one, *new_one, pointer, depth + 1);
    } else if (new_one != nullptr) {
      const bool is_required = needed.contains(canonical_json(Json(name)));
      const bool more = input && !is_required;
      add(more ? SchemaEffect::kWidened : SchemaEffect::kNarrowed, pointer,
          is_required ? "required property added" : "optional property added", nullptr, new_one);
    } else {
      add(input ? SchemaEffect::kNarrowed : SchemaEffect::kWidened, pointer, "property removed",
          old_one, nullptr);
    }
  }
}

// A schema that is absent allows everything.
void Comparison::below(const std::string& name, const Json* before, const Json* after,
                       const std::string& at, std::size_t depth) {
  if ((before != nullptr && before->is_array()) || (after != nullptr && after->is_array()))
    return branches(name, before, after, at, depth);  // items of a tuple, before 2020-12
  compare(before == nullptr ? any_schema() : *before, after == nullptr ? any_schema() : *after,
          at + "/" + name, depth + 1);
}

void Comparison::branches(const std::string& name, const Json* before, const Json* after,
                          const std::string& at, std::size_t depth) {
  const std::string pointer = at + "/" + name;
  const bool lists =
      before != nullptr && after != nullptr && before->is_array() && after->is_array();
  const bool positive = name != "oneOf" || !lists;
  if (!lists) {
    // allOf that is new can only take away, anyOf and oneOf too.
    const bool known = (before == nullptr || before->is_array()) &&
                       (after == nullptr || after->is_array()) && name != "items";
    return add(!known              ? SchemaEffect::kChanged
               : before == nullptr ? SchemaEffect::kNarrowed
                                   : SchemaEffect::kWidened,
               pointer, name, before, after);
  }
  std::size_t differing = 0;
  for (std::size_t i = 0; i < std::min(before->size(), after->size()); ++i)
    differing += json_equal((*before)[i], (*after)[i]) ? 0 : 1;
  const bool in_place = before->size() == after->size() && (name != "anyOf" || differing == 1);
  if (positive && in_place) {
    for (std::size_t i = 0; i < before->size(); ++i)
      compare((*before)[i], (*after)[i], pointer + "/" + std::to_string(i), depth + 1);
    return;
  }
  SchemaEffect effect = SchemaEffect::kChanged;
  if (name == "anyOf" || name == "allOf") effect = effect_of(texts_of(before), texts_of(after));
  if (name == "allOf" && effect != SchemaEffect::kChanged) {
    effect = effect == SchemaEffect::kNarrowed ? SchemaEffect::kWidened : SchemaEffect::kNarrowed;
  }
  const bool order_matters = name == "items" || name == "prefixItems";
  if (!order_matters && texts_of(before) == texts_of(after)) return;
  add(effect, pointer, name, before, after);
}

void Comparison::definitions(const std::string& name, const Json* before, const Json* after,
                             const std::string& at, std::size_t depth) {
  const Json& old_ones = before != nullptr && before->is_object() ? *before : any_schema();
  const Json& new_ones = after != nullptr && after->is_object() ? *after : any_schema();
  const bool patterns = name == "patternProperties";
  Names names;
  for (const Json* list : {&old_ones, &new_ones}) {
    for (auto entry = list->begin(); entry != list->end(); ++entry) names.insert(entry.key());
  }
  for (const std::string& key : names) {
    const Json* old_one = find_member(old_ones, key);
    const Json* new_one = find_member(new_ones, key);
    if (too_much() || same(old_one, new_one)) continue;
    const std::string pointer = at + "/" + name + "/" + escaped(key);
    if (old_one != nullptr && new_one != nullptr && (patterns || definitions_are_positive_)) {
      compare(*old_one, *new_one, pointer, depth + 1);
    } else {
      // A definition that nobody uses changes nothing; one that is used shows where it is.
      add(patterns && new_one == nullptr   ? SchemaEffect::kWidened
          : patterns && old_one == nullptr ? SchemaEffect::kNarrowed
                                           : SchemaEffect::kChanged,
          pointer,
          old_one == nullptr   ? "added"
          : new_one == nullptr ? "removed"
                               : "changed",
          old_one, new_one);
    }
  }
}

// Keywords that only take away: there or not there decides.
void Comparison::present(const std::string& name, const Json* before, const Json* after,
                         const std::string& at) {
  SchemaEffect effect = SchemaEffect::kChanged;
  const auto is_off = [](const Json* value) {
    return value == nullptr || (value->is_boolean() && !value->get<bool>());
  };
  if (is_off(before) && is_off(after)) return;
  if (is_off(before)) effect = SchemaEffect::kNarrowed;
  if (is_off(after)) effect = SchemaEffect::kWidened;
  const auto positive = [](const Json* value) {
    return value != nullptr && value->is_number() && compare_numbers(*value, Json(0)) > 0;
  };
  if (name == "multipleOf" && positive(before) && positive(after)) {
    if (is_multiple_of(*after, *before)) effect = SchemaEffect::kNarrowed;
    if (is_multiple_of(*before, *after)) effect = SchemaEffect::kWidened;
  }
  add(effect, at + "/" + name, name, before, after);
}

}  // namespace

ForCaller for_caller(SchemaEffect effect, SchemaSide side) {
  if (effect == SchemaEffect::kWords) return ForCaller::kNothing;
  if (effect == SchemaEffect::kChanged) return ForCaller::kUnknown;
  const bool input = side == SchemaSide::kInput;
  return (effect == SchemaEffect::kWidened) == input ? ForCaller::kSafe : ForCaller::kBreaks;
}

SchemaEffect SchemaChanges::effect() const {
  SchemaEffect all = SchemaEffect::kWords;
  for (const SchemaChange& change : list) {
    if (change.effect == SchemaEffect::kWords) continue;
    if (all != SchemaEffect::kWords && all != change.effect) return SchemaEffect::kChanged;
    all = change.effect;
  }
  return all;
}

SchemaChanges compare_schemas(const OrderedJson& before, const OrderedJson& after,
                              SchemaSide side) {
  const Json old_schema(before);
  const Json new_schema(after);
  SchemaChanges changes;
  Comparison comparison(old_schema, new_schema, side, changes);
  comparison.compare(old_schema, new_schema, "");
  if (comparison.too_much()) {
    changes.list = {{SchemaEffect::kChanged, "", "changed in too many places to tell them apart",
                     shown(&old_schema), shown(&new_schema)}};
  }
  return changes;
}

std::string_view to_string(SchemaEffect effect) {
  switch (effect) {
    case SchemaEffect::kNarrowed: return "narrowed";
    case SchemaEffect::kWidened: return "widened";
    case SchemaEffect::kChanged: return "changed";
    case SchemaEffect::kWords: break;
  }
  return "words";
}

std::string_view to_string(ForCaller caller) {
  switch (caller) {
    case ForCaller::kSafe: return "safe";
    case ForCaller::kBreaks: return "breaking";
    case ForCaller::kUnknown: return "unknown";
    case ForCaller::kNothing: break;
  }
  return "none";
}

}  // namespace mcpac::codegen
