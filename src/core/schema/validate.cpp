// SPDX-License-Identifier: Apache-2.0

// Validation: types, constants, numbers, strings, and what applies more schemas to the same value.
#include "core/schema/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/json_compare.h"
#include "core/quantity.h"
#include "core/schema/uri.h"
#include "core/schema/validator.h"

namespace mcpac::schema {
namespace {

// One schema applied to one value costs 1; about a second in all. Typical arguments cost 20.
constexpr std::size_t kMostWork = 20'000'000;
// Values are at most 128 deep (JsonLimits), each level reached through a few references.
constexpr std::size_t kDeepestValue = 800;

std::uint8_t type_bits_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return kNullBit;
    case Json::value_t::boolean: return kBooleanBit;
    case Json::value_t::object: return kObjectBit;
    case Json::value_t::array: return kArrayBit;
    case Json::value_t::string: return kStringBit;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned: return kNumberBit | kIntegerBit;
    case Json::value_t::number_float:
      return is_integral(value) ? kNumberBit | kIntegerBit : std::uint8_t{kNumberBit};
    case Json::value_t::binary:
    case Json::value_t::discarded: break;
  }
  return 0;
}

std::string names_of_types(std::uint8_t bits) {
  constexpr std::pair<std::uint8_t, std::string_view> kNames[] = {
      {kNullBit, "null"},         {kBooleanBit, "a boolean"}, {kObjectBit, "an object"},
      {kArrayBit, "an array"},    {kNumberBit, "a number"},   {kStringBit, "a string"},
      {kIntegerBit, "an integer"}};
  std::string text;
  for (const auto& [bit, name] : kNames) {
    if ((bits & bit) == 0) continue;
    if (!text.empty()) text += " or ";
    text += name;
  }
  return text;
}

