// SPDX-License-Identifier: Apache-2.0

#include "codegen/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/json_text.h"
#include "codegen/names.h"
#include "codegen/resolve.h"
#include "codegen/text_escape.h"

namespace mcpac::codegen {
namespace {

// A default or a constant longer than this is read in the schema, not in a comment.
constexpr std::size_t kMaxValue = 160;

std::string short_json(const OrderedJson& value) {
  return safe_line(cut(compact_json(value), kMaxValue));
}

void add_range(const OrderedJson& schema, std::vector<std::string>& facts) {
  static constexpr auto kBounds = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"minimum", ">="},
       {"exclusiveMinimum", ">"},
       {"maximum", "<="},
       {"exclusiveMaximum", "<"},
       {"multipleOf", "a multiple of"}});
  std::string line;
  for (const auto& [name, sign] : kBounds) {
    const OrderedJson* bound = keyword(schema, name);
    if (bound == nullptr || !bound->is_number()) continue;
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", sign, short_json(*bound));
  }
  if (!line.empty()) facts.push_back(line);
}

void add_count(const OrderedJson& schema, std::string_view least, std::string_view most,
               std::string_view noun, std::vector<std::string>& facts) {
  const OrderedJson* low = keyword(schema, least);
  const OrderedJson* high = keyword(schema, most);
  const bool has_low = low != nullptr && low->is_number();
  const bool has_high = high != nullptr && high->is_number();
  if (has_low && has_high) {
    facts.push_back(fmt::format("{} to {} {}", short_json(*low), short_json(*high), noun));
  } else if (has_low) {
    facts.push_back(fmt::format("at least {} {}", short_json(*low), noun));
  } else if (has_high) {
    facts.push_back(fmt::format("at most {} {}", short_json(*high), noun));
  }
}

}  // namespace

std::string text_of(const OrderedJson& object, std::string_view name) {
  const OrderedJson* member = keyword(object, name);
  return member != nullptr && member->is_string() ? member->get<std::string>() : "";
}

std::string type_hint(const OrderedJson& schema, std::string_view otherwise) {
  constexpr std::size_t kMaxTitle = 40;  // a title is for people; only a short one is a good name
  const std::string title = text_of(schema, "title");
  std::string hint = title.size() <= kMaxTitle ? to_pascal_case(title) : "";
  if (hint.empty()) hint = to_pascal_case(otherwise);
  return hint.empty() ? "Value" : hint;
}

std::vector<std::string> facts_of(const OrderedJson& schema) {
  std::vector<std::string> facts;
  if (const OrderedJson* value = keyword(schema, "const"))
    facts.push_back("always " + short_json(*value));
  if (const OrderedJson* value = keyword(schema, "default"))
    facts.push_back("default: " + short_json(*value));
  const OrderedJson* values = keyword(schema, "enum");
  const auto is_string = [](const OrderedJson& value) { return value.is_string(); };
  if (values != nullptr &&
      !std::ranges::all_of(*values, is_string)) {  // strings become an enum class
    facts.push_back("one of " + short_json(*values));
  }
  add_range(schema, facts);
  add_count(schema, "minLength", "maxLength", "characters", facts);
  add_count(schema, "minItems", "maxItems", "items", facts);
  add_count(schema, "minProperties", "maxProperties", "members", facts);
  if (const OrderedJson* unique = keyword(schema, "uniqueItems");
      unique != nullptr && *unique == true) {
    facts.emplace_back("no item twice");
  }
  for (const std::string_view name : {"format", "pattern"}) {
    const std::string text = text_of(schema, name);
    if (!text.empty())
      facts.push_back(fmt::format("{}: {}", name, safe_line(cut(text, kMaxValue))));
  }
  if (const OrderedJson* old = keyword(schema, "deprecated"); old != nullptr && *old == true) {
    facts.emplace_back("deprecated, says the server");
  }
  return facts;
}

void describe_values(const OrderedJson& schema, std::vector<Enumerator>& values) {
  const auto describe = [&](const OrderedJson& value, const std::string& words) {
    const auto found = std::ranges::find(values, value, &Enumerator::value);
    if (found != values.end() && found->description.empty() && OrderedJson(words) != value)
      found->description = words;
  };
  const OrderedJson* constants = keyword(schema, "enum");
  for (const std::string_view name :
       {"x-enumDescriptions", "x-enum-descriptions", "enumDescriptions"}) {
    const OrderedJson* texts = keyword(schema, name);
    if (texts == nullptr || constants == nullptr || !constants->is_array()) continue;
    for (std::size_t i = 0; i < constants->size(); ++i) {
      const OrderedJson& value = (*constants)[i];
      const std::string key = value.is_string() ? value.get<std::string>() : compact_json(value);
      if (texts->is_object()) describe(value, text_of(*texts, key));
      if (texts->is_array() && i < texts->size() && (*texts)[i].is_string())
        describe(value, (*texts)[i].get<std::string>());
    }
  }
  for (const std::string_view name : {"oneOf", "anyOf"}) {
    const OrderedJson* branches = keyword(schema, name);
    if (branches == nullptr || !branches->is_array()) continue;
    for (const OrderedJson& branch : *branches) {
      const OrderedJson* constant = keyword(branch, "const");
      if (constant == nullptr) continue;
      const std::string words = text_of(branch, "description");
      describe(*constant, words.empty() ? text_of(branch, "title") : words);
    }
  }
}

Words words_of(const OrderedJson& at_use, const OrderedJson& schema) {
  Words words{.title = text_of(at_use, "title"), .description = text_of(at_use, "description")};
  if (words.title.empty()) words.title = text_of(schema, "title");
  if (words.description.empty()) words.description = text_of(schema, "description");
  words.facts = facts_of(schema);
  if (&at_use != &schema && keyword(schema, "default") == nullptr) {
    if (const OrderedJson* value = keyword(at_use, "default")) {
      words.facts.insert(words.facts.begin(), "default: " + short_json(*value));
    }
  }
  return words;
}

}  // namespace mcpac::codegen
