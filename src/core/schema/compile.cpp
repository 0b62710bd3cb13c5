// SPDX-License-Identifier: Apache-2.0

// From schema to nodes. Every schema becomes one node, found by its address, so that references and
// recursion meet; the open ones wait in a list, so that no chain of references exhausts the stack.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/json_compare.h"
#include "core/schema/node.h"
#include "core/schema/uri.h"
#include "core/schema/validate.h"

namespace mcpac::schema {
namespace {

// KeywordReader: the keywords of one schema, each read as the type it must have.
//
// The first keyword that is not what its specification says is remembered as the error of the whole
// compilation: a misspelt limit must not become no limit.
class KeywordReader {
 public:
  // `location` is a JSON pointer into the schema; `error` is shared by all readers of a
  // compilation.
  KeywordReader(const Json& schema, std::string location, std::optional<Error>& error)
      : schema_(schema), location_(std::move(location)), error_(error) {}

  [[nodiscard]] const Json* any(std::string_view keyword) const {
    return find_member(schema_, keyword);
  }
  [[nodiscard]] const Json* number(std::string_view keyword);
  [[nodiscard]] const Json* text(std::string_view keyword);
  [[nodiscard]] const Json* array(std::string_view keyword);
  [[nodiscard]] const Json* object(std::string_view keyword);
  [[nodiscard]] bool flag(std::string_view keyword);
  [[nodiscard]] std::optional<std::uint64_t> count(std::string_view keyword);
  [[nodiscard]] std::vector<std::string> names(std::string_view keyword);
  // The same for the value of a member below a keyword.
  [[nodiscard]] std::vector<std::string> names_in(const Json& value, std::string_view keyword);
  [[nodiscard]] std::uint8_t types();

  void refuse(std::string_view keyword, std::string_view what);
  void pass_on(Error error, std::string_view keyword);
  [[nodiscard]] const std::string& location() const { return location_; }

 private:
  [[nodiscard]] const Json* of_type(std::string_view keyword, bool (*is)(const Json&),
                                    std::string_view type);

  const Json& schema_;
  std::string location_;
  std::optional<Error>& error_;
};

std::uint8_t type_bit(std::string_view name) {
  if (name == "null") return kNullBit;
  if (name == "boolean") return kBooleanBit;
  if (name == "object") return kObjectBit;
  if (name == "array") return kArrayBit;
  if (name == "number") return kNumberBit;
  if (name == "string") return kStringBit;
  if (name == "integer") return kIntegerBit;
  return 0;
}

void KeywordReader::refuse(std::string_view keyword, std::string_view what) {
  if (error_) return;
  error_ = Error{ErrorId::kSchemaInvalid, fmt::format("\"{}\" {}", keyword, what),
                 fmt::format("{}/{}", location_, keyword), "", ""};
}

void KeywordReader::pass_on(Error error, std::string_view keyword) {
  if (error_) return;
  error_ = std::move(error);
  error_->where = fmt::format("{}/{}", location_, keyword);
}

const Json* KeywordReader::of_type(std::string_view keyword, bool (*is)(const Json&),
                                   std::string_view type) {
  const Json* value = any(keyword);
  if (value == nullptr || is(*value)) return value;
  refuse(keyword, fmt::format("must be {}", type));
  return nullptr;
}

const Json* KeywordReader::number(std::string_view keyword) {
  return of_type(
      keyword, [](const Json& value) { return value.is_number(); }, "a number");
}
const Json* KeywordReader::text(std::string_view keyword) {
  return of_type(
      keyword, [](const Json& value) { return value.is_string(); }, "a string");
}
const Json* KeywordReader::array(std::string_view keyword) {
  return of_type(
      keyword, [](const Json& value) { return value.is_array(); }, "an array");
}
const Json* KeywordReader::object(std::string_view keyword) {
  return of_type(
      keyword, [](const Json& value) { return value.is_object(); }, "an object");
}

bool KeywordReader::flag(std::string_view keyword) {
  const Json* value = of_type(
      keyword, [](const Json& json) { return json.is_boolean(); }, "true or false");
  return value != nullptr && value->get<bool>();
}

std::optional<std::uint64_t> KeywordReader::count(std::string_view keyword) {
  const Json* value = number(keyword);
  if (value == nullptr) return std::nullopt;
  if (!is_integral(*value) || compare_numbers(*value, Json(0U)) < 0) {
    refuse(keyword, "must be a whole number, zero or more");
    return std::nullopt;
  }
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  if (compare_numbers(*value, Json(kMost)) >= 0) return kMost;
  return value->get<std::uint64_t>();
}

std::vector<std::string> KeywordReader::names_in(const Json& value, std::string_view keyword) {
  std::vector<std::string> names;
  for (const Json& name : value) {
    if (!name.is_string()) {
      refuse(keyword, "must be a list of names");
      return {};
    }
    names.push_back(name.get<std::string>());
  }
  return names;
}

std::vector<std::string> KeywordReader::names(std::string_view keyword) {
  const Json* value = array(keyword);
  return value == nullptr ? std::vector<std::string>() : names_in(*value, keyword);
}

std::uint8_t KeywordReader::types() {
  const Json* value = any("type");
  if (value == nullptr) return 0;
  std::uint8_t bits = 0;
  const auto add = [&](const Json& name) {
    const std::uint8_t bit =
        name.is_string() ? type_bit(name.get_ref<const std::string&>()) : std::uint8_t{0};
    if (bit == 0) refuse("type", "must name types of JSON values");
    bits = static_cast<std::uint8_t>(bits | bit);
  };
  if (value->is_array()) {
    for (const Json& name : *value) add(name);
    if (value->empty()) refuse("type", "must name at least one type");
  } else {
    add(*value);
  }
  return bits;
}

}  // namespace

namespace {

// Stands for the place of a schema that does not name itself. Any absolute URI would do.
constexpr std::string_view kOwnUri = "mcpac:///schema";

// All patterns of one schema together, in RE2 instructions (16 bytes each, and as much again for
// the reverse program): about 16 MiB. The largest pattern seen in real tools has some 300.
constexpr int kPatternBudget = 500'000;

class Compiler {
 public:
  Compiler(Program& program, UncheckablePatterns uncheckable)
      : program_(program), uncheckable_(uncheckable) {}