// A few of the allowed values, for the message; the list may be a thousand long.
std::string names_of_choices(const Json& choices) {
  std::string text;
  std::size_t shown = 0;
  for (const Json& choice : choices) {
    if (++shown > 8 || text.size() > 200) return text + ", …";
    if (!text.empty()) text += ", ";
    const std::string one = to_text(choice);
    text += one.size() > 60 ? "…" : one;
  }
  return text;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

std::string pointer_of(const Path& path) {
  if (path.step == Path::Step::kRoot) return "";
  const std::string outer = pointer_of(*path.outer);
  return path.step == Path::Step::kItem ? fmt::format("{}/{}", outer, path.index)
                                        : fmt::format("{}/{}", outer, pointer_token(path.name));
}

std::optional<SchemaViolation> validate(const Program& program, const Json& value) {
  return Validator(program).run(value);
}

std::optional<SchemaViolation> Validator::run(const Node& root, const Json& value) {
  const Path path;
  const Scope scope{nullptr, root.resource};
  const bool valid = check(root, {value, path, scope, nullptr});
  if (exhausted_)
    return SchemaViolation{"", "limit", "is too complex to be checked against this schema"};
  if (valid) return std::nullopt;
  return violation_ ? std::move(violation_) : SchemaViolation{"", "", "does not match the schema"};
}

bool Validator::violated(const At& at, std::string_view keyword,
                         const std::function<std::string()>& message) {
  if (quiet_ == 0 && !violation_ && !exhausted_) {
    violation_ = SchemaViolation{pointer_of(at.path), std::string(keyword), message()};
  }
  return false;
}

bool Validator::spend(std::size_t work) {
  work_ += work;
  if (work_ > kMostWork) exhausted_ = true;
  return !exhausted_;
}

bool Validator::check(const Node& node, const At& at) {
  if (node.kind == Node::Kind::kAlways) return true;
  if (node.kind == Node::Kind::kNever) {
    return violated(at, "false", [] { return "is not allowed here"; });
  }
  if (!spend(1)) return false;
  if (depth_ >= kDeepestValue) {
    exhausted_ = true;
    return false;
  }
  ++depth_;
  const bool valid = check_scoped(node, at);
  --depth_;
  return valid && !exhausted_;
}

bool Validator::check_scoped(const Node& node, const At& at) {
  if (node.resource == at.scope.resource) return check_rules(node, at);
  const Scope inner{&at.scope, node.resource};
  return check_rules(node, {at.value, at.path, inner, at.evaluated});
}

bool Validator::check_rules(const Node& node, const At& at) {
  if (!check_type(node, at) || !check_values(node, at)) return false;
  if (node.unevaluated_items == nullptr && node.unevaluated_properties == nullptr) {
    return check_by_type(node, at) && (!node.in_place || check_in_place(*node.in_place, at));
  }
  Evaluated evaluated;
  const At inner{at.value, at.path, at.scope, &evaluated};
  if (!check_by_type(node, inner)) return false;
  if (node.in_place && !check_in_place(*node.in_place, inner)) return false;
  if (!check_unevaluated(node, inner)) return false;
  if (at.evaluated != nullptr) at.evaluated->add(evaluated);
  return true;
}

bool Validator::check_type(const Node& node, const At& at) {
  if (node.types == 0 || (node.types & type_bits_of(at.value)) != 0) return true;
  return violated(at, "type", [&] { return "must be " + names_of_types(node.types); });
}

bool Validator::check_values(const Node& node, const At& at) {
  if (node.constant != nullptr && !json_equal(at.value, *node.constant)) {
    return violated(at, "const", [&] {
      const std::string text = to_text(*node.constant);
      return text.size() > 200 ? std::string("must be one certain value") : "must be " + text;
    });
  }
  if (node.choices == nullptr) return true;
  if (!spend(node.choices->size() / 8)) return false;
  const bool found = std::ranges::any_of(
      *node.choices, [&](const Json& choice) { return json_equal(at.value, choice); });
  return found ||
         violated(at, "enum", [&] { return "must be one of " + names_of_choices(*node.choices); });
}

bool Validator::check_by_type(const Node& node, const At& at) {
  if (at.value.is_object()) return !node.object || check_object(*node.object, at);
  if (at.value.is_string()) return !node.string || check_string(*node.string, at);
  if (at.value.is_array()) return !node.array || check_array(*node.array, at);
  if (at.value.is_number()) return !node.number || check_number(*node.number, at);
  return true;
}

bool Validator::check_number(const NumberRules& rules, const At& at) {
  const auto out_of = [&](std::string_view keyword, std::string_view words, const Json& limit) {
    return violated(at, keyword,
                    [&] { return fmt::format("must be {} {}", words, to_text(limit)); });
  };
  const Json& value = at.value;
  if (rules.minimum != nullptr && compare_numbers(value, *rules.minimum) < 0) {
    return out_of("minimum", "at least", *rules.minimum);
  }
  if (rules.maximum != nullptr && compare_numbers(value, *rules.maximum) > 0) {
    return out_of("maximum", "at most", *rules.maximum);
  }
  if (rules.exclusive_minimum != nullptr && compare_numbers(value, *rules.exclusive_minimum) <= 0) {
    return out_of("exclusiveMinimum", "more than", *rules.exclusive_minimum);
  }
  if (rules.exclusive_maximum != nullptr && compare_numbers(value, *rules.exclusive_maximum) >= 0) {
    return out_of("exclusiveMaximum", "less than", *rules.exclusive_maximum);
  }
  if (rules.multiple_of != nullptr && !is_multiple_of(value, *rules.multiple_of)) {
    return out_of("multipleOf", "a multiple of", *rules.multiple_of);
  }
  return true;
}

bool Validator::check_string(const StringRules& rules, const At& at) {
  const auto& text = at.value.get_ref<const std::string&>();
  if (!spend(text.size() / 64)) return false;
  if (rules.min_length || rules.max_length) {
    const std::size_t length = code_points(text);
    if (rules.min_length && length < *rules.min_length) {
      return violated(at, "minLength", [&] {
        return fmt::format("must have at least {}, has {}",
                           mcpac::counted(*rules.min_length, "character"), length);
      });
    }
    if (rules.max_length && length > *rules.max_length) {
      return violated(at, "maxLength", [&] {
        return fmt::format("must have at most {}, has {}",
                           mcpac::counted(*rules.max_length, "character"), length);
      });
    }
  }
  if (!rules.pattern || rules.pattern->matches(text)) return true;
  return violated(at, "pattern",
                  [&] { return fmt::format("must match the pattern {}", rules.pattern->text()); });
}

bool Validator::holds_quietly(const Node& node, const At& at) {
  Evaluated evaluated;
  ++quiet_;
  const bool valid =
      check(node, {at.value, at.path, at.scope, at.evaluated != nullptr ? &evaluated : nullptr});
  --quiet_;
  if (valid && at.evaluated != nullptr) at.evaluated->add(evaluated);
  return valid;
}

bool Validator::check_in_place(const InPlace& rules, const At& at) {
  if (rules.reference != nullptr && !check(*rules.reference, at)) return false;
  if (rules.dynamic != nullptr && !check_dynamic(rules, at)) return false;
  for (const Node* node : rules.all_of) {
    if (!check(*node, at)) return false;
  }
  if (!rules.any_of.empty() && !check_any_of(rules, at)) return false;
  if (!rules.one_of.empty() && !check_one_of(rules, at)) return false;
  if (rules.negated != nullptr) {
    const At unseen{at.value, at.path, at.scope, nullptr};
    if (holds_quietly(*rules.negated, unseen)) {
      return violated(at, "not", [] { return "matches what it must not match"; });
    }
  }
  return rules.condition == nullptr || check_condition(rules, at);
}

bool Validator::check_any_of(const InPlace& rules, const At& at) {
  // With one form there is nothing to choose: its own violation says more.
  if (rules.any_of.size() == 1) return check(*rules.any_of.front(), at);
  bool found = false;
  for (const Node* node : rules.any_of) {
    found = holds_quietly(*node, at) || found;
    // Every form that holds tells what it evaluated, so then all are asked.
    if (found && at.evaluated == nullptr) return true;
  }
  return found || violated(at, "anyOf", [&] {
           return fmt::format("must match at least one of {} forms, matches none",
                              rules.any_of.size());
         });
}

bool Validator::check_one_of(const InPlace& rules, const At& at) {
  if (rules.one_of.size() == 1) return check(*rules.one_of.front(), at);
  std::size_t matching = 0;
  for (const Node* node : rules.one_of) {
    if (holds_quietly(*node, at)) ++matching;
    if (matching > 1) break;
  }
  return matching == 1 || violated(at, "oneOf", [&] {
           return fmt::format("must match exactly one of {} forms, matches {}", rules.one_of.size(),
                              matching == 0 ? "none" : "several");
         });
}

bool Validator::check_condition(const InPlace& rules, const At& at) {
  const Node* next = holds_quietly(*rules.condition, at) ? rules.then : rules.otherwise;
  return next == nullptr || check(*next, at);
}

// The outermost resource on the way here that has the anchor decides (2020-12 core, 8.2.3.2).
bool Validator::check_dynamic(const InPlace& rules, const At& at) {
  const Node* target = rules.dynamic;
  if (!rules.dynamic_anchor.empty()) {
    for (const Scope* scope = &at.scope; scope != nullptr; scope = scope->outer) {
      const auto& named = program_.dynamic_anchors[scope->resource];
      const auto found = std::ranges::find(named, rules.dynamic_anchor, &NamedNode::first);
      if (found != named.end()) target = found->second;
    }
  }
  return check(*target, at);
}

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
