// SPDX-License-Identifier: Apache-2.0

// The approved definition of a tool, and its digest.
#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>

#include "codegen/lock.h"
#include "core/canonical_json.h"
#include "core/hash.h"

namespace mcpac::codegen {
namespace {

constexpr auto kApproved = std::to_array<std::string_view>(
    {"name", "title", "description", "inputSchema", "outputSchema", "annotations"});

void erase_texts(OrderedJson& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found != object.end() && found->is_string()) object.erase(found);
  }
}

// Only where a schema surely stands: a property may be called "description", and the value of a
// const, an enum or a default means what it says.
// NOLINTNEXTLINE(misc-no-recursion): no deeper than what was read (generate.cpp)
void erase_texts_of_schema(OrderedJson& schema) {
  static constexpr auto kSchemas = std::to_array<std::string_view>(
      {"items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains",
       "propertyNames", "unevaluatedItems", "unevaluatedProperties"});
  static constexpr auto kLists =
      std::to_array<std::string_view>({"allOf", "anyOf", "oneOf", "prefixItems", "items"});
  static constexpr auto kMaps = std::to_array<std::string_view>(
      {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"});
  const auto is_in = [](const auto& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  if (!schema.is_object()) return;
  erase_texts(schema, {"title", "description", "$comment"});
  for (auto entry = schema.begin(); entry != schema.end(); ++entry) {
    OrderedJson& value = *entry;
    const bool holds_schemas = (value.is_object() && is_in(kMaps, entry.key())) ||
                               (value.is_array() && is_in(kLists, entry.key()));
    if (holds_schemas) {
      for (OrderedJson& one : value) erase_texts_of_schema(one);
    } else if (is_in(kSchemas, entry.key())) {
      erase_texts_of_schema(value);
    }
  }
}

std::string without_texts(OrderedJson definition) {
  erase_texts(definition, {"title", "description"});
  if (const auto hints = definition.find("annotations");
      hints != definition.end() && hints->is_object())
    erase_texts(*hints, {"title"});
  for (const char* name : {"inputSchema", "outputSchema"}) {
    if (const auto schema = definition.find(name); schema != definition.end())
      erase_texts_of_schema(*schema);
  }
  return canonical_json(definition, kApproved);
}

}  // namespace

// Icons, the rest of _meta and execution hints are left out: they say nothing about what a call
// does, and servers change them from start to start.
std::string definition_digest(const OrderedJson& definition) {
  std::string text = canonical_json(definition, kApproved);
  // Of `_meta` what a tool says that it needs.
  if (const auto claims = claims_of_tool(definition).list; !claims.empty())
    text += "\n" + canonical_json(to_json(claims));
  return sha256_hex(text);
}

std::string digest_without_claims(const OrderedJson& definition) {
  return sha256_hex(canonical_json(definition, kApproved));
}

bool differ_in_texts_alone(const OrderedJson& one, const OrderedJson& other) {
  return one.is_object() && other.is_object() && without_texts(one) == without_texts(other) &&
         claims_of_tool(one).list == claims_of_tool(other).list;
}

const LockedServer* Lock::find_server(std::string_view name) const {
  for (const LockedServer& server : servers) {
    if (server.name == name) return &server;
  }
  return nullptr;
}

const LockedTool* Lock::find_tool(std::string_view server, std::string_view tool) const {
  const LockedServer* found = find_server(server);
  if (found == nullptr) return nullptr;
  const auto at = std::ranges::lower_bound(found->tools, tool, {}, &LockedTool::name);
  return at != found->tools.end() && at->name == tool ? &*at : nullptr;
}

}  // namespace mcpac::codegen
