// Members that an object must, may and must not have.
#include "codegen/schema_comparison.h"
#include "core/canonical_json.h"
#include "core/schema/uri.h"

namespace mcpac::codegen {

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

}  // namespace mcpac::codegen
