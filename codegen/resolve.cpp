#include "codegen/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "codegen/text_escape.h"

namespace mcpac::codegen {
namespace {

// A chain of references longer than this is a circle or an attack; real ones have one or two links.
constexpr int kMaxLinks = 32;
constexpr int kMaxAllOfDepth = 8;
// A merge copies; a small definition whose thousand properties each merge one large schema must
// stay small.
constexpr std::size_t kMaxCopiedValues = 100'000;
constexpr std::size_t kMaxProperties = 4096;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// One part of a JSON pointer in a URI fragment: %XX first (RFC 3986), then ~1 and ~0 (RFC 6901).
std::string decode_part(std::string_view part) {
  std::string bytes;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool escaped = part[i] == '%' && i + 2 < part.size() && hex_digit(part[i + 1]) >= 0 &&
                         hex_digit(part[i + 2]) >= 0;
    bytes +=
        escaped ? static_cast<char>(hex_digit(part[i + 1]) * 16 + hex_digit(part[i + 2])) : part[i];
    if (escaped) i += 2;
  }
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
  if (!std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; })) return nullptr;
  const auto index = static_cast<std::size_t>(std::stoul(part));
  return index < at.size() ? &at[index] : nullptr;
}

Resolved look_up(const OrderedJson& root, std::string_view reference) {
  if (reference == "#") return {&root, "", ""};
  if (!reference.starts_with("#/")) {
    return {nullptr, "",
            fmt::format("the reference {} is not local and is never fetched",
                        json_string(cut(reference, 80)))};
  }
  const OrderedJson* at = &root;
  std::string part;
  for (auto rest = reference.substr(1); !rest.empty() && at != nullptr;) {
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

// Keywords that shape the C++ type; where two parts of an allOf differ in one, we do not guess.
bool shapes_type(std::string_view name) {
  static constexpr auto kShaping =
      std::to_array<std::string_view>({"type", "enum", "const", "items", "prefixItems", "anyOf",
                                       "oneOf", "additionalProperties", "$ref"});
  return std::ranges::find(kShaping, name) != kShaping.end();
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
    const OrderedJson* present = keyword(target, name);
    if (present == nullptr) {
      target[name] = schema;
    } else if (*present != schema && !schema.empty()) {
      return fmt::format("allOf gives two schemas to the property {}", json_string(cut(name, 80)));
    }
  }
  return "";
}

// A property that two branches describe differently may be either.
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

Resolved Resolver::follow(const OrderedJson& schema) const {
  Resolved at{&schema, "", ""};
  for (int links = 0; links < kMaxLinks; ++links) {
    const OrderedJson* reference = keyword(*at.schema, "$ref");
    if (reference == nullptr || !reference->is_string()) return at;
    at = look_up(root_, reference->get_ref<const std::string&>());
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
    if (name == "properties") {
      why = merge_properties(target["properties"], value);
    } else if (name == "required") {
      merge_required(target["required"], value);
    } else if (name == "allOf" && value.is_array()) {
      for (const auto& inner : value) {
        if (why = merge_into(target, inner, depth + 1); !why.empty()) break;
      }
    } else if (const OrderedJson* present = keyword(target, name); present == nullptr) {
      target[name] = value;
    } else if (*present != value && shapes_type(name)) {
      why = fmt::format("allOf gives two values to {}", json_string(cut(name, 80)));
    }
    if (!why.empty()) return why;
  }
  return "";
}

Resolved Resolver::merged(const OrderedJson& schema) {
  const OrderedJson* parts = keyword(schema, "allOf");
  if (parts == nullptr || !parts->is_array() || parts->empty()) return {&schema, "", ""};
  if (is_wrapper(schema)) return {&parts->front(), "", ""};
  OrderedJson result = OrderedJson::object();
  for (const auto& [name, value] : schema.items()) {
    if (name != "allOf") result[name] = value;
  }
  for (const auto& part : *parts) {
    if (std::string why = merge_into(result, part, 0); !why.empty()) return {nullptr, "", why};
  }
  made_.push_back(std::move(result));
  return {&made_.back(), "", ""};
}

Resolved Resolver::with_branches(const OrderedJson& schema, const OrderedJson& branches) {
  OrderedJson result = OrderedJson::object();
  for (const auto& [name, value] : schema.items()) {
    if (name != "anyOf" && name != "oneOf") result[name] = value;
  }
  OrderedJson& properties = result["properties"];
  std::map<std::string, std::size_t> required_by;
  for (const auto& branch : branches) {
    const Resolved resolved = follow(branch);
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
