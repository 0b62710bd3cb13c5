// Possible values: types, bounds, lists of values, and keywords that only take away.
#include "codegen/schema_comparison.h"
#include "core/json_compare.h"

namespace mcpac::codegen {
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