  Result<void> run(const Json& schema) {
    auto root = program_.index.add_document(schema, kOwnUri);
    if (!root) return pass_on(root);
    program_.document = *root;
    program_.root = node_for(**root, "");
    work();
    if (uses_dynamic_) compile_dynamic_anchors();
    if (error_) return std::unexpected<Error>(std::move(*error_));
    // Own defaults first: where one is refused, a schema that refers to it has none.
    with_default_.insert(with_default_.begin(), referring_.begin(), referring_.end());
    mark_refused_defaults(program_, with_default_);
    return {};
  }

 private:
  struct Open {
    Node* node;
    const Json* schema;
    std::string location;
  };

  const Node* node_for(const Json& schema, std::string location) {
    const auto [place, fresh] = known_.try_emplace(&schema, nullptr);
    if (!fresh) return place->second;
    Node& node = program_.nodes.emplace_back();
    place->second = &node;
    open_.push_back({&node, &schema, std::move(location)});
    return &node;
  }

  void work() {
    while (!open_.empty() && !error_) {
      const Open next = std::move(open_.back());
      open_.pop_back();
      fill(*next.node, *next.schema, next.location);
    }
  }

  void compile_dynamic_anchors() {
    // Compiling may load a metaschema, which brings anchors of its own.
    for (std::size_t done = 0; done < program_.index.resources().size() && !error_; ++done) {
      std::vector<NamedNode> named;
      for (const auto& [name, schema] : program_.index.resources()[done].dynamic_anchors) {
        named.emplace_back(name, node_for(*schema, "#" + name));
      }
      program_.dynamic_anchors.push_back(std::move(named));
      work();
    }
  }

  void fill(Node& node, const Json& schema, const std::string& location) {
    node.resource = program_.index.resource_of(schema);
    if (schema.is_boolean()) {
      node.kind = schema.get<bool>() ? Node::Kind::kAlways : Node::Kind::kNever;
      return;
    }
    KeywordReader read(schema, location, error_);
    const bool draft7 = program_.index.dialect_of(schema) == Dialect::kDraft7;
    if (draft7 && schema.contains("$ref")) {
      node.in_place = std::make_unique<InPlace>();
      node.in_place->reference = reference(read, schema, "$ref");
      node.default_beside_reference = read.any("default");
      return;
    }
    node.types = read.types();
    node.constant = read.any("const");
    node.choices = read.array("enum");
    node.default_value = read.any("default");
    if (node.default_value != nullptr) with_default_.push_back({&node, &schema, location});
    fill_number(node, read);
    fill_string(node, read);
    fill_array(node, read, draft7);
    fill_object(node, read, draft7);
    fill_in_place(node, read, schema, draft7);
    if (!draft7) {
      node.unevaluated_items = child(read, "unevaluatedItems");
      node.unevaluated_properties = child(read, "unevaluatedProperties");
    }
    const bool refers = node.in_place && node.in_place->reference != nullptr;
    if (refers && node.default_value == nullptr && schema.size() > 1)
      referring_.push_back({&node, &schema, location});
  }

