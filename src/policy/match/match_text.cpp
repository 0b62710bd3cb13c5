// SPDX-License-Identifier: Apache-2.0

// Strings: globs, regular expressions, beginnings, endings, lengths, lines; and the size of arrays.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "core/glob.h"
#include "core/percent_code.h"
#include "core/uri_spelling.h"
#include "policy/match/matcher.h"
#include "policy/match/readings.h"
#include "policy/match/url.h"

namespace mcpac::policy {
namespace {

// How often servers decode a path that was encoded again and again.
constexpr int kMostDecoded = 4;
// Of all URLs of one value; some dozens of ways are tried, in a few milliseconds.
constexpr std::size_t kMaxRouted = 16 * 1024;

template <class Test>
class StringMatcher final : public Matcher {
 public:
  explicit StringMatcher(Test test) : test_(std::move(test)) {}
  Outcome match(const Json& value, const CallView&) const override {
    if (!value.is_string()) return Outcome::kWrongType;
    return test_(value.get_ref<const std::string&>()) ? Outcome::kPass : Outcome::kFail;
  }
  Types types() const override { return kStringType; }

 private:
  Test test_;
};

template <class Test>
MatcherPtr on_strings(Test test) {
  return std::make_unique<StringMatcher<Test>>(std::move(test));
}

// A test that compares a text with one of its own. The scheme of a URI is the same in capital
// letters (RFC 3986, 3.1), on either side.
template <class Test>
class WordMatcher final : public Matcher {
 public:
  WordMatcher(std::string word, Test test)
      : word_(std::move(word)), test_(std::move(test)), lower_(with_lower_scheme(word_)) {}
  Outcome match(const Json& value, const CallView&) const override {
    if (!value.is_string()) return Outcome::kWrongType;
    const auto& text = value.get_ref<const std::string&>();
    if (test_(word_, text)) return Outcome::kPass;
    const bool capital = has_capital_scheme(text);
    if (!capital && lower_ == word_) return Outcome::kFail;
    const bool same = capital ? test_(lower_, with_lower_scheme(text)) : test_(lower_, text);
    return same ? Outcome::kPass : Outcome::kFail;
  }
  Types types() const override { return kStringType; }

 private:
  std::string word_;
  Test test_;
  std::string lower_;
};

template <class Test>
MatcherPtr on_word(const std::string& word, Test test) {
  return std::make_unique<WordMatcher<Test>>(word, std::move(test));
}

class OneLineMatcher final : public Matcher {
 public:
  Outcome match(const Json& value, const CallView& call) const override {
    if (!value.is_string()) return Outcome::kWrongType;
    const std::string_view text = value.get_ref<const std::string&>();
    if (text.find_first_of("\r\n") != std::string_view::npos) return Outcome::kFail;
    if (call.reading == Reading::kCatch) return Outcome::kPass;
    // kLineBreaks in UTF-8.
    const bool broken = text.find_first_of("\v\f\x1c\x1d\x1e") != std::string_view::npos ||
                        text.contains("\xC2\x85") || text.contains("\xE2\x80\xA8") ||
                        text.contains("\xE2\x80\xA9");
    return broken ? Outcome::kFail : Outcome::kPass;
  }
  Types types() const override { return kStringType; }
};

// The ways in which servers route a URL: encoded slashes read or not, parameters of segments and
// empty segments left out or not, codes decoded or not, dot segments gone. `sent` is as it is sent
// (Url::sent_text), and is the first of them.
std::vector<std::string> routings(const std::string& sent) {
  std::vector<std::string> all = {sent};
  const std::string_view text = sent;
  const auto begin = text.find('/', std::min(text.find("://"), text.size() - 3) + 3);
  if (begin >= text.size()) return all;
  const auto end = std::min(text.find_first_of("?#", begin), text.size());
  const std::string path(text.substr(begin, end - begin));
  if (path.find_first_of("%;") == std::string::npos && !path.contains("//")) return all;
  const auto add = [&](const std::string& routed) {
    std::string whole(text.substr(0, begin));
    whole.append(routed).append(text.substr(end));
    if (std::ranges::find(all, whole) == all.end()) all.push_back(std::move(whole));
  };
  std::set<std::string> paths = {path};
  const auto extend = [&](auto change) {
    for (const auto& one : std::vector(paths.begin(), paths.end())) paths.insert(change(one));
  };
  static const RE2 kSlash(slash_code_pattern());
  static const RE2 kParameters("(?i)(?:;|%(?:25)*3b)[^/]*");
  static const RE2 kEmpty("/{2,}");
  const auto replaced = [](const RE2& what, std::string_view with) {
    return [&what, with](std::string one) {
      RE2::GlobalReplace(&one, what, with);
      return one;
    };
  };
  extend(replaced(kSlash, "/"));
  extend(replaced(kParameters, ""));
  extend([](std::string one) {
    for (int i = 0; i < kMostDecoded; ++i) one = percent_decoded(one);
    return one;
  });
  extend([](const std::string& one) { return percent_decoded(one); });
  extend(replaced(kEmpty, "/"));
  extend([](const std::string& one) {
    const auto tidied = read_url("http://h" + one.substr(0, one.find_first_of("?#")));
    return tidied ? tidied->text().substr(sizeof("http://h") - 1) : one;
  });
  std::ranges::for_each(paths, add);
  return all;
}

// A test of a text beside one of its host. In a deny or ask: asked about every URL that some parser
// reads in the value, as it is sent and in every way that servers route it. In an allow: about each
// URL of a list.
class InUrlMatcher final : public Matcher {
 public:
  explicit InUrlMatcher(MatcherPtr test) : test_(std::move(test)) {}
  Outcome match(const Json& value, const CallView& call) const override {
    const Outcome outcome = test_->match(value, call);
    if (call.reading == Reading::kAdmit) return each_passes(outcome, value, call);
    if (outcome != Outcome::kFail || !value.is_string()) return outcome;
    UrlReadings own;
    const UrlReadings& readings = url_readings(value, call, own);
    bool is_unclear = readings.unclear;
    CallView view = call;
    std::size_t left = kMaxRouted;
    view.readings = nullptr;  // what is asked about is no value of the call
    for (Url url : readings.urls) {
      if (const auto* name = std::get_if<std::string>(&url.host)) url.host_text = *name;
      const std::string sent = url.sent_text();
      is_unclear = is_unclear || sent.size() > left || is_path_read_apart(url);
      if (sent.size() > left) break;
      left -= sent.size();
      for (const std::string& one : routings(sent)) {
        const Outcome found = test_->match(Json(one), view);
        if (found != Outcome::kFail) return found;
      }
    }
    if (!is_unclear) return outcome;
    return call.any_string ? Outcome::kPass : Outcome::kUnreadable;
  }
  Types types() const override { return test_->types(); }

