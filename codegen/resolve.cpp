// SPDX-License-Identifier: Apache-2.0

#include "codegen/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "codegen/text_escape.h"
#include "core/ascii.h"
#include "core/json.h"
#include "core/percent_code.h"

namespace mcpac::codegen {
namespace {

// Merge: the conjunction or the disjunction of two schemas, as one schema.
//
// Only what decides a C++ type has to come out right; conditions are the host's business, which
// checks the original. Work is bounded by the caller, which counts copied values.

// `target` requires what `more` requires, too.
void merge_required(OrderedJson& target, const OrderedJson& more);

// Properties of both; one that both describe is an allOf, merged in turn when it is looked at. Why
// it cannot be done, or "".
[[nodiscard]] std::string merge_properties(OrderedJson& target, const OrderedJson& more);

// `present` and `value` both hold for the keyword `name`: the tighter bound, the common part. Why
// they cannot, or "".
[[nodiscard]] std::string merge_keyword(std::string_view name, OrderedJson& present,
                                        const OrderedJson& value);

// Properties of either; one that both describe differently may be either. False: too many.
[[nodiscard]] bool add_alternatives(OrderedJson& properties, const OrderedJson& more);

// Number of values in a copy of `value`.
[[nodiscard]] std::size_t count_values(const OrderedJson& value);

constexpr std::size_t kMaxProperties = 4096;

// Keywords that shape the C++ type; where two parts of an allOf differ in one, we do not guess.
bool shapes_type(std::string_view name) {
  static constexpr auto kShaping =
      std::to_array<std::string_view>({"prefixItems", "anyOf", "oneOf", "$ref"});
  return std::ranges::find(kShaping, name) != kShaping.end();
}

// Both at once; merged in turn when it is looked at.
void merge_schema(OrderedJson& target, const OrderedJson& more) {
  if (target == more || more == true || (more.is_object() && more.empty())) return;
  if (target == true || more == false || (target.is_object() && target.empty())) {
    target = more;
  } else if (target != false) {
    OrderedJson both = OrderedJson::object();
    both["allOf"] = OrderedJson::array({std::move(target), more});
    target = std::move(both);
  }
}

// The types that both name; "integer" is a "number".
OrderedJson common_types(const OrderedJson& a, const OrderedJson& b) {
  const auto list = [](const OrderedJson& type) {
    return type.is_array() ? type : OrderedJson::array({type});
  };
  OrderedJson common = OrderedJson::array();
  const OrderedJson first = list(a);
  const OrderedJson second = list(b);
  for (const auto& one : first) {
    for (const auto& other : second) {
      const bool narrower = (one == "integer" && other == "number") || one == other;
      const bool wider = one == "number" && other == "integer";
      const OrderedJson& both = wider ? other : one;
      if ((narrower || wider) && std::ranges::find(common, both) == common.end())
        common.push_back(both);
    }
  }
  return common.size() == 1 ? OrderedJson(common.front()) : common;
}

bool is_lower_bound(std::string_view name) {
  return name == "minimum" || name == "exclusiveMinimum" || name.starts_with("min");
}

bool is_upper_bound(std::string_view name) {
  return name == "maximum" || name == "exclusiveMaximum" || name.starts_with("max");
}

void merge_required(OrderedJson& target, const OrderedJson& more) {
  if (!more.is_array()) return;
  if (!target.is_array()) target = OrderedJson::array();
  std::set<std::string> known;
  for (const auto& name : target) known.insert(name.is_string() ? name.get<std::string>() : "");
  for (const auto& name : more) {
    if (name.is_string() && known.insert(name.get<std::string>()).second) target.push_back(name);
  }
}

std::string merge_properties(OrderedJson& target, const OrderedJson& more) {
  if (!more.is_object()) return "";
  if (!target.is_object()) target = OrderedJson::object();
  if (target.size() + more.size() > kMaxProperties) return "allOf has too many properties";
  for (const auto& [name, schema] : more.items()) {
    if (!target.contains(name)) {
      target[name] = schema;
    } else {
      merge_schema(target[name], schema);
    }
  }
  return "";
}

std::string merge_keyword(std::string_view name, OrderedJson& present, const OrderedJson& value) {
  if (present == value) return "";
  if (name == "items" || name == "additionalProperties" || name == "propertyNames" ||
      name == "additionalItems") {
    if (present.is_array() || value.is_array()) return "allOf gives two lists of items";
    merge_schema(present, value);
  } else if (name == "type") {
    present = common_types(present, value);
    if (present.empty()) return "the types in its allOf exclude each other";
  } else if (name == "enum" && present.is_array() && value.is_array()) {
    OrderedJson common = OrderedJson::array();
    for (const auto& one : present) {
      if (std::ranges::find(value, one) != value.end()) common.push_back(one);
    }
    if (common.empty()) return "the enums in its allOf exclude each other";
    present = std::move(common);
  } else if (name == "const") {
    return "the constants in its allOf exclude each other";
  } else if (present.is_number() && value.is_number()) {
    if ((is_lower_bound(name) && present < value) || (is_upper_bound(name) && value < present))
      present = value;
  } else if (shapes_type(name)) {
    return fmt::format("allOf gives two values to {}", json_string(name));
  }
  return "";
}

bool add_alternatives(OrderedJson& properties, const OrderedJson& more) {
  if (!more.is_object()) return true;
  if (!properties.is_object()) properties = OrderedJson::object();
  if (properties.size() + more.size() > kMaxProperties) return false;
  for (const auto& [name, schema] : more.items()) {
    OrderedJson& present = properties[name];
    if (present.is_null()) {
      present = schema;
    } else if (present != schema) {
      OrderedJson either = OrderedJson::object();
      either["anyOf"] = OrderedJson::array({std::move(present), schema});
      present = std::move(either);
    }
  }
  return true;
}

std::size_t count_values(const OrderedJson& value) {
  std::size_t count = 1;
  if (!value.is_structured()) return count;
  for (const auto& member : value) count += count_values(member);
  return count;
}

}  // namespace

namespace {

// A chain of references longer than this is a circle or an attack; real ones have one or two links.
constexpr int kMaxLinks = 32;
constexpr int kMaxAllOfDepth = 8;
// A merge copies; a small definition whose thousand properties each merge one large schema must
// stay small.
constexpr std::size_t kMaxCopiedValues = 100'000;
// Looked through for $id and $anchor; what stands further down has no name.
constexpr std::size_t kMaxIndexed = 500'000;

// One part of a JSON pointer in a URI fragment: %XX first (RFC 3986), then ~1 and ~0 (RFC 6901).
std::string decode_part(std::string_view part) {
  const std::string bytes = percent_decoded(part);
  std::string decoded;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool escaped =
        bytes[i] == '~' && i + 1 < bytes.size() && (bytes[i + 1] == '0' || bytes[i + 1] == '1');
    decoded += escaped ? (bytes[i + 1] == '0' ? '~' : '/') : bytes[i];
    if (escaped) ++i;
  }
  return decoded;
}

const OrderedJson* step(const OrderedJson& at, const std::string& part) {
  if (at.is_object()) return keyword(at, part);
  if (!at.is_array() || part.empty() || part.size() > 6) return nullptr;
  if (!std::ranges::all_of(part, is_digit)) return nullptr;
  const auto index = static_cast<std::size_t>(std::stoul(part));
  return index < at.size() ? &at[index] : nullptr;
}

Resolved by_pointer(const OrderedJson& from, std::string_view pointer, std::string_view reference) {
  const OrderedJson* at = &from;
  std::string part;
  for (auto rest = pointer; !rest.empty() && at != nullptr;) {
    const auto end = std::min(rest.find('/', 1), rest.size());
    part = decode_part(rest.substr(1, end - 1));
    at = step(*at, part);
    rest.remove_prefix(end);
  }
  if (at == nullptr)
    return {nullptr, "",
            fmt::format("the reference {} points nowhere", json_string(cut(reference, 80)))};
  return {at, part, ""};
}

// RFC 3986 without dot segments: what generators of schemas write.
std::string absolute(const std::string& base, const std::string& reference) {
  const auto scheme = base.find("://");
  if (reference.find("://") != std::string::npos || reference.starts_with("urn:")) return reference;
  if (reference.starts_with('/'))
    return scheme == std::string::npos ? reference
                                       : base.substr(0, base.find('/', scheme + 3)) + reference;
  const auto last = base.rfind('/');
  const bool in_path =
      last != std::string::npos && (scheme == std::string::npos || last > scheme + 2);
  return in_path ? base.substr(0, last + 1) + reference : reference;
}

bool is_annotation(std::string_view name) {
  static constexpr auto kAnnotations =
      std::to_array<std::string_view>({"title", "description", "default", "examples", "deprecated",
                                       "readOnly", "writeOnly", "$comment"});
  return std::ranges::find(kAnnotations, name) != kAnnotations.end();
}

// {"allOf": [one], "description": …} is how generators put words beside a reference.
bool is_wrapper(const OrderedJson& schema) {
  return schema["allOf"].size() == 1 && std::ranges::all_of(schema.items(), [](const auto& member) {
           return member.key() == "allOf" || is_annotation(member.key());
         });
}

}  // namespace

