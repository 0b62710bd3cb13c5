// SPDX-License-Identifier: Apache-2.0

// Node: one compiled schema. Compilation resolves every reference and reads every keyword once, so
// validation touches no URI, no keyword name and no regular expression text.
//
// Rules are grouped by the type of value that they concern: a string never looks at the rules for
// objects. Pointers to Json lead into the SchemaIndex that lives as long as the nodes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/json_schema.h"
#include "core/schema/index.h"
#include "core/schema/pattern.h"

namespace mcpac::schema {

struct Node;
using NamedNode = std::pair<std::string, const Node*>;

// One bit a type; an integer is a number, too.
enum TypeBit : std::uint8_t {
  kNullBit = 1,
  kBooleanBit = 2,
  kObjectBit = 4,
  kArrayBit = 8,
  kNumberBit = 16,
  kStringBit = 32,
  kIntegerBit = 64,
};

struct NumberRules {
  const Json* minimum = nullptr;
  const Json* maximum = nullptr;
  const Json* exclusive_minimum = nullptr;
  const Json* exclusive_maximum = nullptr;
  const Json* multiple_of = nullptr;
};

struct StringRules {
  std::optional<std::uint64_t> min_length;  // in code points
  std::optional<std::uint64_t> max_length;
  std::optional<Pattern> pattern;
};

struct ArrayRules {
  std::optional<std::uint64_t> min_items;
  std::optional<std::uint64_t> max_items;
  bool unique = false;
  std::vector<const Node*> prefix;
  const Node* rest = nullptr;  // "items" after the prefix; "additionalItems" of draft 7
  const Node* contains = nullptr;
  std::optional<std::uint64_t> min_contains;
  std::optional<std::uint64_t> max_contains;
};

struct ObjectRules {
  std::optional<std::uint64_t> min_properties;
  std::optional<std::uint64_t> max_properties;
  std::vector<std::string> required;
  std::vector<NamedNode> properties;  // sorted by name
  std::vector<std::pair<Pattern, const Node*>> patterns;
  const Node* additional = nullptr;
  const Node* names = nullptr;
  std::vector<std::pair<std::string, std::vector<std::string>>> dependent_required;
  std::vector<NamedNode> dependent;  // applied to the whole object
};

// Keywords that apply further schemas to the same value.
struct InPlace {
  const Node* reference = nullptr;
  const Node* dynamic =
      nullptr;                 // where a "$dynamicRef" leads when no outer resource says otherwise
  std::string dynamic_anchor;  // empty: it never does
  std::vector<const Node*> all_of;
  std::vector<const Node*> any_of;
  std::vector<const Node*> one_of;
  const Node* negated = nullptr;
  const Node* condition = nullptr;
  const Node* then = nullptr;
  const Node* otherwise = nullptr;
};

struct Node {
  enum class Kind : std::uint8_t { kRules, kAlways, kNever };
  Kind kind = Kind::kRules;
  std::uint8_t types = 0;  // 0: any
  ResourceId resource = 0;
  const Json* constant = nullptr;
  const Json* choices = nullptr;  // "enum"
  const Json* default_value = nullptr;
  // Its default, or that of what it refers to, does not hold here: it is not filled in.
  bool refuses_default = false;
  // Beside a "$ref" of draft 7, where it means nothing to a validator: zod writes it, and fills it.
  const Json* default_beside_reference = nullptr;
  std::unique_ptr<NumberRules> number;
  std::unique_ptr<StringRules> string;
  std::unique_ptr<ArrayRules> array;
  std::unique_ptr<ObjectRules> object;
  std::unique_ptr<InPlace> in_place;
  const Node* unevaluated_items = nullptr;
  const Node* unevaluated_properties = nullptr;
};

// A whole compiled schema.
struct Program {
  // Notes for people, each with its JSON pointer into the schema.
  std::vector<SchemaRemark> refused_defaults;
  std::vector<SchemaRemark> unchecked_patterns;
  SchemaIndex index;
  const Json* document = nullptr;                     // what was compiled, in the index
  std::unordered_set<const Json*> refusing_defaults;  // schemas of it whose node refuses_default
  std::deque<Node> nodes;
  const Node* root = nullptr;
  // By resource, then by name: what a "$dynamicRef" looks for, outermost resource first.
  std::vector<std::vector<NamedNode>> dynamic_anchors;
};

[[nodiscard]] Result<std::unique_ptr<const Program>> compile(const Json& schema,
                                                             UncheckablePatterns patterns);

}  // namespace mcpac::schema
