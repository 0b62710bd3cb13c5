// SPDX-License-Identifier: Apache-2.0

#include "policy/sets/scalar_classes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/json_schema.h"
#include "policy/sets/text_automata.h"

namespace mcpac::policy {
namespace {

// Number examples: for given bounds, numbers that stand for all that a call can hold.
//
// A call holds what JSON parses to here: 64-bit integers and doubles, each the decimal that its
// text says. So between two bounds lie the neighbours of the bounds, or nothing.

// `bounds` are numbers as JSON spells them; readable examples come first.
[[nodiscard]] std::vector<Json> number_examples(const std::vector<std::string>& bounds);

// The integers beside a bound: those below 2^64 are told apart even where doubles are not.
void add_integers(double near, const std::string& bound, std::vector<Json>& numbers) {
  if (std::abs(near) > 18.5e18) return;
  // Read the digits themselves where they are an integer; a double would round them.
  const bool plain = bound.find_first_of(".eE") == std::string::npos;
  if (near < 0) {
    const std::int64_t whole = plain          ? std::strtoll(bound.c_str(), nullptr, 10)
                               : near < -9e18 ? std::numeric_limits<std::int64_t>::min() + 4
                                              : static_cast<std::int64_t>(near);
    for (std::int64_t step = -2; step <= 2; ++step) {
      if (step < 0 && whole < std::numeric_limits<std::int64_t>::min() - step) continue;
      numbers.emplace_back(whole + step);
    }
    return;
  }
  const std::uint64_t whole = plain          ? std::strtoull(bound.c_str(), nullptr, 10)
                              : near > 18e18 ? std::numeric_limits<std::uint64_t>::max() - 4
                                             : static_cast<std::uint64_t>(near);
  for (std::uint64_t step = 0; step <= 2; ++step) {
    if (whole <= std::numeric_limits<std::uint64_t>::max() - step)
      numbers.emplace_back(whole + step);
    if (step > 0 && whole >= step) numbers.emplace_back(whole - step);
    if (step > whole) numbers.emplace_back(-static_cast<std::int64_t>(step - whole));
  }
}

// Integers that a double stands for beside itself: the nearest double is a reading of them
// (readings.h), so both sides of the middles between doubles are looked at.
void add_beyond_doubles(double near, std::vector<Json>& numbers) {
  constexpr double kExact = 9007199254740992.0;
  constexpr double kMost = 18446744073709551615.0;
  if (std::abs(near) < kExact || near < -9.2e18 || near > 18.4e18) return;
  for (const double toward : {-kMost, kMost}) {
    const double next = std::nextafter(near, toward);
    if (near < 0) {
      const auto middle = static_cast<std::int64_t>(near) / 2 + static_cast<std::int64_t>(next) / 2;
      for (const std::int64_t step : {-1, 0, 1}) numbers.emplace_back(middle + step);
    } else {
      const auto middle =
          static_cast<std::uint64_t>(near) / 2 + static_cast<std::uint64_t>(next) / 2;
      for (const std::uint64_t step : {0U, 1U, 2U}) numbers.emplace_back(middle + step - 1);
    }
  }
}

void add_doubles(double near, std::vector<Json>& numbers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isinf(near)) near = std::copysign(std::numeric_limits<double>::max(), near);
  double below = near;
  double above = near;
  numbers.emplace_back(near);
  for (int step = 0; step < 2; ++step) {
    below = std::nextafter(below, -kInfinity);
    above = std::nextafter(above, kInfinity);
    if (!std::isinf(below)) numbers.emplace_back(below);
    if (!std::isinf(above)) numbers.emplace_back(above);
  }
}

std::vector<Json> number_examples(const std::vector<std::string>& bounds) {
  std::vector<Json> numbers = {0, 1, -1, 0.5};
  std::set<double> values;
  for (const auto& bound : bounds) {
    const double near = std::strtod(bound.c_str(), nullptr);
    values.insert(near);
    add_integers(near, bound, numbers);
  }
  // A middle is easier to read than a neighbour.
  for (auto at = values.begin(); at != values.end() && std::next(at) != values.end(); ++at) {
    const double middle = *at / 2 + *std::next(at) / 2;
    if (std::isfinite(middle)) numbers.emplace_back(middle);
  }
  for (const double value : values) {
    add_doubles(value, numbers);
    add_beyond_doubles(value, numbers);
  }
  numbers.emplace_back(std::numeric_limits<double>::max());
  numbers.emplace_back(std::numeric_limits<double>::lowest());
  return numbers;
}

}  // namespace