const OrderedJson* keyword(const OrderedJson& schema, std::string_view name) {
  if (!schema.is_object()) return nullptr;
  const auto found = schema.find(name);
  return found == schema.end() ? nullptr : &*found;
}

bool refines_reference(const OrderedJson& schema) {
  static constexpr auto kRefining =
      std::to_array<std::string_view>({"enum", "const", "items", "properties", "required", "anyOf",
                                       "oneOf", "allOf", "additionalProperties"});
  const OrderedJson* reference = keyword(schema, "$ref");
  return reference != nullptr && reference->is_string() &&
         std::ranges::any_of(kRefining,
                             [&](auto name) { return keyword(schema, name) != nullptr; });
}

// Where the $id and the $anchor of a definition point, and which $ref stands below which $id.
struct Resolver::Index {
  std::map<std::string, const OrderedJson*> resources{};  // by $id, absolute
  std::map<std::string, const OrderedJson*> anchors{};    // by "$id#anchor"
  std::map<const OrderedJson*, std::string> bases{};      // of schemas with a $ref
  std::map<std::string, const OrderedJson*> dynamic{};    // by $dynamicAnchor: the first
  std::size_t seen = 0;

  void add(const OrderedJson& schema, std::string base, int depth) {
    constexpr int kMaxIndexDepth = 128;
    if (depth > kMaxIndexDepth || ++seen > kMaxIndexed || !schema.is_structured()) return;
    if (const OrderedJson* id = keyword(schema, "$id"); id != nullptr && id->is_string()) {
      const std::string name = id->get<std::string>();
      const auto fragment = name.find('#');
      if (fragment == 0) {  // draft 7's anchor
        anchors.try_emplace(base + name, &schema);
      } else {
        base = absolute(base, name.substr(0, fragment));
        resources.try_emplace(base, &schema);
      }
    }
    for (const std::string_view kind : {"$anchor", "$dynamicAnchor"}) {
      const OrderedJson* anchor = keyword(schema, kind);
      if (anchor == nullptr || !anchor->is_string()) continue;
      anchors.try_emplace(base + "#" + anchor->get<std::string>(), &schema);
      if (kind == "$dynamicAnchor") dynamic.try_emplace(anchor->get<std::string>(), &schema);
    }
    if (keyword(schema, "$ref") != nullptr || keyword(schema, "$dynamicRef") != nullptr)
      bases.emplace(&schema, base);
    for (const auto& [name, member] : schema.items()) {
      const bool data = schema.is_object() && (name == "enum" || name == "const" ||
                                               name == "default" || name == "examples");
      if (!data) add(member, base, depth + 1);
    }
  }
};