  static void fill_number(Node& node, KeywordReader& read) {
    NumberRules rules{read.number("minimum"), read.number("maximum"), nullptr, nullptr,
                      read.number("multipleOf")};
    read_exclusive(read, "exclusiveMinimum", rules.minimum, rules.exclusive_minimum);
    read_exclusive(read, "exclusiveMaximum", rules.maximum, rules.exclusive_maximum);
    if (rules.multiple_of != nullptr && compare_numbers(*rules.multiple_of, Json(0U)) <= 0) {
      read.refuse("multipleOf", "must be above zero");
    }
    if (rules.minimum || rules.maximum || rules.exclusive_minimum || rules.exclusive_maximum ||
        rules.multiple_of) {
      node.number = std::make_unique<NumberRules>(rules);
    }
  }

  // Draft 4 wrote {"minimum": 0, "exclusiveMinimum": true}, and generators of today still do. It is
  // wrong in both our dialects, but it cannot mean anything else.
  static void read_exclusive(KeywordReader& read, std::string_view keyword, const Json*& limit,
                             const Json*& exclusive) {
    const Json* value = read.any(keyword);
    if (value == nullptr || !value->is_boolean()) {
      exclusive = read.number(keyword);
    } else if (value->get<bool>()) {
      if (limit == nullptr) read.refuse(keyword, "must be a number");
      exclusive = std::exchange(limit, nullptr);
    }
  }

  void fill_string(Node& node, KeywordReader& read) {
    StringRules rules{read.count("minLength"), read.count("maxLength"), std::nullopt};
    if (const Json* text = read.text("pattern"); text != nullptr)
      rules.pattern = pattern(read, *text, "pattern", uncheckable_);
    if (rules.min_length || rules.max_length || rules.pattern) {
      node.string = std::make_unique<StringRules>(std::move(rules));
    }
  }

  std::optional<Pattern> pattern(KeywordReader& read, const std::string& text,
                                 std::string_view keyword, UncheckablePatterns uncheckable) {
    auto compiled = Pattern::compile(text, pattern_budget_);
    if (compiled) return std::move(*compiled);
    Error error = std::move(compiled.error());
    error.what =
        fmt::format("the pattern \"{}\" cannot be used: {}", text.substr(0, 200), error.what);
    error.why =
        "patterns are matched in linear time (RE2); one that cannot be checked is not skipped";
    if (uncheckable == UncheckablePatterns::kLeave) {
      program_.unchecked_patterns.push_back({read.location(), std::move(error.what)});
      return std::nullopt;
    }
    read.pass_on(std::move(error), keyword);
    return std::nullopt;
  }

  void fill_array(Node& node, KeywordReader& read, bool draft7) {
    ArrayRules rules;
    rules.min_items = read.count("minItems");
    rules.max_items = read.count("maxItems");
    rules.unique = read.flag("uniqueItems");
    const Json* items = read.any("items");
    // The array form belongs to draft 7; where a server leaves "$schema" out and writes it all the
    // same, it has never meant anything else.
    if (items != nullptr && items->is_array() && read.any("prefixItems") == nullptr) {
      rules.prefix = children(read, "items");
      rules.rest = child(read, "additionalItems");
    } else {
      if (!draft7) rules.prefix = children(read, "prefixItems");
      rules.rest = child(read, "items");
    }
    rules.contains = child(read, "contains");
    if (!draft7) {
      rules.min_contains = read.count("minContains");
      rules.max_contains = read.count("maxContains");
    }
    if (rules.min_items || rules.max_items || rules.unique || !rules.prefix.empty() || rules.rest ||
        rules.contains) {
      node.array = std::make_unique<ArrayRules>(std::move(rules));
    }
  }

  void fill_object(Node& node, KeywordReader& read, bool draft7) {
    ObjectRules rules;
    rules.min_properties = read.count("minProperties");
    rules.max_properties = read.count("maxProperties");
    rules.required = read.names("required");
    rules.properties = named_children(read, "properties");
    rules.additional = child(read, "additionalProperties");
    rules.names = child(read, "propertyNames");
    for (auto& [name, node_below] : named_children(read, "patternProperties")) {
      if (auto compiled = pattern(read, name, "patternProperties", UncheckablePatterns::kRefuse)) {
        rules.patterns.emplace_back(std::move(*compiled), node_below);
      }
    }
    if (!draft7) {
      rules.dependent = named_children(read, "dependentSchemas");
      fill_dependent_required(rules, read, "dependentRequired");
    }
    // "dependencies" left the specification with 2019-09; a server that writes it means it.
    fill_dependent_required(rules, read, "dependencies");
    if (rules.min_properties || rules.max_properties || !rules.required.empty() ||
        !rules.properties.empty() || !rules.patterns.empty() || rules.additional || rules.names ||
        !rules.dependent.empty() || !rules.dependent_required.empty()) {
      node.object = std::make_unique<ObjectRules>(std::move(rules));
    }
  }

