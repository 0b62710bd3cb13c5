// SPDX-License-Identifier: Apache-2.0

#include "policy/rules/schema_view.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>

#include "core/ascii.h"
#include "core/json_compare.h"
#include "core/schema/uri.h"
#include "policy/match/parameter_names.h"
#include "policy/match/readings.h"

namespace mcpac::policy {
namespace {

constexpr int kMaxReferences = 16;
constexpr std::size_t kLongestReference = 1'000;
// Schemas and references that are looked at below the "allOf" of one place, for one question. Real
// ones have a handful; each member of a call may ask.
constexpr std::size_t kMostParts = 128;
// Values looked at and names asked for, in one default, and how deep.
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
  if (!reference.starts_with('#') || reference.size() > kLongestReference) return nullptr;
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
  if (named == nullptr || !named->is_string()) return false;
  const std::string_view dialect = named->get_ref<const std::string&>();
  return dialect.substr(0, kLongestReference).find("/draft-0") != std::string_view::npos;
}

const Json* all_of(const Json& schema) {
  const Json* all = find_member(schema, "allOf");
  return all != nullptr && all->is_array() ? all : nullptr;
}

const Json* property_of(const Json& schema, std::string_view name) {
  const Json* properties = find_member(schema, "properties");
  return properties == nullptr ? nullptr : find_member(*properties, name);
}

// The schemas that hold beside one, whatever the value is: what its "allOf" says, and theirs.
//
// A server writes them, so they may lead back into themselves, or multiply at each level. Each is
// looked at once, and kMostParts in all: what comes after those is not known.
class Parts {
 public:
  Parts(const Json& root, const Json& whole) : root_(root) { is_new(whole); }

  // In the order of the text, up to the first for which `stop` holds.
  template <typename Stop>
  bool any_in(const Json& list, const Stop& stop) {
    for (const Json& part : list) {
      if (count_ == kMostParts) return false;
      const Json* at = followed(&part);
      if (at == nullptr) continue;
      if (stop(*at)) return true;
      const Json* more = all_of(*at);
      if (more != nullptr && any_in(*more, stop)) return true;
    }
    return false;
  }

 private:
  // Null where it leads nowhere, or to what was looked at before.
  const Json* followed(const Json* at) {
    while (at != nullptr && is_new(*at)) {
      const Json* reference = find_member(*at, "$ref");
      if (reference == nullptr) return at;
      at = reference->is_string() ? target_of(root_, reference->get_ref<const std::string&>())
                                  : nullptr;
    }
    return nullptr;
  }

  bool is_new(const Json& schema) {
    const auto end = seen_.begin() + static_cast<std::ptrdiff_t>(count_);
    if (count_ == kMostParts || std::find(seen_.begin(), end, &schema) != end) return false;
    seen_[count_++] = &schema;
    return true;
  }

  const Json& root_;
  std::array<const Json*, kMostParts> seen_{};
  std::size_t count_ = 0;
};

}  // namespace

void SchemaView::follow() {
  for (int i = 0; at_ != nullptr; ++i) {
    if (unfilled_ != nullptr && beside_ == nullptr)
      refuses_default_ = refuses_default_ || unfilled_->contains(at_);
    const Json* reference = find_member(*at_, "$ref");
    if (reference == nullptr) return;
    if (beside_ == nullptr && !is_draft7(*root_)) beside_ = find_member(*at_, "default");
    const bool follows = i < kMaxReferences && reference->is_string();
    at_ = follows ? target_of(*root_, reference->get_ref<const std::string&>()) : nullptr;
  }
}

std::optional<SchemaView> SchemaView::member(std::string_view name) const {
  if (at_ == nullptr || !at_->is_object()) return SchemaView();
  if (const Json* property = property_named(name)) return SchemaView(*this, property);
  const Json* properties = find_member(*at_, "properties");
  const Json* additional = find_member(*at_, "additionalProperties");
  const bool closed = additional != nullptr && additional->is_boolean() && !additional->get<bool>();
  if (is_combined(*at_) || at_->contains("patternProperties")) return SchemaView();
  if (additional != nullptr && additional->is_object()) return SchemaView(*this, additional);
  // A schema that names members and says nothing of others is taken at its word: a mistyped name in
  // a rule is likelier than a member that was not written down.
  const bool names_some = properties != nullptr && properties->is_object() && !properties->empty();
  if (closed || (additional == nullptr && names_some)) return std::nullopt;
  return SchemaView();
}

SchemaView SchemaView::elements() const {
  if (at_ == nullptr) return {};
  const Json* items = find_member(*at_, "items");
  if (items == nullptr || !items->is_object() || at_->contains("prefixItems")) return {};
  return {*this, items};
}

const Json* SchemaView::property_named(std::string_view name) const {
  if (at_ == nullptr) return nullptr;
  const Json* property = property_of(*at_, name);
  const Json* all = property == nullptr ? all_of(*at_) : nullptr;
  if (all == nullptr) return property;
  Parts(*root_, *at_).any_in(*all, [&](const Json& part) {
    property = property_of(part, name);
    return property != nullptr;
  });
  return property;
}

bool SchemaView::names_member(std::string_view name) const {
  return property_named(name) != nullptr;
}

std::vector<std::string> SchemaView::member_names() const {
  std::vector<std::string> names;
  if (at_ == nullptr) return names;
  const Json* all = all_of(*at_);
  std::unordered_set<std::string_view> known;
  const auto add = [&](const Json& schema) {
    const Json* properties = find_member(schema, "properties");
    if (properties == nullptr || !properties->is_object()) return false;
    for (const auto& [name, below] : properties->get_ref<const Json::object_t&>()) {
      if (all == nullptr || known.insert(name).second) names.push_back(name);
    }
    return false;
  };
  add(*at_);
  if (all != nullptr) Parts(*root_, *at_).any_in(*all, add);
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
  if (refuses_default_) return nullptr;
  if (beside_ != nullptr) return beside_;
  return at_ == nullptr ? nullptr : find_member(*at_, "default");
}

struct SchemaView::Filling {
  std::vector<const Json*> open;  // members whose default is being filled
  std::size_t depth = 0;
  std::size_t work = 0;
};

// As core/schema/defaults.cpp fills, to whose rules this must keep: that one needs the compiled
// schema, and of a place within one there is none. Where a bound ends this one early, the default
// is no value that a call has, so nothing counts as absent for it.
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
  const auto names = member_names();
  filling.work += names.size();
  for (const auto& name : names) {
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

MeantAs SchemaView::meaning_of(std::string_view name, KnownReadings* known) const {
  if (!names_member(name)) return MeantAs::kUnknown;
  const auto place = member(name);
  const Json* schema = place ? place->text() : nullptr;
  return known == nullptr ? meaning_of_member(name, schema) : known->meaning_of(name, schema);
}

MeantAs SchemaView::meaning_in_call(std::string_view name, KnownReadings* known) const {
  if (names_member(name)) return meaning_of(name, known);
  return known == nullptr ? meaning_of_unnamed(name) : known->meaning_of_unnamed(name);
}

bool SchemaView::requires_member(std::string_view name) const {
  const auto names = required_members();
  return std::ranges::find(names, name) != names.end();
}

}  // namespace mcpac::policy