const Resolver::Index& Resolver::index() const {
  if (!index_) {
    auto made = std::make_shared<Index>();
    made->resources.emplace("", &root_);
    made->add(root_, "", 0);
    index_ = std::move(made);
  }
  return *index_;
}

Resolved Resolver::look_up(const OrderedJson& at, const std::string& reference) const {
  const auto hash = std::min(reference.find('#'), reference.size());
  const std::string file = reference.substr(0, hash);
  const std::string fragment = hash < reference.size() ? reference.substr(hash + 1) : "";
  const auto below = index().bases.find(&at);
  std::string base = below == index().bases.end() ? "" : below->second;
  if (!file.empty()) base = absolute(base, file);
  const auto resource = index().resources.find(base);
  if (resource == index().resources.end()) {
    return {nullptr, "",
            fmt::format("the reference {} is not local and is never fetched",
                        json_string(cut(reference, 80)))};
  }
  if (fragment.empty()) {
    const auto last = base.rfind('/');
    return {resource->second, last == std::string::npos ? base : base.substr(last + 1), ""};
  }
  if (fragment.starts_with('/')) return by_pointer(*resource->second, fragment, reference);
  const auto anchor = index().anchors.find(base + "#" + fragment);
  if (anchor != index().anchors.end()) return {anchor->second, fragment, ""};
  return {nullptr, "",
          fmt::format("the reference {} points nowhere", json_string(cut(reference, 80)))};
}