namespace {

// Words of a schema that the examples take into account: what then does not validate does not
// exist. With any other word an example that does not validate proves nothing.
const std::set<std::string_view> kUnderstood = {"type",
                                                "title",
                                                "description",
                                                "default",
                                                "examples",
                                                "minimum",
                                                "maximum",
                                                "exclusiveMinimum",
                                                "exclusiveMaximum",
                                                "minLength",
                                                "maxLength",
                                                "format",
                                                "enum",
                                                "const",
                                                "items",
                                                "minItems",
                                                "maxItems",
                                                "properties",
                                                "required",
                                                "additionalProperties",
                                                "readOnly",
                                                "writeOnly",
                                                "deprecated",
                                                "$comment"};

// The schema of one place, to try examples with.
class PlaceSchema {
 public:
  explicit PlaceSchema(const SchemaView& view) {
    if (view.text() == nullptr || !view.text()->is_object()) return;
    Json text = *view.text();
    understood_ = true;
    for (const auto& [word, unused] : text.items())
      understood_ = understood_ && kUnderstood.contains(word);
    for (const char* shared : {"$defs", "definitions", "$schema"}) {
      const Json* found = find_member(*view.root(), shared);
      if (found != nullptr) text[shared] = *found;
    }
    if (auto compiled = JsonSchema::compile(text)) schema_ = *compiled;
    understood_ = understood_ && schema_ != nullptr;
  }
  [[nodiscard]] bool admits(const Json& value) const {
    return schema_ == nullptr || !schema_->validate(value);
  }
  [[nodiscard]] bool is_understood() const { return understood_; }

 private:
  std::shared_ptr<const JsonSchema> schema_;
  bool understood_ = false;
};

void add_bounds(const CompiledArg& arg, std::set<std::string>& bounds) {
  const auto literal = [&](const ast::Literal& l) {
    if (const auto* number = std::get_if<ast::Number>(&l.value)) bounds.insert(number->spelling);
  };
  const auto range = [&](const ast::RangeTest& r) {
    bounds.insert({r.low.spelling, r.high.spelling});
  };
  for (const auto& test : arg.tests) {
    if (const auto* equal = std::get_if<ast::EqualTest>(&test.body)) literal(equal->literal);
    if (const auto* in = std::get_if<ast::InTest>(&test.body))
      std::ranges::for_each(in->literals, literal);
    if (const auto* r = std::get_if<ast::RangeTest>(&test.body)) range(*r);
    if (const auto* bound = std::get_if<ast::BoundTest>(&test.body))
      bounds.insert(bound->bound.spelling);
  }
  for (const auto& exception : arg.exceptions) {
    if (const auto* l = std::get_if<ast::Literal>(&exception.body)) literal(*l);
    if (const auto* r = std::get_if<ast::RangeTest>(&exception.body)) range(*r);
  }
}

class Scalars {
 public:
  Scalars(const CallPlace& place, KnownStrings& strings, StepBudget& budget, ValueSet& values,
          Lengths lengths = Lengths::kTold)
      : place_(place),
        strings_(strings),
        budget_(budget),
        values_(values),
        schema_(place.view()),
        lengths_(lengths) {}

  std::string add() {
    const Types types = place_.view().types();
    for (const char* word : {"enum", "const"}) {
      const Json* listed = member(word);
      if (listed == nullptr) continue;
      const Json all = std::string_view(word) == "enum" ? *listed : Json::array({*listed});
      for (const auto& value : all) insert_whole(value);
      return "";
    }
    if (const auto filled = place_.view().filled_default()) insert_whole(*filled);
    if ((types & kStringType) != 0) add_strings();
    if ((types & kNumberType) != 0) add_numbers();
    if ((types & kBooleanType) != 0) {
      insert_scalar(false);
      insert_scalar(true);
    }
    if ((types & kNullType) != 0) insert_scalar(nullptr);
    return gap_;
  }

  std::string add_any() {
    std::vector<StringProbe> probes;
    for (const auto& watch : place_.any_strings()) add_probes(watch, probes);
    const auto found = strings_.classes(probes, {}, budget_);
    for (const auto& one : found.classes) {
      const Json text(one.example);
      values_.insert({place_.of_any_string(text, answer_of(one)), text});
    }
    return found.gap;
  }

 private:
  [[nodiscard]] const Json* member(const char* word) const {
    const Json* text = place_.view().text();
    return text == nullptr ? nullptr : find_member(*text, word);
  }
  // However the schema writes the number: 3 and 3.0 are one (JSON Schema, 4.2.3).
  [[nodiscard]] std::optional<std::size_t> length(const char* word) const {
    const Json* found = member(word);
    if (found == nullptr || !found->is_number()) return std::nullopt;
    constexpr double kBeyond = 1e15;  // any text that there is
    return static_cast<std::size_t>(std::clamp(found->get<double>(), 0.0, kBeyond));
  }
  [[nodiscard]] bool is_default(const Json& value) const {
    return place_.view().equals_default(value);
  }

  // A value that is written down somewhere, of any type.
  void insert_whole(const Json& value) { insert(value, place_.of_all(value)); }
  void insert_scalar(const Json& value) { insert(value, place_.of_value(value)); }
  void insert(const Json& value, const Marks& marks) {
    if (!budget_.spend()) return;
    const bool fits = schema_.admits(value);
    if (!fits && schema_.is_understood()) return;
    values_.insert({marks, value, is_default(value), fits});
  }

