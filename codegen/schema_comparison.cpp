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

}  // namespace mcpac::codegen