Resolved Resolver::follow(const OrderedJson& schema) const {
  Resolved at{&schema, "", ""};
  for (int links = 0; links < kMaxLinks; ++links) {
    const OrderedJson* reference = keyword(*at.schema, "$ref");
    const OrderedJson* dynamic = keyword(*at.schema, "$dynamicRef");
    if (reference != nullptr && reference->is_string()) {
      at = look_up(*at.schema, reference->get<std::string>());
    } else if (dynamic != nullptr && dynamic->is_string()) {
      const std::string name = dynamic->get<std::string>();
      const auto found =
          name.starts_with('#') ? index().dynamic.find(name.substr(1)) : index().dynamic.end();
      at = found != index().dynamic.end() ? Resolved{found->second, name.substr(1), ""}
                                          : look_up(*at.schema, name);
    } else {
      return at;
    }
    if (at.schema == nullptr) return at;
  }
  return {nullptr, "", "the reference runs in a circle"};
}

std::string Resolver::merge_into(OrderedJson& target, const OrderedJson& part, int depth) {
  if (depth > kMaxAllOfDepth) return "allOf is nested too deeply";
  const Resolved resolved = follow(part);
  if (resolved.schema == nullptr) return resolved.why;
  copied_ += count_values(*resolved.schema);
  if (copied_ > kMaxCopiedValues) return "allOf is too large to merge";
  if (!resolved.schema->is_object()) return *resolved.schema == false ? "allOf holds false" : "";
  for (const auto& [name, value] : resolved.schema->items()) {
    std::string why;
    if (name == "properties" || name == "patternProperties") {
      why = merge_properties(target[name], value);
    } else if (name == "required") {
      merge_required(target["required"], value);
    } else if (name == "allOf" && value.is_array()) {
      for (const auto& inner : value) {
        if (why = merge_into(target, inner, depth + 1); !why.empty()) break;
      }
    } else if (!target.contains(name)) {
      target[name] = value;
    } else {
      why = merge_keyword(name, target[name], value);
    }
    if (!why.empty()) return why;
  }
  return "";
}

