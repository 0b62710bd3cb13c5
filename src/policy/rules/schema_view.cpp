#include "policy/rules/schema_view.h"

#include <algorithm>
#include <charconv>

#include "core/json_compare.h"
#include "core/schema/uri.h"

namespace mcpac::policy {
namespace {

constexpr int kMaxReferences = 16;
constexpr int kMaxParts = 8;  // "allOf" in "allOf"
// Values put into one default, and how deep.
constexpr std::size_t kMostFilled = 10'000;
constexpr std::size_t kDeepestFilled = 64;
constexpr const char* kCombinations[] = {"allOf", "anyOf", "oneOf"};

Types type_named(const Json& name) {
  if (!name.is_string()) return kAllTypes;
  const auto& text = name.get_ref<const std::string&>();
  if (text == "null") return kNullType;
  if (text == "boolean") return kBooleanType;
  if (text == "number" || text == "integer") return kNumberType;
  if (text == "string") return kStringType;
  if (text == "array") return kArrayType;
  return text == "object" ? kObjectType : kAllTypes;
}

bool is_combined(const Json& schema) {
  return std::ranges::any_of(kCombinations,
                             [&](const char* word) { return schema.contains(word); }) ||
         schema.contains("if") || schema.contains("dependentSchemas");
}

const Json* element(const Json& list, std::string_view token) {
  std::size_t index = 0;
  const char* end = token.data() + token.size();
  const auto read = std::from_chars(token.data(), end, index);
  return read.ec == std::errc() && read.ptr == end && index < list.size() ? &list[index] : nullptr;
}

// What "#/a/b" leads to; null where it leads nowhere, and for a reference of another kind. Walked
// by hand: nlohmann's pointers throw on what a server may write.
const Json* target_of(const Json& root, std::string_view reference) {
  if (!reference.starts_with('#')) return nullptr;
  const auto tokens = schema::pointer_tokens(reference.substr(1));
  if (!tokens) return nullptr;
  const Json* at = &root;
  for (const auto& token : *tokens) {
    at = at->is_array() ? element(*at, token) : find_member(*at, token);
    if (at == nullptr) return nullptr;
  }
  return at;
}

// Where what stands beside a "$ref" means nothing.
bool is_draft7(const Json& root) {
  const Json* named = find_member(root, "$schema");
  return named != nullptr && named->is_string() &&
         named->get_ref<const std::string&>().find("/draft-0") != std::string::npos;
}

}  // namespace

void SchemaView::follow() {
  for (int i = 0; at_ != nullptr; ++i) {
    const Json* reference = find_member(*at_, "$ref");
    if (reference == nullptr) return;
    if (beside_ == nullptr && !is_draft7(*root_)) beside_ = find_member(*at_, "default");
    const bool follows = i < kMaxReferences && reference->is_string();
    at_ = follows ? target_of(*root_, reference->get_ref<const std::string&>()) : nullptr;
  }
}

std::optional<SchemaView> SchemaView::member(std::string_view name) const {
  if (at_ == nullptr || !at_->is_object()) return SchemaView();
  const Json* properties = find_member(*at_, "properties");
  if (properties != nullptr) {
    if (const Json* property = find_member(*properties, name)) return SchemaView(root_, property);
  }
  for (const SchemaView& part : parts()) {
    if (part.names_member(name, 1)) return part.member(name);
  }
  const Json* additional = find_member(*at_, "additionalProperties");
  const bool closed = additional != nullptr && additional->is_boolean() && !additional->get<bool>();
  if (is_combined(*at_) || at_->contains("patternProperties")) return SchemaView();
  if (additional != nullptr && additional->is_object()) return SchemaView(root_, additional);
  // A schema that names members and says nothing of others is taken at its word: a mistyped name in
  // a rule is likelier than a member nobody wrote down.
  const bool names_some = properties != nullptr && properties->is_object() && !properties->empty();
  if (closed || (additional == nullptr && names_some)) return std::nullopt;
  return SchemaView();
}

SchemaView SchemaView::elements() const {
  if (at_ == nullptr) return {};
  const Json* items = find_member(*at_, "items");
  if (items == nullptr || !items->is_object() || at_->contains("prefixItems")) return {};
  return {root_, items};
}

std::vector<SchemaView> SchemaView::parts() const {
  std::vector<SchemaView> parts;
  const Json* all = at_ == nullptr ? nullptr : find_member(*at_, "allOf");
  if (all == nullptr || !all->is_array()) return parts;
  for (const Json& part : *all) parts.push_back({root_, &part});
  return parts;
}

bool SchemaView::names_member(std::string_view name) const {
  return names_member(name, 0);
}

bool SchemaView::names_member(std::string_view name, int depth) const {
  const Json* properties = at_ == nullptr ? nullptr : find_member(*at_, "properties");
  if (properties != nullptr && find_member(*properties, name) != nullptr) return true;
  return depth < kMaxParts && std::ranges::any_of(parts(), [&](const SchemaView& part) {
           return part.names_member(name, depth + 1);
         });
}

std::vector<std::string> SchemaView::member_names() const {
  std::vector<std::string> names;
  add_member_names(names, 0);
  return names;
}

void SchemaView::add_member_names(std::vector<std::string>& names, int depth) const {
  const Json* properties = at_ == nullptr ? nullptr : find_member(*at_, "properties");
  if (properties != nullptr && properties->is_object()) {
    for (const auto& [name, schema] : properties->items()) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  if (depth >= kMaxParts) return;
  for (const SchemaView& part : parts()) part.add_member_names(names, depth + 1);
}

Types SchemaView::types() const {
  if (at_ == nullptr || !at_->is_object()) return kAllTypes;
  const Json* type = find_member(*at_, "type");
  if (type == nullptr) return kAllTypes;
  if (!type->is_array()) return type_named(*type);
  Types types = 0;
  for (const auto& name : *type) types = static_cast<Types>(types | type_named(name));
  return types;
}

const Json* SchemaView::default_value() const {
  if (beside_ != nullptr) return beside_;
  return at_ == nullptr ? nullptr : find_member(*at_, "default");
}

struct SchemaView::Filling {
  std::vector<const Json*> open;  // members whose default is being filled
  std::size_t depth = 0;
  std::size_t work = 0;
};

// As core/schema/defaults.cpp fills, to whose rules this must keep.
void SchemaView::fill(Json& value, Filling& filling) const {
  if (!value.is_structured() || ++filling.work > kMostFilled || filling.depth >= kDeepestFilled)
    return;
  ++filling.depth;
  if (value.is_array()) {
    const SchemaView below = elements();
    for (Json& element : value) below.fill(element, filling);
    --filling.depth;
    return;
  }
  for (const auto& name : member_names()) {
    const SchemaView below = member(name).value_or(SchemaView());
    const auto found = value.find(name);
    if (found != value.end()) {
      below.fill(*found, filling);
      continue;
    }
    const Json* standard = below.default_value();
    if (standard == nullptr) continue;
    if (std::ranges::find(filling.open, below.at_) != filling.open.end()) continue;
    Json& filled = value[name] = *standard;
    filling.open.push_back(below.at_);
    below.fill(filled, filling);
    filling.open.pop_back();
  }
  --filling.depth;
}

std::optional<Json> SchemaView::filled_default() const {
  const Json* standard = default_value();
  if (standard == nullptr) return std::nullopt;
  Json value = *standard;
  Filling filling;
  filling.open.push_back(at_);
  fill(value, filling);
  return value;
}

bool SchemaView::equals_default(const Json& value) const {
  const Json* standard = default_value();
  if (standard == nullptr) return false;
  if (json_equal(*standard, value)) return true;
  return standard->is_structured() && json_equal(*filled_default(), value);
}

std::vector<std::string> SchemaView::required_members() const {
  std::vector<std::string> names;
  const Json* required = at_ == nullptr ? nullptr : find_member(*at_, "required");
  if (required == nullptr || !required->is_array()) return names;
  for (const auto& name : *required) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names;
}

bool SchemaView::requires_member(std::string_view name) const {
  const auto names = required_members();
  return std::ranges::find(names, name) != names.end();
}

}  // namespace mcpac::policy
