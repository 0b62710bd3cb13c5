// SPDX-License-Identifier: Apache-2.0

// Tests on one argument, and the values that exceptions name.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/ascii.h"
#include "core/nearest_name.h"
#include "policy/text/parser.h"

namespace mcpac::policy::detail {
namespace {

constexpr std::size_t kMaxItems = 1'000;

const std::vector<std::string> kWords = {"in",   "within", "matches", "host",    "scheme",
                                         "port", "ip",     "like",    "re",      "starts",
                                         "ends", "len",    "size",    "one-line"};
constexpr std::string_view kOrders[] = {"==", "!=", "<=", ">=", "<", ">"};

template <class T>
Result<ast::Test> made(std::size_t at, Result<T> body) {
  if (!body) return pass_on(body);
  return ast::Test{at, std::move(*body)};
}

// What a test of another language is called here.
std::string test_for(std::string_view word) {
  using Words = std::pair<std::string_view, std::string_view>;
  constexpr Words kMeant[] = {
      {"regex", "re /…/"},
      {"regexp", "re /…/"},
      {"glob", "matches GLOB for a path, like \"…*\" for a text"},
      {"contains", "like \"*…*\""},
      {"has", "like \"*…*\""},
      {"match", "re /…/; matches GLOB for a path"},
      {"beginswith", "starts \"…\""},
      {"begins", "starts \"…\""},
      {"hasprefix", "starts \"…\""},
      {"hassuffix", "ends \"…\""},
      {"oneof", "in {\"a\", \"b\"}"},
      {"one_of", "in {\"a\", \"b\"}"},
      {"any_of", "in {\"a\", \"b\"}"},
      {"isin", "in {\"a\", \"b\"}"},
      {"like_regex", "re /…/"},
      {"startwith", "starts \"…\""},
      {"endwith", "ends \"…\""},
      {"length", "len 0..100"},
      {"includes", "like \"*…*\""},
      {"startswith", "starts \"…\""},
      {"starts_with", "starts \"…\""},
      {"prefix", "starts \"…\""},
      {"endswith", "ends \"…\""},
      {"ends_with", "ends \"…\""},
      {"suffix", "ends \"…\""},
      {"under", "within PATH"},
      {"inside", "within PATH"},
      {"below", "within PATH"},
      {"is", "== VALUE"},
      {"eq", "== VALUE"},
      {"equals", "== VALUE"},
      {"between", "a range, 1..10"},
      {"max", "<= NUMBER; of a text's length len 0..NUMBER"},
      {"min", ">= NUMBER"},
      {"domain", "host NAME"},
      {"url", "host NAME, with scheme https"},
      {"not", "!= VALUE; a test is turned around by a rule deny, or except {…}"},
      {"except", "a test before it: within ./data except {./data/private}"},
      {"all", "any"},
      {"optional", "? before the argument's name: ?head any"}};
  const auto* meant = std::ranges::find(kMeant, lowered(word), &Words::first);
  return meant != std::end(kMeant) ? fmt::format("write {}", meant->second)
                                   : did_you_mean(word, kWords);
}

Result<ast::Literal> literal(Lexer& lexer) {
  if (lexer.sees("\"")) {
    auto text = lexer.string();
    if (!text) return pass_on(text);
    return ast::Literal{std::move(*text)};
  }
  if (lexer.sees_number()) {
    auto number = lexer.number();
    if (!number) return pass_on(number);
    return ast::Literal{std::move(*number)};
  }
  if (lexer.take_word("true")) return ast::Literal{true};
  if (lexer.take_word("false")) return ast::Literal{false};
  if (lexer.take_word("null")) return ast::Literal{nullptr};
  std::string fix;
  if (!lexer.peek_word().empty()) fix = "write it in double quotes";
  if (lexer.sees("'")) fix = "write it with \" instead of '";
  if (lexer.sees("=")) fix = "write == or !=, with two signs";
  return lexer.expected("a string in double quotes, a number, true, false or null", std::move(fix));
}

// { item, item }
template <class Item, class Read>
Result<std::vector<Item>> listed(Lexer& lexer, Read read) {
  std::vector<Item> items;
  if (!lexer.take("{")) return lexer.expected("'{'", "a list stands in braces, e.g. {1, 2}");
  do {
    auto item = read(lexer);
    if (!item) return pass_on(item);
    items.push_back(std::move(*item));
    if (items.size() > kMaxItems) {
      return lexer.error(lexer.position(),
                         fmt::format("more than {} items in one list", kMaxItems));
    }
  } while (lexer.take(","));
  if (!lexer.take("}")) return lexer.expected("',' or '}'", kBetweenItems);
  return items;
}

template <class Item, class Read>
Result<std::vector<Item>> one_or_listed(Lexer& lexer, Read read) {
  if (lexer.sees("{")) return listed<Item>(lexer, read);
  auto item = read(lexer);
  if (!item) return pass_on(item);
  return std::vector<Item>{std::move(*item)};
}

Result<ast::RangeTest> range(Lexer& lexer) {
  auto low = lexer.number();
  if (!low) return pass_on(low);
  if (!lexer.take("..")) {
    return lexer.expected("'..' and the upper end of the range",
                          fmt::format("write == {0} for this number, 0..{0} for all up to it",
                                      printable(low->spelling, 40)));
  }
  auto high = lexer.number();
  if (!high) return pass_on(high);
  return ast::RangeTest{std::move(*low), std::move(*high)};
}

Result<ast::Test> order(Lexer& lexer, std::size_t at, std::string_view sign) {
  if (sign == "==" || sign == "!=") {
    auto value = literal(lexer);
    if (!value) return pass_on(value);
    const auto sense =
        sign == "==" ? ast::EqualTest::Sense::kEqual : ast::EqualTest::Sense::kNotEqual;
    return ast::Test{at, ast::EqualTest{sense, std::move(*value)}};
  }
  using Order = ast::BoundTest::Order;
  const Order kind = sign == "<"    ? Order::kLess
                     : sign == "<=" ? Order::kLessEqual
                     : sign == ">"  ? Order::kGreater
                                    : Order::kGreaterEqual;
  if (!lexer.sees_number())
    return lexer.expected("a number", "<, <=, > and >= compare numbers; a text has ==, in or like");
  auto bound = lexer.number();
  if (!bound) return pass_on(bound);
  return ast::Test{at, ast::BoundTest{kind, std::move(*bound)}};
}

Result<ast::Test> path_test(Lexer& lexer, std::size_t at, ast::PathTest::Kind kind) {
  auto path = lexer.path();
  if (!path) return pass_on(path);
  return ast::Test{at, ast::PathTest{kind, std::move(*path)}};
}

Result<ast::Test> text_test(Lexer& lexer, std::size_t at, ast::TextTest::Kind kind) {
  const bool is_regex = kind == ast::TextTest::Kind::kRegex;
  if (!is_regex && !lexer.sees("\""))
    return lexer.expected("a string in double quotes", lexer.sees("'")
                                                           ? "write it with \" instead of '"
                                                           : "write it in double quotes");
  auto text = is_regex ? lexer.regex() : lexer.string();
  if (!text) return pass_on(text);
  return ast::Test{at, ast::TextTest{kind, std::move(*text)}};
}

Result<ast::Test> count_test(Lexer& lexer, std::size_t at, ast::CountTest::Kind kind) {
  auto span = range(lexer);
  if (!span) return pass_on(span);
  return ast::Test{at, ast::CountTest{kind, std::move(span->low), std::move(span->high)}};
}

Result<std::string> host(Lexer& lexer) {
  // A name outside ASCII is written as its A-label: two hosts that look alike must not print alike.
  return lexer.sees("\"") ? lexer.string() : lexer.atom("a host");
}
Result<std::string> scheme(Lexer& lexer) {
  return lexer.atom("a scheme");
}
Result<std::string> network(Lexer& lexer) {
  return lexer.atom("a network such as 10.0.0.0/8");
}
Result<ast::Number> port(Lexer& lexer) {
  return lexer.number();
}

template <class T, class Item>
Result<T> wrapped(Result<std::vector<Item>> items) {
  if (!items) return pass_on(items);
  return T{std::move(*items)};
}

Result<ast::Test> url_test(Lexer& lexer, std::size_t at, std::string_view word) {
  if (word == "host")
    return made(at, wrapped<ast::HostTest>(one_or_listed<std::string>(lexer, host)));
  if (word == "scheme")
    return made(at, wrapped<ast::SchemeTest>(one_or_listed<std::string>(lexer, scheme)));
  if (word == "port")
    return made(at, wrapped<ast::PortTest>(one_or_listed<ast::Number>(lexer, port)));
  if (!lexer.take_word("in")) return lexer.expected("'in' after 'ip'", "ip in {10.0.0.0/8}");
  return made(at, wrapped<ast::IpTest>(listed<std::string>(lexer, network)));
}

Result<ast::Test> word_test(Lexer& lexer, std::size_t at, std::string_view word) {
  using Text = ast::TextTest::Kind;
  // "in ./data": a list of values was not meant.
  const bool is_path =
      word == "in" && (lexer.sees("./") || lexer.sees("/") || lexer.sees("~/") || lexer.sees("@"));
  if (is_path) {
    return lexer.error(at, "'in' is for lists of values, not for folders",
                       "in {\"a\", \"b\"} names the values; within names a folder", "write within");
  }
  if (word == "in") return made(at, wrapped<ast::InTest>(listed<ast::Literal>(lexer, literal)));
  if (word == "within") return path_test(lexer, at, ast::PathTest::Kind::kWithin);
  if (word == "matches") return path_test(lexer, at, ast::PathTest::Kind::kMatches);
  if (word == "like") return text_test(lexer, at, Text::kLike);
  if (word == "re") return text_test(lexer, at, Text::kRegex);
  if (word == "starts") return text_test(lexer, at, Text::kStarts);
  if (word == "ends") return text_test(lexer, at, Text::kEnds);
  if (word == "len") return count_test(lexer, at, ast::CountTest::Kind::kLength);
  if (word == "size") return count_test(lexer, at, ast::CountTest::Kind::kSize);
  if (word == "one-line") return ast::Test{at, ast::OneLineTest{}};
  return url_test(lexer, at, word);
}

template <class T>
bool has(const std::vector<ast::Test>& tests) {
  return std::ranges::any_of(
      tests, [](const ast::Test& test) { return std::holds_alternative<T>(test.body); });
}

}  // namespace

bool sees_test(Lexer& lexer) {
  if (std::ranges::any_of(kOrders, [&](std::string_view sign) { return lexer.sees(sign); }))
    return true;
  return lexer.sees_number() || std::ranges::find(kWords, lexer.peek_word()) != kWords.end();
}

Result<ast::Test> test(Lexer& lexer) {
  const std::size_t at = lexer.position();
  for (const std::string_view sign : kOrders) {
    if (lexer.take(sign)) return order(lexer, at, sign);
  }
  if (lexer.sees_number()) return made(at, range(lexer));
  const std::string word(lexer.peek_word());
  if (word.empty() && (lexer.sees("=~") || lexer.sees("~")))
    return lexer.error(at, "no test begins here", "an expression is a test of its own",
                       "write re /…/");
  if (word.empty() && lexer.sees("("))
    return lexer.error(at, "a test is no function", "a test stands behind the argument's name",
                       "e.g. path within ./data, or name starts \"a\"");
  if (word.empty() && lexer.sees("="))
    return lexer.error(at, "'=' is no test", "a value is compared with ==", "write ==");
  if (word.empty()) {
    return lexer.error(at, lexer.expected("a test").error().what,
                       "an argument in brackets needs a test, 'any' or 'absent'",
                       lexer.sees(":") || lexer.sees("=>")
                           ? "a value is compared with ==: path == \"a\""
                           : "e.g. path within ./data, or path any");
  }
  if (std::ranges::find(kWords, word) == kWords.end()) {
    return lexer.error(
        at, fmt::format("there is no test '{}'", printable(word, 40)),
        "tests: == != < <= > >= in within matches host scheme port ip like re starts ends "
        "len size one-line, a range 1..10, any, absent",
        test_for(word));
  }
  std::ignore = lexer.take_word(word);
  return word_test(lexer, at, word);
}

Result<ast::Exception> exception(Lexer& lexer, const std::vector<ast::Test>& tests) {
  const std::size_t at = lexer.position();
  const auto text = [&](Result<std::string> value, auto wrap) -> Result<ast::Exception> {
    if (!value) return pass_on(value);
    return ast::Exception{at, wrap(std::move(*value))};
  };
  if (has<ast::PathTest>(tests)) {
    return text(lexer.path(), [](std::string v) { return ast::PathException{std::move(v)}; });
  }
  if (has<ast::HostTest>(tests)) {
    return text(host(lexer), [](std::string v) { return ast::HostException{std::move(v)}; });
  }
  if (has<ast::IpTest>(tests)) {
    return text(network(lexer), [](std::string v) { return ast::NetworkException{std::move(v)}; });
  }
  auto value = literal(lexer);
  if (!value) return pass_on(value);
  const auto* low = std::get_if<ast::Number>(&value->value);
  if (low == nullptr || !lexer.take("..")) return ast::Exception{at, std::move(*value)};
  auto high = lexer.number();
  if (!high) return pass_on(high);
  return ast::Exception{at, ast::RangeTest{*low, std::move(*high)}};
}

}  // namespace mcpac::policy::detail
