// Filling absent members from "default".
//
// Only where it is certain which schema applies: properties, items, references and allOf. What
// anyOf, oneOf or a condition would add depends on a choice that filling could change.
#include <algorithm>

#include "core/schema/validate.h"

namespace mcpac::schema {
namespace {

constexpr std::size_t kMostFilled = 1'000'000;
constexpr std::size_t kDeepestFilled = 400;

class Filler {
 public:
  void fill(const Node& node, Json& value) {
    if (++work_ > kMostFilled || depth_ >= kDeepestFilled) return;
    ++depth_;
    if (node.object && value.is_object()) fill_members(*node.object, value);
    if (node.array && value.is_array()) fill_items(*node.array, value);
    if (node.in_place) {
      if (node.in_place->reference != nullptr) fill(*node.in_place->reference, value);
      for (const Node* part : node.in_place->all_of) fill(*part, value);
    }
    --depth_;
  }

 private:
  void fill_members(const ObjectRules& rules, Json& value) {
    auto& members = value.get_ref<Json::object_t&>();
    for (const auto& [name, node] : rules.properties) {
      const auto place = members.find(name);
      if (place != members.end()) {
        fill(*node, place->second);
      } else if (const Json* standard = default_of(*node)) {
        // Taken as it is: a default that had to be filled itself could go on without end.
        members.emplace(name, *standard);
      }
    }
  }

  void fill_items(const ArrayRules& rules, Json& value) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Node* node = i < rules.prefix.size() ? rules.prefix[i] : rules.rest;
      if (node != nullptr) fill(*node, value[i]);
    }
  }

  static const Json* default_of(const Node& node) {
    const Node* at = &node;
    for (std::size_t step = 0; step < kDeepestFilled; ++step) {
      if (at->default_value != nullptr) return at->default_value;
      if (!at->in_place || at->in_place->reference == nullptr) return nullptr;
      at = at->in_place->reference;
    }
    return nullptr;
  }

  std::size_t work_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

void fill_defaults(const Program& program, Json& value) {
  Filler().fill(*program.root, value);
}

}  // namespace mcpac::schema