Resolved Resolver::merged(const OrderedJson& schema) {
  const OrderedJson* parts = keyword(schema, "allOf");
  const bool has_parts = parts != nullptr && parts->is_array() && !parts->empty();
  const bool refined = refines_reference(schema);
  if (!has_parts && !refined) return {&schema, "", ""};
  if (!refined && is_wrapper(schema)) return {&parts->front(), "", ""};
  OrderedJson result = OrderedJson::object();
  for (const auto& [name, value] : schema.items()) {
    if (name != "allOf" && !(refined && name == "$ref")) result[name] = value;
  }
  std::string why;
  if (refined) {
    const Resolved target = look_up(schema, schema["$ref"].get<std::string>());
    why = target.schema == nullptr ? target.why : merge_into(result, *target.schema, 0);
  }
  for (std::size_t i = 0; has_parts && why.empty() && i < parts->size(); ++i)
    why = merge_into(result, (*parts)[i], 0);
  if (!why.empty()) return {nullptr, "", why};
  made_.push_back(std::move(result));
  return {&made_.back(), "", ""};
}

Resolved Resolver::whole() {
  Resolved at = follow(root_);
  if (at.schema != nullptr) at = merged(*at.schema);
  if (at.schema != nullptr) at = follow(*at.schema);
  for (const std::string_view name : {"anyOf", "oneOf"}) {
    const OrderedJson* branches = at.schema == nullptr ? nullptr : keyword(*at.schema, name);
    if (branches != nullptr && branches->is_array() && !branches->empty())
      at = with_branches(*at.schema, *branches);
  }
  return at;
}

Resolved Resolver::with_constant(const OrderedJson& schema, const std::string& name,
                                 const std::string& value) {
  const OrderedJson*& made = constants_[{&schema, name + "=" + value}];
  if (made == nullptr) {
    copied_ += count_values(schema);
    if (copied_ > kMaxCopiedValues) return {nullptr, "", "its alternatives are too large to merge"};
    OrderedJson copy = schema;
    if (!copy["properties"].is_object()) copy["properties"] = OrderedJson::object();
    OrderedJson& property = copy["properties"][name];
    if (!property.is_object()) property = OrderedJson::object();
    property["const"] = value;
    merge_required(copy["required"], OrderedJson::array({name}));
    made_.push_back(std::move(copy));
    made = &made_.back();
  }
  return {made, "", ""};
}

Resolved Resolver::with_branches(const OrderedJson& schema, const OrderedJson& branches) {
  OrderedJson result = OrderedJson::object();
  for (const auto& [name, value] : schema.items()) {
    if (&value != &branches) result[name] = value;
  }
  OrderedJson& properties = result["properties"];
  std::map<std::string, std::size_t> required_by;
  for (const auto& branch : branches) {
    Resolved resolved = follow(branch);
    if (resolved.schema != nullptr) resolved = merged(*resolved.schema);
    if (resolved.schema != nullptr) resolved = follow(*resolved.schema);
    if (resolved.schema == nullptr) return resolved;
    copied_ += count_values(*resolved.schema);
    if (copied_ > kMaxCopiedValues) return {nullptr, "", "its alternatives are too large to merge"};
    if (const OrderedJson* own = keyword(*resolved.schema, "properties"); own != nullptr) {
      if (!add_alternatives(properties, *own)) return {nullptr, "", "it has too many properties"};
    }
    const OrderedJson* required = keyword(*resolved.schema, "required");
    if (required == nullptr || !required->is_array()) continue;
    for (const auto& name : *required)
      ++required_by[name.is_string() ? name.get<std::string>() : ""];
  }
  OrderedJson always = OrderedJson::array();
  for (const auto& [name, count] : required_by) {
    if (count >= branches.size()) always.push_back(name);
  }
  merge_required(result["required"], always);
  made_.push_back(std::move(result));
  return {&made_.back(), "", ""};
}

}  // namespace mcpac::codegen
