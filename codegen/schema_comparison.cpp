// SPDX-License-Identifier: Apache-2.0

#include "codegen/schema_comparison.h"

#include "codegen/json_text.h"
#include "core/canonical_json.h"
#include "core/json_compare.h"
#include "core/schema/uri.h"

namespace mcpac::codegen {
namespace {

constexpr std::size_t kDeepestCompared = 200;  // real schemas stay below 40

std::string shown(const Json* value) {
  return value == nullptr ? "" : compact_json(OrderedJson(*value));
}

// True where `test(name, value)` is true for a member anywhere below; and where it is too deep.
template <typename Test>
bool any_member(const Json& schema, std::size_t depth, const Test& test) {
  if (depth > kDeepestCompared) return true;
  if (!schema.is_structured()) return false;
  for (auto entry = schema.begin(); entry != schema.end(); ++entry) {
    if (schema.is_object() && test(entry.key(), *entry)) return true;
    if (any_member(*entry, depth + 1, test)) return true;
  }
  return false;
}

// Below these, or beside them, a smaller set can make the whole larger.
bool turns(const std::string& name) {
  static const std::set<std::string> kTurning{"not",
                                              "if",
                                              "oneOf",
                                              "contains",
                                              "unevaluatedProperties",
                                              "unevaluatedItems",
                                              "dependentSchemas",
                                              "dependencies"};
  return kTurning.contains(name);
}

}  // namespace

const Json& SchemaComparison::any_schema() {
  static const Json schema = Json::object();
  return schema;
}

// {"not": {}} and false say the same, true and {} too.
bool SchemaComparison::allows_nothing(const Json& schema) {
  return schema.is_boolean() && !schema.get<bool>();
}

bool SchemaComparison::allows_all(const Json* schema) {
  return schema == nullptr || (schema->is_boolean() && schema->get<bool>()) ||
         (schema->is_object() && schema->empty());
}

bool SchemaComparison::same(const Json* a, const Json* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return json_equal(*a, *b);
}

SchemaComparison::Names SchemaComparison::texts_of(const Json* list) {
  Names names;
  if (list == nullptr || !list->is_array()) return names;
  for (const Json& item : *list) names.insert(canonical_json(item));
  return names;
}

SchemaEffect SchemaComparison::effect_of(const Names& before, const Names& after) {
  if (std::ranges::includes(before, after)) return SchemaEffect::kNarrowed;
  if (std::ranges::includes(after, before)) return SchemaEffect::kWidened;
  return SchemaEffect::kChanged;
}

SchemaComparison::Trust SchemaComparison::trust_in(const Json& schema) {
  if (!any_member(schema, 0, [](const auto& name, const Json&) { return turns(name); }))
    return Trust::kAll;
  // What they refer to may be anywhere; and whether a member is "unevaluated" is decided by every
  // keyword beside it and below it.
  const bool lost =
      refers_elsewhere(schema) || any_member(schema, 0, [](const auto& name, const Json&) {
        return name.starts_with("unevaluated");
      });
  return lost ? Trust::kNothing : Trust::kAllButDefinitions;
}

bool SchemaComparison::refers_elsewhere(const Json& schema) {
  return any_member(schema, 0, [](const auto& name, const Json& value) {
    if (name != "$ref" && name != "$dynamicRef" && name != "$recursiveRef") return false;
    if (name != "$ref" || !value.is_string()) return true;
    const auto& target = value.template get_ref<const std::string&>();
    return !target.starts_with("#/$defs/") && !target.starts_with("#/definitions/");
  });
}

// What is no text is a schema where a $ref leads to it ("#/examples/0", "#/enum/1"), and then more
// than words; and definitions that are a list are compared nowhere else.
SchemaEffect SchemaComparison::words(const std::string& name, const Json* before,
                                     const Json* after) const {
  const bool defines = name == "$defs" || name == "definitions" || name == "patternProperties";
  const auto matters = [&](const Json* value) {
    if (value == nullptr || !value->is_structured()) return false;
    return refers_elsewhere_ || (defines && value->is_array());
  };
  return matters(before) || matters(after) ? SchemaEffect::kChanged : SchemaEffect::kWords;
}

void SchemaComparison::add(SchemaEffect effect, std::string pointer, std::string what,
                           const Json* before, const Json* after) {
  if (too_much()) return;
  if (trust_ == Trust::kNothing && effect != SchemaEffect::kWords) effect = SchemaEffect::kChanged;
  SchemaChange change{effect, std::move(pointer), std::move(what), shown(before), shown(after)};
  text_ += change.pointer.size() + change.before.size() + change.after.size();
  changes_.list.push_back(std::move(change));
}

void SchemaComparison::compare(const Json& before, const Json& after, const std::string& at,
                               std::size_t depth) {
  if (too_much() || json_equal(before, after)) return;
  if (depth > kDeepestCompared) return add(SchemaEffect::kChanged, at, "changed", &before, &after);
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
  const std::size_t said_before = changes_.list.size();
  Names names;
  for (const auto* schema : {&old_schema, &new_schema}) {
    for (auto entry = schema->begin(); entry != schema->end(); ++entry) names.insert(entry.key());
  }
  const auto all_of = [&](const std::vector<std::string>& keywords, const auto& compare_them) {
    const std::size_t said = changes_.list.size();
    compare_them();
    if (changes_.list.size() != said) return;
    for (const std::string& name : keywords) rewritten(name, old_schema, new_schema, at);
  };
  all_of({"properties"}, [&] { properties(old_schema, new_schema, at, depth); });
  required(old_schema, new_schema, at);
  for (const char* done : {"properties", "required", "enum", "const"}) names.erase(done);
  all_of({"enum", "const"}, [&] { allowed_values(old_schema, new_schema, at); });
  for (const std::string& name : names)
    all_of({name}, [&] { keyword(name, old_schema, new_schema, at, depth); });
  // true and {}
  if (changes_.list.size() == said_before)
    add(SchemaEffect::kWords, at, "written in another way", &before, &after);
}

// Nothing that differs is left unsaid, also where it means the same: an order, ["string"] for
// "string".
void SchemaComparison::rewritten(const std::string& name, const Json& before, const Json& after,
                                 const std::string& at) {
  const Json* old_value = find_member(before, name);
  const Json* new_value = find_member(after, name);
  if (same(old_value, new_value)) return;
  add(words(name, old_value, new_value), at + "/" + schema::pointer_token(name),
      "written in another way", old_value, new_value);
}

void SchemaComparison::keyword(const std::string& name, const Json& before, const Json& after,
                               const std::string& at, std::size_t depth) {
  const Json* old_value = find_member(before, name);
  const Json* new_value = find_member(after, name);
  if (same(old_value, new_value)) return;
  static const Names kLower{"minimum", "exclusiveMinimum", "minLength", "minItems",
                            "minProperties"};
  static const Names kUpper{"maximum", "exclusiveMaximum", "maxLength", "maxItems",
                            "maxProperties"};
  static const Names kSchemas{"additionalProperties", "items", "additionalItems", "propertyNames"};
  static const Names kWords{"title",      "description", "examples", "$comment",
                            "deprecated", "readOnly",    "writeOnly"};
  if (kWords.contains(name)) {
    return add(words(name, old_value, new_value), at + "/" + schema::pointer_token(name), name,
               old_value, new_value);
  }
  if (kLower.contains(name) || kUpper.contains(name))
    return bound(name, old_value, new_value, at, kLower.contains(name));
  if (kSchemas.contains(name)) return below(name, old_value, new_value, at, depth);
  if (name == "anyOf" || name == "allOf" || name == "oneOf" || name == "prefixItems")
    return branches(name, old_value, new_value, at, depth);
  if (name == "$defs" || name == "definitions" || name == "patternProperties")
    return definitions(name, before, after, at, depth);
  if (name == "pattern" || name == "format" || name == "multipleOf" || name == "uniqueItems")
    return present(name, old_value, new_value, at);
  if (name == "type") return types(old_value, new_value, at);
  add(SchemaEffect::kChanged, at + "/" + schema::pointer_token(name), "changed", old_value,
      new_value);
}

// A schema that is absent allows everything.
void SchemaComparison::below(const std::string& name, const Json* before, const Json* after,
                             const std::string& at, std::size_t depth) {
  if ((before != nullptr && before->is_array()) || (after != nullptr && after->is_array()))
    return branches(name, before, after, at, depth);  // items of a tuple, before 2020-12
  compare(before == nullptr ? any_schema() : *before, after == nullptr ? any_schema() : *after,
          at + "/" + name, depth + 1);
}

void SchemaComparison::branches(const std::string& name, const Json* before, const Json* after,
                                const std::string& at, std::size_t depth) {
  const std::string pointer = at + "/" + name;
  const bool lists =
      before != nullptr && after != nullptr && before->is_array() && after->is_array();
  const bool positive = name != "oneOf" || !lists;
  // Which items "items" speaks of is decided by how many stand before.
  const bool in_order = name == "items" || name == "additionalItems" || name == "prefixItems";
  if (!lists) {
    // allOf that is new can only take away, anyOf and oneOf too.
    const bool known = (before == nullptr || before->is_array()) &&
                       (after == nullptr || after->is_array()) && !in_order;
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
  // Another order says the same; in a oneOf two equal branches do not.
  const bool only_order = before->size() == after->size() || name != "oneOf";
  if (!in_order && only_order && texts_of(before) == texts_of(after)) return;
  add(effect, pointer, name, before, after);
}

SchemaComparison::Others SchemaComparison::others_of(const Json& schema) {
  const Json* others = find_member(schema, "additionalProperties");
  if (allows_all(others)) return Others::kAllowed;
  // A pattern may name them after all.
  return allows_nothing(*others) && !schema.contains("patternProperties") ? Others::kForbidden
                                                                          : Others::kDepends;
}

void SchemaComparison::required(const Json& before, const Json& after, const std::string& at) {
  const Json* old_list = find_member(before, "required");
  const Json* new_list = find_member(after, "required");
  if (same(old_list, new_list)) return;
  const auto plain = [](const Json* list) {
    return list == nullptr || (list->is_array() && std::ranges::all_of(*list, [](const Json& name) {
                                 return name.is_string();
                               }));
  };
  if (!plain(old_list) || !plain(new_list))
    return add(SchemaEffect::kChanged, at + "/required", "changed", old_list, new_list);
  const Names old_names = texts_of(old_list);
  const Names new_names = texts_of(new_list);
  if (old_names == new_names) return rewritten("required", before, after, at);
  const Json* old_properties = find_member(before, "properties");
  const Json* new_properties = find_member(after, "properties");
  const auto has = [](const Json* properties, const Json& name) {
    return properties != nullptr && properties->is_object() &&
           properties->contains(name.get_ref<const std::string&>());
  };
  const auto name_of = [](const std::string& text) { return Json::parse(text, nullptr, false); };
  for (const std::string& text : new_names) {
    const Json name = name_of(text);
    if (old_names.contains(text)) continue;
    // A property that is new and required is said once, by properties().
    if (!has(old_properties, name) && has(new_properties, name)) continue;
    add(SchemaEffect::kNarrowed, at + "/required", "required now", nullptr, &name);
  }
  for (const std::string& text : old_names) {
    const Json name = name_of(text);
    if (new_names.contains(text)) continue;
    if (has(old_properties, name) && !has(new_properties, name)) continue;
    add(SchemaEffect::kWidened, at + "/required", "optional now", &name, nullptr);
  }
}

// Whether a property that is new lets in more or less depends on what the object said of members
// without a name. Where anything was allowed, even a new optional one takes something away: every
// other value of that name. No program of ours could say it, so for arguments it is not called
// narrowed, but a promise of results it is.
SchemaEffect SchemaComparison::added(const Json& before, const Json& schema,
                                     bool is_required) const {
  const bool input = side_ == SchemaSide::kInput;
  const Others others = others_of(before);
  if (others == Others::kAllowed && is_required) return SchemaEffect::kNarrowed;
  if (others == Others::kAllowed && !input) return SchemaEffect::kNarrowed;
  const bool takes_nothing = others == Others::kForbidden || allows_all(&schema);
  if (input && !is_required && others != Others::kDepends && takes_nothing)
    return SchemaEffect::kWidened;
  return SchemaEffect::kChanged;
}

SchemaEffect SchemaComparison::removed(const Json& after, bool was_required) const {
  const Others others = others_of(after);
  // Forbidden and needed before: now other objects are valid, not fewer.
  if (others == Others::kForbidden && !was_required) return SchemaEffect::kNarrowed;
  if (others == Others::kAllowed && side_ == SchemaSide::kOutput) return SchemaEffect::kWidened;
  return SchemaEffect::kChanged;
}

void SchemaComparison::properties(const Json& before, const Json& after, const std::string& at,
                                  std::size_t depth) {
  const Json* old_properties = find_member(before, "properties");
  const Json* new_properties = find_member(after, "properties");
  if (same(old_properties, new_properties)) return;
  if ((old_properties != nullptr && !old_properties->is_object()) ||
      (new_properties != nullptr && !new_properties->is_object())) {
    return add(SchemaEffect::kChanged, at + "/properties", "changed", old_properties,
               new_properties);
  }
  const Names were_needed = texts_of(find_member(before, "required"));
  const Names needed = texts_of(find_member(after, "required"));
  Names names;
  for (const Json* list : {old_properties, new_properties}) {
    if (list == nullptr) continue;
    for (auto entry = list->begin(); entry != list->end(); ++entry) names.insert(entry.key());
  }
  for (const std::string& name : names) {
    const Json* old_one = old_properties == nullptr ? nullptr : find_member(*old_properties, name);
    const Json* new_one = new_properties == nullptr ? nullptr : find_member(*new_properties, name);
    if (too_much() || same(old_one, new_one)) continue;
    const std::string pointer = at + "/properties/" + schema::pointer_token(name);
    if (old_one != nullptr && new_one != nullptr) {
      compare(*old_one, *new_one, pointer, depth + 1);
    } else if (new_one != nullptr) {
      const bool is_required = needed.contains(canonical_json(Json(name)));
      add(added(before, *new_one, is_required), pointer,
          is_required ? "required property added" : "optional property added", nullptr, new_one);
    } else {
      const bool was_required = were_needed.contains(canonical_json(Json(name)));
      add(removed(after, was_required), pointer,
          was_required ? "required property removed" : "property removed", old_one, nullptr);
    }
  }
}

void SchemaComparison::definitions(const std::string& name, const Json& before_all,
                                   const Json& after_all, const std::string& at,
                                   std::size_t depth) {
  const Json* before = find_member(before_all, name);
  const Json* after = find_member(after_all, name);
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
    const std::string pointer = at + "/" + name + "/" + schema::pointer_token(key);
    if (old_one != nullptr && new_one != nullptr && (patterns || trust_ == Trust::kAll)) {
      compare(*old_one, *new_one, pointer, depth + 1);
    } else {
      // An unused definition changes nothing; one that is used shows where it is.
      // Members that a pattern names are no longer "additional".
      const bool alone =
          patterns && others_of(old_one == nullptr ? before_all : after_all) == Others::kAllowed;
      add(!alone               ? SchemaEffect::kChanged
          : new_one == nullptr ? SchemaEffect::kWidened
                               : SchemaEffect::kNarrowed,
          pointer,
          old_one == nullptr   ? "added"
          : new_one == nullptr ? "removed"
                               : "changed",
          old_one, new_one);
    }
  }
}

namespace {

// Every value of JSON is of one of these; "number" holds "integer".
std::set<std::string> types_of(const Json* type) {
  static const std::set<std::string> kAll{"null",   "boolean", "object", "array",
                                          "string", "integer", "number"};
  if (type == nullptr) return kAll;
  std::set<std::string> names;
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

}  // namespace

void SchemaComparison::types(const Json* before, const Json* after, const std::string& at) {
  const Names old_types = types_of(before);
  const Names new_types = types_of(after);
  if (old_types == new_types) return;  // "string" and ["string"]
  add(effect_of(old_types, new_types), at + "/type", "type", before, after);
}

void SchemaComparison::bound(const std::string& name, const Json* before, const Json* after,
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
void SchemaComparison::allowed_values(const Json& before, const Json& after,
                                      const std::string& at) {
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

// Keywords that only take away: there or not there decides.
void SchemaComparison::present(const std::string& name, const Json* before, const Json* after,
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

}  // namespace mcpac::codegen