  void fill_dependent_required(ObjectRules& rules, KeywordReader& read, std::string_view keyword) {
    const Json* value = read.object(keyword);
    if (value == nullptr) return;
    for (const auto& [name, need] : value->items()) {
      if (need.is_array()) {
        rules.dependent_required.emplace_back(name, read.names_in(need, keyword));
      } else if (keyword == "dependencies") {
        rules.dependent.emplace_back(name, below(read, need, keyword, name));
      } else {
        read.refuse(keyword, "must hold lists of names");
      }
    }
  }

  void fill_in_place(Node& node, KeywordReader& read, const Json& schema, bool draft7) {
    InPlace rules;
    rules.reference = reference(read, schema, "$ref");
    if (!draft7) fill_dynamic(rules, read, schema);
    rules.all_of = children(read, "allOf");
    rules.any_of = children(read, "anyOf");
    rules.one_of = children(read, "oneOf");
    rules.negated = child(read, "not");
    rules.condition = child(read, "if");
    if (rules.condition != nullptr) {
      rules.then = child(read, "then");
      rules.otherwise = child(read, "else");
    }
    for (const char* keyword : {"allOf", "anyOf", "oneOf"}) {
      const Json* list = read.any(keyword);
      if (list != nullptr && list->empty()) read.refuse(keyword, "must not be empty");
    }
    if (rules.reference || rules.dynamic || !rules.all_of.empty() || !rules.any_of.empty() ||
        !rules.one_of.empty() || rules.negated || rules.condition) {
      node.in_place = std::make_unique<InPlace>(std::move(rules));
    }
  }

  const Node* reference(KeywordReader& read, const Json& schema, std::string_view keyword) {
    const Json* text = read.text(keyword);
    if (text == nullptr) return nullptr;
    auto target = program_.index.find(schema, text->get_ref<const std::string&>());
    if (target) return node_for(*target->schema, text->get<std::string>());
    read.pass_on(std::move(target.error()), keyword);
    return nullptr;
  }

  void fill_dynamic(InPlace& rules, KeywordReader& read, const Json& schema) {
    const Json* text = read.text("$dynamicRef");
    if (text == nullptr) return;
    rules.dynamic = reference(read, schema, "$dynamicRef");
    if (rules.dynamic == nullptr) return;
    rules.dynamic_anchor = program_.index.find(schema, text->get_ref<const std::string&>())->anchor;
    uses_dynamic_ = true;
  }

  const Node* below(KeywordReader& read, const Json& value, std::string_view keyword,
                    std::string_view name) {
    if (!value.is_object() && !value.is_boolean()) {
      read.refuse(keyword, "must hold schemas: objects, true or false");
      return nullptr;
    }
    return node_for(value, fmt::format("{}/{}/{}", read.location(), keyword, pointer_token(name)));
  }

  const Node* child(KeywordReader& read, std::string_view keyword) {
    const Json* value = read.any(keyword);
    if (value == nullptr) return nullptr;
    if (value->is_object() || value->is_boolean()) {
      return node_for(*value, fmt::format("{}/{}", read.location(), keyword));
    }
    read.refuse(keyword, "must be a schema: an object, true or false");
    return nullptr;
  }

  std::vector<const Node*> children(KeywordReader& read, std::string_view keyword) {
    std::vector<const Node*> nodes;
    const Json* list = read.array(keyword);
    if (list == nullptr) return nodes;
    for (const Json& schema : *list)
      nodes.push_back(below(read, schema, keyword, std::to_string(nodes.size())));
    return nodes;
  }

  // Json keeps its members sorted by name, so the list is sorted, too.
  std::vector<NamedNode> named_children(KeywordReader& read, std::string_view keyword) {
    std::vector<NamedNode> nodes;
    const Json* map = read.object(keyword);
    if (map == nullptr) return nodes;
    for (const auto& [name, schema] : map->items())
      nodes.emplace_back(name, below(read, schema, keyword, name));
    return nodes;
  }

  Program& program_;
  UncheckablePatterns uncheckable_;
  std::vector<WithDefault> with_default_;
  std::vector<WithDefault> referring_;  // without one of their own, and saying more
  std::unordered_map<const Json*, Node*> known_;
  std::vector<Open> open_;
  std::optional<Error> error_;
  int pattern_budget_ = kPatternBudget;
  bool uses_dynamic_ = false;
};

}  // namespace

Result<std::unique_ptr<const Program>> compile(const Json& schema, UncheckablePatterns patterns) {
  auto program = std::make_unique<Program>();
  auto compiled = Compiler(*program, patterns).run(schema);
  if (!compiled) return pass_on(compiled);
  return program;
}

}  // namespace mcpac::schema
