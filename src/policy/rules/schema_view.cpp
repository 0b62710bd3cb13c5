#include "policy/rules/schema_view.h"

#include <algorithm>
#include <charconv>

#include "core/schema/uri.h"

namespace mcpac::policy {
namespace {

constexpr int kMaxReferences = 16;
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

}  // namespace

void SchemaView::follow() {
  for (int i = 0; at_ != nullptr; ++i) {
    const Json* reference = find_member(*at_, "$ref");
    if (reference == nullptr) return;
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

bool SchemaView::names_member(std::string_view name) const {
  const Json* properties = at_ == nullptr ? nullptr : find_member(*at_, "properties");
  return properties != nullptr && find_member(*properties, name) != nullptr;
}

std::vector<std::string> SchemaView::member_names() const {
  std::vector<std::string> names;
  const Json* properties = at_ == nullptr ? nullptr : find_member(*at_, "properties");
  if (properties != nullptr && properties->is_object()) {
    for (const auto& [name, schema] : properties->items()) names.push_back(name);
  }
  return names;
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
  return at_ == nullptr ? nullptr : find_member(*at_, "default");
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
