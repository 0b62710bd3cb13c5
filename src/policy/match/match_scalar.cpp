// SPDX-License-Identifier: Apache-2.0

// Equality, lists, ranges and bounds.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/glob.h"
#include "core/uri_spelling.h"
#include "policy/match/matcher.h"

namespace mcpac::policy {
namespace {

Types literal_type(const ast::Literal& literal) {
  if (std::holds_alternative<std::nullptr_t>(literal.value)) return kNullType;
  if (std::holds_alternative<bool>(literal.value)) return kBooleanType;
  return std::holds_alternative<ast::Number>(literal.value) ? kNumberType : kStringType;
}

bool equals(const ast::Literal& literal, const Json& value) {
  if (std::holds_alternative<std::nullptr_t>(literal.value)) return value.is_null();
  if (const auto* truth = std::get_if<bool>(&literal.value)) {
    return value.is_boolean() && value.get<bool>() == *truth;
  }
  if (const auto* number = std::get_if<ast::Number>(&literal.value)) {
    return value.is_number() && Decimal::of(value) == number->value;
  }
  if (!value.is_string()) return false;
  const auto& word = std::get<std::string>(literal.value);
  const auto& text = value.get_ref<const std::string&>();
  // The scheme of a URI is the same in capital letters (RFC 3986, 3.1).
  return text == word ||
         (text.size() == word.size() && (has_capital_scheme(text) || has_capital_scheme(word)) &&
          with_lower_scheme(text) == with_lower_scheme(word));
}

class LiteralMatcher final : public Matcher {
 public:
  LiteralMatcher(std::vector<ast::Literal> literals, ast::EqualTest::Sense sense)
      : literals_(std::move(literals)), sense_(sense) {
    for (const auto& literal : literals_)
      types_ = static_cast<Types>(types_ | literal_type(literal));
  }
  Outcome match(const Json& value, const CallView&) const override {
    if ((policy::type_of(value) & types_) == 0) return Outcome::kWrongType;
    const bool equal =
        std::ranges::any_of(literals_, [&](const auto& l) { return equals(l, value); });
    return equal == (sense_ == ast::EqualTest::Sense::kEqual) ? Outcome::kPass : Outcome::kFail;
  }
  Types types() const override { return types_; }

 private:
  std::vector<ast::Literal> literals_;
  ast::EqualTest::Sense sense_;
  Types types_ = 0;
};

struct Interval {
  std::optional<Decimal> low;
  std::optional<Decimal> high;
  bool open_low = false;
  bool open_high = false;

  [[nodiscard]] bool holds(const Decimal& value) const {
    if (low && (open_low ? value <= *low : value < *low)) return false;
    return !high || (open_high ? value < *high : value <= *high);
  }
};

class IntervalMatcher final : public Matcher {
 public:
  explicit IntervalMatcher(Interval interval) : interval_(std::move(interval)) {}
  Outcome match(const Json& value, const CallView&) const override {
    if (!value.is_number()) return Outcome::kWrongType;
    return interval_.holds(Decimal::of(value)) ? Outcome::kPass : Outcome::kFail;
  }
  Types types() const override { return kNumberType; }

 private:
  Interval interval_;
};

class ExclusionMatcher final : public Matcher {
 public:
  ExclusionMatcher(std::vector<ast::Literal> literals, std::vector<Interval> ranges,
                   StringsAre strings)
      : literals_(std::move(literals)), ranges_(std::move(ranges)), strings_(strings) {}
  Outcome match(const Json& value, const CallView&) const override {
    const bool excluded =
        std::ranges::any_of(literals_, [&](const auto& l) { return excludes(l, value); }) ||
        (value.is_number() &&
         std::ranges::any_of(
             ranges_, [number = Decimal::of(value)](const auto& r) { return r.holds(number); }));
    return excluded ? Outcome::kFail : Outcome::kPass;
  }
  // The tests beside it say what types are right.
  Types types() const override { return kAllTypes; }

