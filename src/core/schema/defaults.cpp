// SPDX-License-Identifier: Apache-2.0

// Filling absent members from "default".
//
// Only where it is certain which schema applies: properties, items, references and allOf. What
// anyOf, oneOf or a condition would add depends on a choice that filling could change: it is found
// as a SchemaDefaults, and not filled in.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "core/schema/validate.h"
#include "core/schema/validator.h"

namespace mcpac::schema {
namespace {

// Values put in and schemas applied: some 100 MB and a tenth of a second.
constexpr std::size_t kMostFilled = 1'000'000;
// As deep as validation goes: a value that is refused here for its depth is refused there as well.
constexpr std::size_t kDeepestFilled = 800;

std::size_t size_of(const Json& value) {
  if (!value.is_structured()) return 1;
  std::size_t size = 1;
  for (const Json& below : value) size += size_of(below);
  return size;
}

class Filler {
 public:
  // What is filled in for this node where nothing is said; null where nothing is.
  static const Json* default_of(const Node& node) {
    const Node* at = &node;
    for (std::size_t step = 0; step < kDeepestFilled; ++step) {
      if (at->refuses_default) return nullptr;
      if (at->default_value != nullptr) return at->default_value;
      if (!at->in_place || at->in_place->reference == nullptr) return nullptr;
      at = at->in_place->reference;
    }
    return nullptr;
  }

  bool run(const Node& root, Json& value) {
    fill(root, value);
    return !exhausted_;
  }
  // What is put in for this node.
  bool run_default(const Node& node, Json& value) {
    put(node, value);
    return !exhausted_;
  }
  [[nodiscard]] std::size_t work() const { return work_; }

 private:
  void fill(const Node& node, Json& value) {
    if (!value.is_structured() || !spend(1)) return;
    if (depth_ >= kDeepestFilled) {
      exhausted_ = true;
      return;
    }
    ++depth_;
    if (node.object && value.is_object()) fill_members(*node.object, value);
    if (node.array && value.is_array()) fill_items(*node.array, value);
    if (node.in_place) {
      if (node.in_place->reference != nullptr) fill(*node.in_place->reference, value);
      for (const Node* part : node.in_place->all_of) fill(*part, value);
    }
    --depth_;
  }

  void fill_members(const ObjectRules& rules, Json& value) {
    auto& members = value.get_ref<Json::object_t&>();
    for (const auto& [name, node] : rules.properties) {
      const auto place = members.find(name);
      if (place != members.end()) {
        fill(*node, place->second);
      } else if (const Json* standard = default_of(*node); standard && !is_being_filled(*node)) {
        if (!spend(size_of(*standard))) return;
        put(*node, members.emplace(name, *standard).first->second);
      }
    }
  }

  // A default that leads back into itself ends there: it would go on without end.
  [[nodiscard]] bool is_being_filled(const Node& node) const {
    return std::ranges::count(filling_, &node) > 0;
  }

  // What is put in is filled itself, as the server does.
  void put(const Node& node, Json& value) {
    if (!value.is_structured()) return;
    filling_.push_back(&node);
    fill(node, value);
    filling_.pop_back();
  }

  void fill_items(const ArrayRules& rules, Json& value) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Node* node = i < rules.prefix.size() ? rules.prefix[i] : rules.rest;
      if (node != nullptr) fill(*node, value[i]);
    }
  }

  bool spend(std::size_t work) {
    work_ += work;
    if (work_ > kMostFilled) exhausted_ = true;
    return !exhausted_;
  }

  std::vector<const Node*> filling_;  // members whose default is being filled
  std::size_t work_ = 0;
  std::size_t depth_ = 0;
  bool exhausted_ = false;
};

// Every schema right below one, whichever keyword holds it.
std::vector<const Node*> below(const Program& program, const Node& node) {
  std::vector<const Node*> all{node.unevaluated_items, node.unevaluated_properties};
  const auto add = [&all](const auto& named) {
    for (const auto& entry : named) all.push_back(entry.second);
  };
  if (node.object) {
    add(node.object->properties);
    add(node.object->patterns);
    add(node.object->dependent);
    all.push_back(node.object->additional);
  }
  if (node.array) {
    all.insert(all.end(), node.array->prefix.begin(), node.array->prefix.end());
    all.insert(all.end(), {node.array->rest, node.array->contains});
  }
  if (!node.in_place) return all;
  const InPlace& rules = *node.in_place;
  all.insert(all.end(),
             {rules.reference, rules.dynamic, rules.condition, rules.then, rules.otherwise});
  for (const auto* list : {&rules.all_of, &rules.any_of, &rules.one_of})
    all.insert(all.end(), list->begin(), list->end());
  if (!rules.dynamic_anchor.empty()) {
    for (const auto& named : program.dynamic_anchors) add(named);
  }
  return all;
}

}  // namespace

bool fill_defaults(const Program& program, Json& value) {
  return Filler().run(*program.root, value);
}

// Those below come before those above, mostly: nodes are made from the root down.
void mark_refused_defaults(Program& program, const std::vector<WithDefault>& with_default) {
  // Of all together, which a server may have written to take long: the rest is filled in as it is.
  constexpr std::size_t kMostLooked = 200'000;
  std::size_t work = 0;
  for (std::size_t i = with_default.size(); i-- > 0 && work < kMostLooked;) {
    const auto& [node, schema, location] = with_default[i];
    ++work;
    const Json* standard = Filler::default_of(*node);
    if (standard == nullptr) continue;
    Json value = *standard;
    Filler filler;
    const bool is_filled = filler.run_default(*node, value);
    work += filler.work();
    if (!is_filled) continue;
    Validator validator(program);
    const auto violation = validator.run(*node, value);
    work += validator.work();
    // What cannot be checked in the time of it is checked in the value that it is filled into.
    if (!violation || violation->keyword == "limit") continue;
    node->refuses_default = true;
    program.refusing_defaults.insert(schema);
    program.refused_defaults.push_back(
        {location, violation->pointer.empty() ? violation->message
                                              : violation->pointer + " " + violation->message});
  }
}

std::unordered_set<const Node*> nodes_with_defaults(const Program& program) {
  std::unordered_set<const Node*> found;
  std::vector<const Node*> open;
  for (const Node& node : program.nodes) {
    const bool has_one = node.default_value != nullptr || node.default_beside_reference != nullptr;
    if (has_one && found.insert(&node).second) open.push_back(&node);
  }
  if (open.empty()) return found;
  std::unordered_map<const Node*, std::vector<const Node*>> above;
  for (const Node& node : program.nodes) {
    for (const Node* one : below(program, node)) {
      if (one != nullptr) above[one].push_back(&node);
    }
  }
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Node* one : above[node]) {
      if (found.insert(one).second) open.push_back(one);
    }
  }
  return found;
}

}  // namespace mcpac::schema