  void add_numbers() {
    std::set<std::string> bounds;
    for (const auto& watch : place_.watches()) {
      if (watch.ends()) add_bounds(*watch.arg, bounds);
    }
    for (const char* word : {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}) {
      const Json* bound = member(word);
      if (bound != nullptr && bound->is_number()) bounds.insert(to_text(*bound));
    }
    if (const Json* filled = place_.view().default_value(); filled && filled->is_number())
      bounds.insert(to_text(*filled));
    for (const auto& number : number_examples({bounds.begin(), bounds.end()}))
      insert_scalar(number);
  }

  [[nodiscard]] static std::string key_of(const Watch& watch, std::size_t matcher) {
    // Paths and URLs are tested together with their exceptions, texts of a deny with the URL tests
    // beside them (in_url() of match/matcher.h).
    const auto& arg = *watch.arg;
    const bool in_url =
        watch.reading == Reading::kCatch && std::ranges::any_of(arg.tests, is_url_test);
    const bool alone = arg.exceptions.empty() && !in_url;
    return (watch.reading == Reading::kAdmit ? "+" : "-") +
           std::string(arg.steps.empty() ? "*" : "") + arg.matcher_texts[matcher] +
           (alone ? "" : "\n" + arg.text);
  }

  void add_probes(const Watch& watch, std::vector<StringProbe>& probes) {
    for (std::size_t i = 0; i < watch.arg->matchers.size(); ++i) {
      const auto [known, is_new] = index_.try_emplace(key_of(watch, i), probes.size());
      if (is_new) probes.push_back({watch.arg, i, place_.call_view(watch)});
    }
  }

  void add_strings() {
    std::vector<StringProbe> probes;
    for (const auto& watch : place_.watches()) {
      if (watch.ends()) add_probes(watch, probes);
    }
    for (const auto& watch : place_.any_strings()) add_probes(watch, probes);
    StringLimits limits;
    const bool tells = lengths_ == Lengths::kTold;
    if (const auto least = length("minLength"); least && tells) limits.lengths.push_back(*least);
    if (const auto most = length("maxLength"); most && tells) limits.lengths.push_back(*most + 1);
    if (const Json* filled = place_.view().default_value(); filled && filled->is_string())
      limits.values.push_back(filled->get<std::string>());
    if (auto fitting = fitting_example()) limits.values.push_back(std::move(*fitting));
    // A length that no automaton counts is no reason to drop what does not fit.
    const bool counted = std::ranges::all_of(
        limits.lengths, [](std::size_t length) { return length <= kMaxCounted; });
    add_classes(probes, limits, counted && schema_.is_understood());
  }

  // Of a schema that says more of strings than is understood here: one that it gives itself.
  [[nodiscard]] std::optional<std::string> fitting_example() const {
    constexpr std::size_t kLongest = 64;
    const Json* examples = schema_.is_understood() ? nullptr : member("examples");
    if (examples == nullptr || !examples->is_array() || examples->empty()) return std::nullopt;
    const Json& first = examples->front();
    if (!first.is_string() || first.get_ref<const std::string&>().size() > kLongest ||
        !schema_.admits(first))
      return std::nullopt;
    return first.get<std::string>();
  }

  void add_classes(const std::vector<StringProbe>& probes, const StringLimits& limits,
                   bool drop_what_does_not_fit) {
    const auto found = strings_.classes(probes, limits, budget_);
    if (!found.gap.empty()) gap_ = found.gap;
    for (const auto& one : found.classes) {
      const Json text(one.example);
      const bool fits = schema_.admits(text);
      if (!fits && drop_what_does_not_fit) continue;
      values_.insert({place_.of_value(text, answer_of(one)), text, is_default(text), fits});
    }
  }

  [[nodiscard]] CallPlace::Answer answer_of(const StringClass& one) const {
    return [this, &one](const CompiledArg& arg, std::size_t matcher, const CallView& view) {
      return one.outcomes[index_.at(key_of({&arg, 0, view.reading, 0}, matcher))];
    };
  }

  const CallPlace& place_;
  KnownStrings& strings_;
  StepBudget& budget_;
  ValueSet& values_;
  PlaceSchema schema_;
  Lengths lengths_;
  std::map<std::string, std::size_t> index_;
  std::string gap_;
};

}  // namespace

std::string add_scalar_classes(const CallPlace& place, KnownStrings& strings, StepBudget& budget,
                               ValueSet& values, Lengths lengths) {
  return Scalars(place, strings, budget, values, lengths).add();
}

std::string add_any_strings(const CallPlace& place, KnownStrings& strings, StepBudget& budget,
                            ValueSet& values) {
  return Scalars(place, strings, budget, values).add_any();
}

}  // namespace mcpac::policy
