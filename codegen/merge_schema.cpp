#include "codegen/merge_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "codegen/text_escape.h"

namespace mcpac::codegen {
namespace {

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

}  // namespace

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

}  // namespace mcpac::codegen
