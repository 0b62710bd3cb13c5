// SPDX-License-Identifier: Apache-2.0

#include "codegen/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>

#include "codegen/resolve.h"
#include "codegen/text_escape.h"
#include "core/nearest_name.h"

namespace mcpac::codegen {
namespace {

constexpr int kDeepestUnion = 8;  // unions inside unions; deeper ones are given as JSON text

// Which JSON types a schema lets in, as far as its keywords tell.
struct Accepted {
  std::set<std::string> types{};
  const OrderedJson* items = nullptr;
  [[nodiscard]] bool has(const char* type) const { return types.contains(type); }
};

void add_type_of_value(const OrderedJson& value, Accepted& accepted) {
  if (value.is_string()) accepted.types.insert("string");
  if (value.is_boolean()) accepted.types.insert("boolean");
  if (value.is_number()) accepted.types.insert(value.is_number_integer() ? "integer" : "number");
}

void collect(Resolver& resolver, const OrderedJson& schema, Accepted& accepted, int depth) {
  Resolved target = resolver.follow(schema);
  if (target.schema != nullptr) target = resolver.merged(*target.schema);
  if (target.schema != nullptr) target = resolver.follow(*target.schema);
  if (target.schema == nullptr || depth > kDeepestUnion) return;
  const OrderedJson& at = *target.schema;
  if (const OrderedJson* type = keyword(at, "type"); type != nullptr && type->is_string()) {
    accepted.types.insert(type->get<std::string>());
  } else if (type != nullptr && type->is_array()) {
    for (const auto& name : *type)
      accepted.types.insert(name.is_string() ? name.get<std::string>() : "");
  } else {
    if (const OrderedJson* constant = keyword(at, "const")) add_type_of_value(*constant, accepted);
    if (const OrderedJson* values = keyword(at, "enum")) {
      for (const auto& value : *values) add_type_of_value(value, accepted);
    }
  }
  if (const OrderedJson* items = keyword(at, "items"); items != nullptr && items->is_object())
    accepted.items = items;
  for (const char* name : {"anyOf", "oneOf"}) {
    const OrderedJson* branches = keyword(at, name);
    if (branches == nullptr || !branches->is_array()) continue;
    for (const auto& branch : *branches) collect(resolver, branch, accepted, depth + 1);
  }
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Json> plain_number(std::string_view text, const Accepted& accepted) {
  if (accepted.has("integer") || accepted.has("number")) {
    if (const auto integer = number_of<std::int64_t>(text)) return Json(*integer);
    if (const auto large = number_of<std::uint64_t>(text)) return Json(*large);
  }
  if (accepted.has("number")) {
    if (const auto number = number_of<double>(text); number && std::isfinite(*number))
      return Json(*number);
  }
  return std::nullopt;
}

std::string kinds(const Accepted& accepted) {
  return accepted.types.empty() ? "JSON text"
                                : fmt::format("{}", fmt::join(accepted.types, " or "));
}

class Typed {
 public:
  Typed(const LockedTool& tool, const OrderedJson& schema) : tool_(tool), resolver_(schema) {
    const Resolved top = resolver_.whole();
    if (top.schema == nullptr) return;
    const OrderedJson* more = keyword(*top.schema, "additionalProperties");
    if (more != nullptr && more->is_object()) more_ = more;
    open_ = (more != nullptr && *more != false) || keyword(*top.schema, "patternProperties");
    const OrderedJson* properties = keyword(*top.schema, "properties");
    if (properties == nullptr || !properties->is_object()) return;
    for (const auto& [name, property] : properties->items())
      properties_.emplace_back(name, &property);
  }

  Result<Json> read(const std::vector<TypedArgument>& typed) {
    Json arguments = Json::object();
    std::set<std::string> arrays;  // keys given more than once
    for (const TypedArgument& one : typed) {
      auto found = find(one.key);
      if (!found) return pass_on(found);
      const auto& [name, schema] = *found;
      Accepted accepted;
      if (schema != nullptr) collect(resolver_, *schema, accepted, 0);
      const bool again = arguments.contains(name);
      if (again && !accepted.has("array"))
        return refuse(one.key, "it stands twice, and is no array");
      auto value = value_of(one, accepted, schema != nullptr);
      if (!value) return pass_on(value);
      if (again && arguments[name].is_array() && value->is_array()) {
        for (auto& item : *value) arguments[name].push_back(std::move(item));
      } else {
        arguments[name] = std::move(*value);
      }
    }
    return arguments;
  }

 private:
  using Property = std::pair<std::string, const OrderedJson*>;

  [[nodiscard]] std::unexpected<Error> refuse(std::string_view key, std::string why,
                                              std::string fix = "") const {
    return fail(ErrorId::kUsage, fmt::format("--{}: {}", safe_line(cut(key, 80)), why),
                {.where = "tool " + safe_line(tool_.name), .fix = std::move(fix)});
  }

  // A tool that names no property, or lets in others by word, takes any; otherwise an undeclared
  // word is a misspelling.
  Result<Property> find(const std::string& key) const {
    for (const Property& property : properties_) {
      if (property.first == key) return property;
    }
    if (properties_.empty()) return Property(key, nullptr);
    const auto plain = [](std::string name) {
      std::ranges::replace(name, '-', '_');
      return name;
    };
    const auto same = [&](const Property& property) { return plain(property.first) == plain(key); };
    if (std::ranges::count_if(properties_, same) == 1)
      return *std::ranges::find_if(properties_, same);
    if (open_) return Property(key, more_);
    std::vector<std::string> names;
    for (const Property& property : properties_)
      names.push_back("--" + safe_line(cut(property.first, 80)));
    const std::string meant = did_you_mean("--" + key, names);
    return refuse(key, "the tool has no such argument",
                  meant.empty()
                      ? "use one of: " + cut(fmt::format("{}", fmt::join(names, " ")), 2000)
                      : meant);
  }

  Result<Json> value_of(const TypedArgument& one, const Accepted& accepted, bool declared) const {
    if (!one.value) {
      if (accepted.has("boolean")) return Json(true);
      return refuse(one.key, fmt::format("a value is missing ({})", kinds(accepted)));
    }
    const std::string& text = *one.value;
    if (accepted.has("array") && !text.starts_with('[')) {
      Accepted item;
      Resolver resolver = resolver_;
      if (accepted.items != nullptr) collect(resolver, *accepted.items, item, 0);
      if (!accepted.has("string") || accepted.items == nullptr) {
        auto value = scalar(one.key, text, item, accepted.items != nullptr);
        if (!value) return pass_on(value);
        return Json::array({std::move(*value)});
      }
    }
    return scalar(one.key, text, accepted, declared);
  }

  Result<Json> scalar(const std::string& key, const std::string& text, const Accepted& accepted,
                      bool declared) const {
    const bool structured =
        accepted.has("array") || accepted.has("object") || accepted.types.empty();
    const bool looks_structured = text.starts_with('[') || text.starts_with('{');
    if (accepted.has("string") && !(structured && looks_structured)) return Json(text);
    if (auto number = plain_number(text, accepted)) return std::move(*number);
    if (accepted.has("boolean") && (text == "true" || text == "false")) return Json(text == "true");
    if (accepted.has("null") && text == "null") return Json(nullptr);
    if (structured) {
      auto value = parse_json(text, "--" + key);
      if (value) return value;
      // Where the schema says nothing, a bare word means itself.
      if (accepted.types.empty() && !(declared && looks_structured)) return Json(text);
      if (accepted.has("string")) return Json(text);
      return refuse(key, "the JSON text cannot be read: " + value.error().what);
    }
    return refuse(key, fmt::format("'{}' is not {}", safe_line(cut(text, 80)), kinds(accepted)));
  }

  const LockedTool& tool_;
  Resolver resolver_;
  std::vector<Property> properties_{};
  const OrderedJson* more_ = nullptr;  // the schema of members that are not named
  bool open_ = false;
};

}  // namespace

Result<Json> arguments_from(const LockedTool& tool, const std::vector<TypedArgument>& typed) {
  static const OrderedJson kNothing = OrderedJson::object();
  const OrderedJson* schema = keyword(tool.definition, "inputSchema");
  return Typed(tool, schema == nullptr ? kNothing : *schema).read(typed);
}

}  // namespace mcpac::codegen
