// Validation: types, constants, numbers, strings, and what applies more schemas to the same value.
#include "core/schema/validate.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace mcpac::schema
