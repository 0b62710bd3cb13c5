// Validation: arrays and objects.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/json_compare.h"
#include "core/quantity.h"
#include "core/schema/validator.h"

namespace mcpac::schema {
namespace {

std::string in_quotes(std::string_view name) {
  return name.size() > 100 ? fmt::format("\"{}…\"", name.substr(0, 100))
                           : fmt::format("\"{}\"", name);
}

}  // namespace

bool Validator::check_child(const Node& node, const At& at, const Json& child, const Path& path) {
  if (at.evaluated != nullptr) at.evaluated->add(child);
  return check(node, {child, path, at.scope, nullptr});
}

bool Validator::check_array(const ArrayRules& rules, const At& at) {
  const std::size_t size = at.value.size();
  if (rules.min_items && size < *rules.min_items) {
    return violated(at, "minItems", [&] {
      return fmt::format("must have at least {}, has {}", mcpac::counted(*rules.min_items, "item"),
                         size);
    });
  }
  if (rules.max_items && size > *rules.max_items) {
    return violated(at, "maxItems", [&] {
      return fmt::format("must have at most {}, has {}", mcpac::counted(*rules.max_items, "item"),
                         size);
    });
  }
  if (!check_items(rules, at)) return false;
  if (rules.contains != nullptr && !check_contains(rules, at)) return false;
  return !rules.unique || check_unique(at);
}

bool Validator::check_items(const ArrayRules& rules, const At& at) {
  const std::size_t checked =
      rules.rest != nullptr ? at.value.size() : std::min(at.value.size(), rules.prefix.size());
  for (std::size_t i = 0; i < checked; ++i) {
    const Node& node = i < rules.prefix.size() ? *rules.prefix[i] : *rules.rest;
    const Path path{&at.path, {}, i, Path::Step::kItem};
    if (!check_child(node, at, at.value[i], path)) return false;
  }
  return true;
}

bool Validator::check_contains(const ArrayRules& rules, const At& at) {
  std::uint64_t matching = 0;
  ++quiet_;
  for (const Json& item : at.value) {
    if (!check(*rules.contains, {item, at.path, at.scope, nullptr})) continue;
    ++matching;
    if (at.evaluated != nullptr) at.evaluated->add(item);
  }
  --quiet_;
  const std::uint64_t least = rules.min_contains.value_or(1);
  if (matching < least) {
    return violated(at, rules.min_contains ? "minContains" : "contains", [&] {
      return fmt::format("must have at least {} of a certain form, has {}",
                         mcpac::counted(least, "item"), matching);
    });
  }
  if (rules.max_contains && matching > *rules.max_contains) {
    return violated(at, "maxContains", [&] {
      return fmt::format("must have at most {} of a certain form, has {}",
                         mcpac::counted(*rules.max_contains, "item"), matching);
    });
  }
  return true;
}

bool Validator::check_unique(const At& at) {
  const std::size_t size = at.value.size();
  if (!spend(size * static_cast<std::size_t>(std::bit_width(size)))) return false;
  std::vector<const Json*> items;
  items.reserve(size);
  for (const Json& item : at.value) items.push_back(&item);
  std::ranges::sort(items, [](const Json* a, const Json* b) { return compare_json(*a, *b) < 0; });
  const auto same = std::ranges::adjacent_find(
      items, [](const Json* a, const Json* b) { return compare_json(*a, *b) == 0; });
  return same == items.end() ||
         violated(at, "uniqueItems", [] { return "must not have an item twice"; });
}

bool Validator::check_object(const ObjectRules& rules, const At& at) {
  for (const std::string& name : rules.required) {
    if (!at.value.contains(name)) {
      return violated(at, "required",
                      [&] { return fmt::format("must have the member {}", in_quotes(name)); });
    }
  }
  const std::size_t size = at.value.size();
  if (rules.min_properties && size < *rules.min_properties) {
    return violated(at, "minProperties", [&] {
      return fmt::format("must have at least {}, has {}",
                         mcpac::counted(*rules.min_properties, "member"), size);
    });
  }
  if (rules.max_properties && size > *rules.max_properties) {
    return violated(at, "maxProperties", [&] {
      return fmt::format("must have at most {}, has {}",
                         mcpac::counted(*rules.max_properties, "member"), size);
    });
  }
  return check_members(rules, at) && check_dependent(rules, at);
}

bool Validator::check_members(const ObjectRules& rules, const At& at) {
  const auto& members = at.value.get_ref<const Json::object_t&>();
  return std::ranges::all_of(members, [&](const auto& member) {
    return check_member(rules, at, member.first, member.second);
  });
}

bool Validator::check_member(const ObjectRules& rules, const At& at, const std::string& name,
                             const Json& value) {
  const Path path{&at.path, name, 0, Path::Step::kMember};
  if (rules.names != nullptr) {
    const Json as_value(name);
    if (!check(*rules.names, {as_value, path, at.scope, nullptr})) return false;
  }
  bool known = false;
  const auto found = std::ranges::lower_bound(rules.properties, name, {}, &NamedNode::first);
  if (found != rules.properties.end() && found->first == name) {
    known = true;
    if (!check_child(*found->second, at, value, path)) return false;
  }
  if (!rules.patterns.empty() && !spend(rules.patterns.size() * (1 + name.size() / 64)))
    return false;
  for (const auto& [pattern, node] : rules.patterns) {
    if (!pattern.matches(name)) continue;
    known = true;
    if (!check_child(*node, at, value, path)) return false;
  }
  if (known || rules.additional == nullptr) return true;
  if (rules.additional->kind == Node::Kind::kNever) {
    return violated(at, "additionalProperties",
                    [&] { return fmt::format("must not have the member {}", in_quotes(name)); });
  }
  return check_child(*rules.additional, at, value, path);
}

bool Validator::check_dependent(const ObjectRules& rules, const At& at) {
  for (const auto& [name, needed] : rules.dependent_required) {
    if (!at.value.contains(name)) continue;
    for (const std::string& other : needed) {
      if (at.value.contains(other)) continue;
      return violated(at, "dependentRequired", [&, &if_present = name] {
        return fmt::format("must have the member {} beside {}", in_quotes(other),
                           in_quotes(if_present));
      });
    }
  }
  return std::ranges::all_of(rules.dependent, [&](const NamedNode& dependent) {
    return !at.value.contains(dependent.first) || check(*dependent.second, at);
  });
}

bool Validator::check_unevaluated(const Node& node, const At& at) {
  if (at.value.is_array() && node.unevaluated_items != nullptr) {
    for (std::size_t i = 0; i < at.value.size(); ++i) {
      if (at.evaluated->has(at.value[i])) continue;
      const Path path{&at.path, {}, i, Path::Step::kItem};
      if (!check_child(*node.unevaluated_items, at, at.value[i], path)) return false;
    }
  }
  if (at.value.is_object() && node.unevaluated_properties != nullptr) {
    for (const auto& [name, value] : at.value.get_ref<const Json::object_t&>()) {
      if (at.evaluated->has(value)) continue;
      const Path path{&at.path, name, 0, Path::Step::kMember};
      if (!check_child(*node.unevaluated_properties, at, value, path)) return false;
    }
  }
  return true;
}

}  // namespace mcpac::schema