 private:
  [[nodiscard]] Outcome each_passes(Outcome whole, const Json& value, CallView call) const {
    if (whole != Outcome::kPass || !value.is_string()) return whole;
    const auto urls = listed_urls(value.get_ref<const std::string&>());
    call.readings = nullptr;
    for (std::size_t i = 0; urls.size() > 1 && i < urls.size(); ++i) {
      const Outcome one = test_->match(Json(urls[i]), call);
      if (one != Outcome::kPass) return one;
    }
    return whole;
  }

  MatcherPtr test_;
};

// A text that is too long for its expression cannot be read: no allow admits it, and every deny and
// ask catches it; those over "*" as well, which pass over what is no path and no URL, but no text
// is none.
class RegexMatcher final : public Matcher {
 public:
  explicit RegexMatcher(std::shared_ptr<const RE2> expression)
      : expression_(std::move(expression)),
        size_(static_cast<std::size_t>(std::max(expression_->ProgramSize(), 1))) {}
  Outcome match(const Json& value, const CallView& call) const override {
    if (!value.is_string()) return Outcome::kWrongType;
    const auto& text = value.get_ref<const std::string&>();
    std::size_t left = kMaxRegexWork;
    std::size_t& work = call.regex_work == nullptr ? left : *call.regex_work;
    if (text.size() > work / size_) return call.any_string ? Outcome::kPass : Outcome::kUnreadable;
    work -= text.size() * size_;
    const bool matches =
        RE2::FullMatch(text, *expression_) ||
        (has_capital_scheme(text) && RE2::FullMatch(with_lower_scheme(text), *expression_));
    return matches ? Outcome::kPass : Outcome::kFail;
  }
  Types types() const override { return kStringType; }

 private:
  std::shared_ptr<const RE2> expression_;
  std::size_t size_;  // of its program
};

class SizeMatcher final : public Matcher {
 public:
  SizeMatcher(Decimal low, Decimal high) : low_(std::move(low)), high_(std::move(high)) {}
  Outcome match(const Json& value, const CallView&) const override {
    if (!value.is_array()) return Outcome::kWrongType;
    const Decimal size = Decimal::of(Json(value.size()));
    return low_ <= size && size <= high_ ? Outcome::kPass : Outcome::kFail;
  }
  Types types() const override { return kArrayType; }

 private:
  Decimal low_;
  Decimal high_;
};

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

Checked<MatcherPtr> regex(const ast::Test& test, const std::string& pattern, Effect effect) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxRegexMemory);
  options.set_dot_nl(effect != Effect::kAllow);
  auto compiled = std::make_shared<const RE2>(pattern, options);
  if (!compiled->ok()) {
    return std::unexpected(Complaint{
        .at = test.at,
        .id = ErrorId::kRuleSyntax,
        .what = fmt::format("this regular expression is not valid: {}", compiled->error()),
        .why = "'re' takes the syntax of RE2: no look-around, no back-references",
        .fix = {}});
  }
  return std::make_unique<RegexMatcher>(std::move(compiled));
}

}  // namespace

Checked<MatcherPtr> compile_text(const ast::Test& test, const ast::TextTest& text, Effect effect) {
  using Kind = ast::TextTest::Kind;
  using Text = const std::string&;
  switch (text.kind) {
    case Kind::kLike:
      return on_word(text.text, [](Text glob, Text s) { return glob_matches(glob, s); });
    case Kind::kRegex: return regex(test, text.text, effect);
    case Kind::kStarts:
      return on_word(text.text, [](Text start, Text s) { return s.starts_with(start); });
    case Kind::kEnds: break;
  }
  return on_word(text.text, [](Text end, Text s) { return s.ends_with(end); });
}

MatcherPtr in_url(MatcherPtr test) {
  return std::make_unique<InUrlMatcher>(std::move(test));
}

Checked<MatcherPtr> compile_count(const ast::Test& test, const ast::CountTest& count) {
  if (count.high.value < count.low.value || count.high.value < Decimal{}) {
    return std::unexpected(Complaint{.at = test.at,
                                     .what = fmt::format("nothing has a count of {}..{}",
                                                         count.low.spelling, count.high.spelling),
                                     .why = "a rule that can never match is a mistake",
                                     .fix = {}});
  }
  if (count.kind == ast::CountTest::Kind::kSize) {
    return std::make_unique<SizeMatcher>(count.low.value, count.high.value);
  }
  return on_strings([low = count.low.value, high = count.high.value](const std::string& text) {
    const Decimal length = Decimal::of(Json(code_points(text)));
    return low <= length && length <= high;
  });
}

MatcherPtr compile_one_line() {
  return std::make_unique<OneLineMatcher>();
}

}  // namespace mcpac::policy