 private:
  bool excludes(const ast::Literal& literal, const Json& value) const {
    const auto* text = std::get_if<std::string>(&literal.value);
    if (text == nullptr || strings_ == StringsAre::kTexts) return equals(literal, value);
    if (!value.is_string()) return false;
    const auto& whole = value.get_ref<const std::string&>();
    return glob_matches(*text, whole) ||
           glob_matches(with_lower_scheme(*text), with_lower_scheme(whole));
  }
  std::vector<ast::Literal> literals_;
  std::vector<Interval> ranges_;
  StringsAre strings_;
};

Checked<Interval> interval(const ast::RangeTest& range, ast::Offset at) {
  if (range.high.value < range.low.value) {
    return std::unexpected(Complaint{
        .at = at,
        .what = fmt::format("the range {}..{} is empty", range.low.spelling, range.high.spelling),
        .why = "a rule that can never match is a mistake",
        .fix = fmt::format("{}..{}", range.high.spelling, range.low.spelling)});
  }
  return Interval{range.low.value, range.high.value};
}

Interval interval(const ast::BoundTest& test) {
  using Order = ast::BoundTest::Order;
  switch (test.order) {
    case Order::kLess: return {.low = {}, .high = test.bound.value, .open_high = true};
    case Order::kLessEqual: return {.low = {}, .high = test.bound.value};
    case Order::kGreater: return {.low = test.bound.value, .high = {}, .open_low = true};
    case Order::kGreaterEqual: break;
  }
  return {.low = test.bound.value, .high = {}};
}

}  // namespace

Types type_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return kNullType;
    case Json::value_t::boolean: return kBooleanType;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float: return kNumberType;
    case Json::value_t::string: return kStringType;
    case Json::value_t::array: return kArrayType;
    case Json::value_t::object: return kObjectType;
    case Json::value_t::binary:
    case Json::value_t::discarded: break;
  }
  return 0;
}

std::string to_string(Types types) {
  constexpr const char* kNames[] = {"null",     "a truth value", "a number",
                                    "a string", "an array",      "an object"};
  std::string text;
  for (unsigned bit = 0; bit < 6; ++bit) {
    if ((types >> bit & 1U) != 0) text += (text.empty() ? "" : " or ") + std::string(kNames[bit]);
  }
  return text;
}

Checked<MatcherPtr> compile_scalar(const ast::Test& test) {
  using Sense = ast::EqualTest::Sense;
  if (const auto* equal = std::get_if<ast::EqualTest>(&test.body)) {
    return std::make_unique<LiteralMatcher>(std::vector{equal->literal}, equal->sense);
  }
  if (const auto* in = std::get_if<ast::InTest>(&test.body)) {
    return std::make_unique<LiteralMatcher>(in->literals, Sense::kEqual);
  }
  if (const auto* range = std::get_if<ast::RangeTest>(&test.body)) {
    auto checked = interval(*range, test.at);
    if (!checked) return std::unexpected(checked.error());
    return std::make_unique<IntervalMatcher>(std::move(*checked));
  }
  return std::make_unique<IntervalMatcher>(interval(std::get<ast::BoundTest>(test.body)));
}

Checked<MatcherPtr> compile_exclusion(const std::vector<ast::Exception>& exceptions,
                                      StringsAre strings) {
  std::vector<ast::Literal> literals;
  std::vector<Interval> ranges;
  for (const auto& exception : exceptions) {
    if (const auto* literal = std::get_if<ast::Literal>(&exception.body)) {
      literals.push_back(*literal);
    } else if (const auto* range = std::get_if<ast::RangeTest>(&exception.body)) {
      auto checked = interval(*range, exception.at);
      if (!checked) return std::unexpected(checked.error());
      ranges.push_back(std::move(*checked));
    }
  }
  return std::make_unique<ExclusionMatcher>(std::move(literals), std::move(ranges), strings);
}

}  // namespace mcpac::policy
