// SPDX-License-Identifier: Apache-2.0

#include "core/schema/places.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace mcpac::schema {
namespace {

const Node* property_of(const ObjectRules& rules, std::string_view name) {
  const auto found = std::ranges::lower_bound(rules.properties, name, {}, &NamedNode::first);
  return found != rules.properties.end() && found->first == name ? found->second : nullptr;
}

bool has_patterns(const Place& place) {
  return std::ranges::any_of(place.nodes, [](const Node* node) {
    return node->object && !node->object->patterns.empty();
  });
}

bool is_named_property(const Place& place, std::string_view name) {
  return std::ranges::any_of(place.nodes, [&](const Node* node) {
    return node->object && property_of(*node->object, name) != nullptr;
  });
}

// What speaks of one member: by its name, by a pattern, or of all others.
void add_member(const Node& node, const std::string& name, NodeSet& into) {
  if (node.unevaluated_properties != nullptr) into.push_back(node.unevaluated_properties);
  if (!node.object) return;
  const ObjectRules& rules = *node.object;
  bool known = false;
  if (const Node* property = property_of(rules, name); property != nullptr) {
    into.push_back(property);
    known = true;
  }
  for (const auto& [pattern, below] : rules.patterns) {
    if (!pattern.matches(name)) continue;
    into.push_back(below);
    known = true;
  }
  if (!known && rules.additional != nullptr) into.push_back(rules.additional);
}

bool lists(const Json* values, const std::string& name) {
  return values != nullptr && std::ranges::any_of(*values, [&](const Json& value) {
           return value.is_string() && value.get_ref<const std::string&>() == name;
         });
}

// "propertyNames": {"enum": [...]} names members as well.
bool is_listed_name(const Node& names, const std::string& name) {
  if (names.constant != nullptr && names.constant->is_string() &&
      names.constant->get_ref<const std::string&>() == name)
    return true;
  return lists(names.choices, name);
}

bool names_member(const ObjectRules& rules, const std::string& name) {
  if (property_of(rules, name) != nullptr || std::ranges::count(rules.required, name) > 0)
    return true;
  const auto depends = [&](const auto& entry) { return entry.first == name; };
  if (std::ranges::any_of(rules.dependent, depends) ||
      std::ranges::any_of(rules.dependent_required, [&](const auto& entry) {
        return entry.first == name || std::ranges::count(entry.second, name) > 0;
      }))
    return true;
  return rules.names != nullptr && is_listed_name(*rules.names, name);
}

}  // namespace

bool Place::names(const std::string& name) const {
  return std::ranges::any_of(
      nodes, [&](const Node* node) { return node->object && names_member(*node->object, name); });
}

Places::Places(const Program& program, Keep keep) : program_(program), keep_(std::move(keep)) {}

Place& Places::root() {
  return place_of({program_.root});
}

Place& Places::member(Place& of, const std::string& name) {
  if (const auto known = of.members.find(name); known != of.members.end()) return *known->second;
  const bool is_named = is_named_property(of, name);
  if (!is_named && of.others != nullptr) return *of.others;
  NodeSet start;
  for (const Node* node : of.nodes) add_member(*node, name, start);
  work_ += of.nodes.size();
  Place& found = place_of(std::move(start));
  // Kept where it is one of a bounded number: names that a value makes up are not.
  if (is_named) {
    of.members.emplace(name, &found);
  } else if (!has_patterns(of)) {
    of.others = &found;
  }
  return found;
}

Place& Places::element(Place& of, std::size_t index) {
  std::size_t prefix = 0;
  for (const Node* node : of.nodes)
    prefix = std::max(prefix, node->array ? node->array->prefix.size() : 0);
  const std::size_t slot = std::min(index, prefix);
  if (of.elements.empty()) of.elements.resize(prefix + 1);
  if (of.elements[slot] != nullptr) return *of.elements[slot];
  NodeSet start;
  for (const Node* node : of.nodes) {
    if (node->unevaluated_items != nullptr) start.push_back(node->unevaluated_items);
    if (!node->array) continue;
    const ArrayRules& rules = *node->array;
    const Node* own = slot < rules.prefix.size() ? rules.prefix[slot] : rules.rest;
    if (own != nullptr) start.push_back(own);
    if (rules.contains != nullptr) start.push_back(rules.contains);
  }
  work_ += of.nodes.size();
  of.elements[slot] = &place_of(std::move(start));
  return *of.elements[slot];
}

std::vector<std::string> Places::named_members(const Place& of) {
  std::vector<std::string> names;
  for (const Node* node : of.nodes) {
    if (!node->object) continue;
    for (const auto& [name, below] : node->object->properties) names.push_back(name);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Place& Places::any_other_member(Place& of) {
  NodeSet start;
  for (const Node* node : of.nodes) {
    if (node->unevaluated_properties != nullptr) start.push_back(node->unevaluated_properties);
    if (!node->object) continue;
    for (const auto& [pattern, below] : node->object->patterns) start.push_back(below);
    if (node->object->additional != nullptr) start.push_back(node->object->additional);
  }
  work_ += of.nodes.size();
  return place_of(std::move(start));
}

Place& Places::any_element(Place& of) {
  NodeSet start;
  for (const Node* node : of.nodes) {
    if (node->unevaluated_items != nullptr) start.push_back(node->unevaluated_items);
    if (!node->array) continue;
    const ArrayRules& rules = *node->array;
    start.insert(start.end(), rules.prefix.begin(), rules.prefix.end());
    if (rules.rest != nullptr) start.push_back(rules.rest);
    if (rules.contains != nullptr) start.push_back(rules.contains);
  }
  work_ += of.nodes.size();
  return place_of(std::move(start));
}

Place& Places::place_of(NodeSet start) {
  close(start);
  const auto found = known_.find(start);
  if (found != known_.end()) return *found->second;
  auto place = std::make_unique<Place>();
  place->nodes = start;
  return *known_.emplace(std::move(start), std::move(place)).first->second;
}

// With all that applies to the same value.
void Places::close(NodeSet& nodes) {
  std::unordered_set<const Node*> seen;
  NodeSet open = std::move(nodes);
  nodes.clear();
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    if (!keep_ || keep_(node)) nodes.push_back(node);
    add_next(*node, open);
  }
  work_ += seen.size();
  std::ranges::sort(nodes);
}

void Places::add_next(const Node& node, NodeSet& open) const {
  if (node.object) {
    for (const auto& [name, below] : node.object->dependent) open.push_back(below);
  }
  if (!node.in_place) return;
  const InPlace& rules = *node.in_place;
  for (const auto* list : {&rules.all_of, &rules.any_of, &rules.one_of})
    open.insert(open.end(), list->begin(), list->end());
  for (const Node* one :
       {rules.reference, rules.dynamic, rules.condition, rules.then, rules.otherwise}) {
    if (one != nullptr) open.push_back(one);
  }
  if (rules.dynamic_anchor.empty()) return;
  for (const auto& named : program_.dynamic_anchors) {
    for (const auto& [anchor, target] : named) {
      if (anchor == rules.dynamic_anchor) open.push_back(target);
    }
  }
}

}  // namespace mcpac::schema
