// SPDX-License-Identifier: Apache-2.0

#include "gate/secret_places.h"

#include <algorithm>
#include <string>
#include <utility>

namespace mcpac::gate {
namespace {

constexpr int kMaxDepth = 256;  // of schemas and values together: "$ref" may lead in circles
constexpr int kMaxSteps = 100'000;

bool marks(const Json& schema) {
  const Json* write_only = find_member(schema, "writeOnly");
  return (write_only != nullptr && *write_only == true) ||
         string_member(schema, "format") == "password";
}

// Anywhere in the text, also where it is no schema: then calls are looked at in vain.
bool marks_anywhere(const Json& value) {
  if (value.is_object() && marks(value)) return true;
  if (!value.is_structured()) return false;
  for (const Json& child : value) {
    if (marks_anywhere(child)) return true;
  }
  return false;
}

class Walk {
 public:
  explicit Walk(const Json& root) : root_(root) {}

  bool redact(Json& value, const Json& schema, int depth) {
    if (!schema.is_object()) return false;
    if (marks(schema) || depth > kMaxDepth || --steps_ < 0) return take_out(value);
    bool found = false;
    if (schema.contains("$dynamicRef") || schema.contains("$recursiveRef")) return take_out(value);
    if (schema.contains("$ref")) {
      const Json* target = referred(schema);
      if (target == nullptr) return take_out(value);  // what it says of secrets is not known
      found = redact(value, *target, depth + 1);
    }
    for (const char* word : {"allOf", "anyOf", "oneOf"}) {
      const Json* list = find_member(schema, word);
      if (list == nullptr || !list->is_array()) continue;
      for (const Json& part : *list) found = redact(value, part, depth + 1) || found;
    }
    for (const char* word : {"if", "then", "else"}) {
      if (const Json* part = find_member(schema, word))
        found = redact(value, *part, depth + 1) || found;
    }
    // Whether the member is there that they depend on is not asked either.
    for (const char* word : {"dependentSchemas", "dependencies"}) {
      const Json* parts = find_member(schema, word);
      if (parts == nullptr || !parts->is_object()) continue;
      for (const Json& part : *parts) found = redact(value, part, depth + 1) || found;
    }
    if (value.is_object()) found = members(value, schema, depth) || found;
    if (value.is_array()) found = elements(value, schema, depth) || found;
    return found;
  }

 private:
  static bool take_out(Json& value) {
    value = kRedactedText;
    return true;
  }

  [[nodiscard]] const Json* referred(const Json& schema) const {
    const std::string text = string_member(schema, "$ref");
    if (text == "#") return &root_;
    if (!text.starts_with("#/")) return nullptr;
    const Json* at = &root_;
    for (std::size_t start = 2; start <= text.size();) {
      const auto end = std::min(text.find('/', start), text.size());
      std::string name = text.substr(start, end - start);
      for (const auto& [code, letter] : {std::pair{"~1", "/"}, std::pair{"~0", "~"}}) {
        for (auto p = name.find(code); p != std::string::npos; p = name.find(code, p + 1))
          name.replace(p, 2, letter);
      }
      at = at->is_object() ? find_member(*at, name) : nullptr;
      if (at == nullptr) return nullptr;
      start = end + 1;
    }
    return at;
  }

  bool members(Json& object, const Json& schema, int depth) {
    const Json* named = find_member(schema, "properties");
    const Json* others = find_member(schema, "additionalProperties");
    const Json* rest = find_member(schema, "unevaluatedProperties");
    const Json* patterns = find_member(schema, "patternProperties");
    bool found = false;
    for (auto& [name, member] : object.items()) {
      const Json* own = named == nullptr ? nullptr : find_member(*named, name);
      if (own != nullptr) found = redact(member, *own, depth + 1) || found;
      if (own == nullptr && others != nullptr) found = redact(member, *others, depth + 1) || found;
      if (own == nullptr && rest != nullptr) found = redact(member, *rest, depth + 1) || found;
      // Whether the name fits the pattern is not asked: too much is taken out rather than too
      // little.
      if (patterns == nullptr || !patterns->is_object()) continue;
      for (const Json& part : *patterns) found = redact(member, part, depth + 1) || found;
    }
    return found;
  }

  bool elements(Json& array, const Json& schema, int depth) {
    bool found = false;
    for (const char* word :
         {"items", "prefixItems", "additionalItems", "contains", "unevaluatedItems"}) {
      const Json* part = find_member(schema, word);
      if (part == nullptr) continue;
      for (Json& element : array) {
        if (!part->is_array()) {
          found = redact(element, *part, depth + 1) || found;
          continue;
        }
        for (const Json& one : *part) found = redact(element, one, depth + 1) || found;
      }
    }
    return found;
  }

  const Json& root_;
  int steps_ = kMaxSteps;
};

}  // namespace

std::shared_ptr<const SecretPlaces> SecretPlaces::of(const Json& schema) {
  if (!marks_anywhere(schema)) return nullptr;
  return std::shared_ptr<const SecretPlaces>(new SecretPlaces(schema));
}

bool SecretPlaces::redact(Json& arguments) const {
  return Walk(schema_).redact(arguments, schema_, 0);
}

}  // namespace mcpac::gate
