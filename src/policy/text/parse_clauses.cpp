// SPDX-License-Identifier: Apache-2.0

// Clauses: meters, times, audit level, reason.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "policy/text/parser.h"
#include "policy/text/times.h"

namespace mcpac::policy::detail {
namespace {

Result<std::uint64_t> count(Lexer& lexer) {
  const std::size_t at = lexer.position();
  auto number = lexer.number();
  if (!number) return pass_on(number);
  std::uint64_t value = 0;
  const char* end = number->spelling.data() + number->spelling.size();
  const auto parsed = std::from_chars(number->spelling.data(), end, value);
  if (parsed.ptr != end || parsed.ec != std::errc{} || value > 1'000'000'000) {
    return lexer.error(
        at, fmt::format("'{}' is not a count", printable(number->spelling, 40)),
        "a count is a whole number up to 1,000,000,000, written without point or exponent");
  }
  return value;
}

template <class T>
Result<void> once(Lexer& lexer, std::size_t at, std::string_view word, std::optional<T>& slot,
                  Result<T> value) {
  if (!value) return pass_on(value);
  if (slot) {
    return lexer.error(at, fmt::format("the clause '{}' stands twice in one rule", word), "",
                       "keep the one that you mean");
  }
  slot = std::move(*value);
  return {};
}

Result<void> at_most(Lexer& lexer) {
  if (!lexer.take("<="))
    return lexer.expected("'<='", "a clause says the most that it admits, e.g. calls <= 3");
  return {};
}

// The unit that was meant, as it is written here; empty where that cannot be told.
std::string_view unit_for(std::string_view word) {
  using Words = std::pair<std::string_view, std::string_view>;
  constexpr Words kMeant[] = {{"m", "min"}, {"mins", "min"}, {"minute", "min"}, {"minutes", "min"},
                              {"sec", "s"}, {"secs", "s"},   {"second", "s"},   {"seconds", "s"},
                              {"hr", "h"},  {"hour", "h"},   {"hours", "h"}};
  const auto* meant = std::ranges::find(kMeant, word, &Words::first);
  return meant == std::end(kMeant) ? "" : meant->second;
}

// What to write where behind "10/" no unit stands.
std::string rate_for(std::uint64_t calls, std::string_view word) {
  const auto unit = unit_for(word);
  if (!unit.empty()) return fmt::format("write {}/{}", calls, unit);
  return word == "d" || word == "day" || word == "days"
             ? std::string("write how many an hour, e.g. 10/h; calls <= 10 is of the whole run")
             : fmt::format("e.g. {}/min", calls);
}

Result<ast::Rate> rate(Lexer& lexer) {
  if (lexer.take("<=") || !lexer.sees_number())
    return lexer.expected("a number of calls, '/' and a unit", "e.g. rate 10/min");
  auto calls = count(lexer);
  if (!calls) return pass_on(calls);
  if (!lexer.take("/"))
    return lexer.expected("'/' and a unit: s, min or h", fmt::format("e.g. {}/min", *calls));
  ast::Rate rate{*calls, {}};
  if (lexer.take_word("s")) rate.unit = std::chrono::seconds{1};
  if (rate.unit.count() == 0 && lexer.take_word("min")) rate.unit = std::chrono::minutes{1};
  if (rate.unit.count() == 0 && lexer.take_word("h")) rate.unit = std::chrono::hours{1};
  if (rate.unit.count() == 0)
    return lexer.expected("a unit: s, min or h", rate_for(*calls, lexer.peek_word()));
  return rate;
}

Result<ast::Size> size(Lexer& lexer) {
  const std::size_t at = lexer.position();
  auto text = lexer.atom("a size such as 64KB");
  if (!text) return pass_on(text);
  const auto bytes = parse_size(*text);
  if (!bytes)
    return lexer.error(at, fmt::format("'{}' is not a size", printable(*text, 40)),
                       "a size is a whole number and B, KB, MB or GB", "e.g. 64KB or 10MB");
  return ast::Size{std::move(*text), *bytes};
}

Result<ast::Price> money(Lexer& lexer) {
  const std::size_t at = lexer.position();
  auto number = lexer.number();
  if (!number) return pass_on(number);
  const auto amount = parse_amount(number->spelling);
  if (!amount) {
    return lexer.error(at, fmt::format("'{}' is not an amount", printable(number->spelling, 40)),
                       "an amount has at most six digits behind the point, and no exponent",
                       "e.g. cost <= 1.00 USD");
  }
  const std::string currency(lexer.peek_word());
  if (!is_currency(currency))
    return lexer.expected("a currency such as USD",
                          fmt::format("e.g. cost <= {} USD", printable(number->spelling, 40)));
  std::ignore = lexer.take_word(currency);
  return ast::Price{number->spelling + " " + currency, {*amount, currency}};
}

Result<ast::Span> duration(Lexer& lexer) {
  const std::size_t at = lexer.position();
  auto text = lexer.atom("a duration such as 15m");
  if (!text) return pass_on(text);
  const auto value = parse_duration(*text);
  if (!value)
    return lexer.error(at, fmt::format("'{}' is not a duration", printable(*text, 40)), "",
                       "e.g. 30s, 15m or 1h");
  return ast::Span{std::move(*text), *value};
}

Result<ast::Moment> moment(Lexer& lexer) {
  const std::size_t at = lexer.position();
  auto text = lexer.atom("a time such as 2026-06-01T12:00:00Z");
  if (!text) return pass_on(text);
  const auto value = parse_rfc3339(*text);
  if (!value) {
    return lexer.error(at, fmt::format("'{}' is not a time", printable(*text, 40)),
                       "times are written as in RFC 3339, with a zone",
                       "e.g. 2026-06-01T12:00:00Z");
  }
  return ast::Moment{std::move(*text), *value};
}

Result<std::string> audit_level(Lexer& lexer) {
  for (const char* level : {"meta", "hash", "args"}) {
    if (lexer.take_word(level)) return std::string(level);
  }
  return lexer.expected("meta, hash or args", "e.g. audit hash");
}

Result<void> bytes(Lexer& lexer, std::size_t at, ast::Clauses& clauses) {
  const bool in = lexer.take_word("in");
  if (!in && !lexer.take_word("out"))
    return lexer.expected("'in' or 'out' after 'bytes'", "bytes in <= 10MB, or bytes out <= 64KB");
  if (auto sign = at_most(lexer); !sign) return sign;
  return once(lexer, at, in ? "bytes in" : "bytes out", in ? clauses.bytes_in : clauses.bytes_out,
              size(lexer));
}

Result<void> limited(Lexer& lexer, std::size_t at, std::string_view word, ast::Clauses& clauses) {
  if (auto sign = at_most(lexer); !sign) return sign;
  if (word == "calls") {
    if (!lexer.sees_number()) return lexer.expected("a number", "e.g. calls <= 3");
    if (auto done = once(lexer, at, word, clauses.calls, count(lexer)); !done) return done;
    if (!lexer.sees("/")) return {};
    std::ignore = lexer.take("/");
    const auto unit = unit_for(lexer.peek_word());
    return lexer.error(
        at, "'calls' counts those of the whole run", "a rate is a clause of its own",
        fmt::format("write rate {}/{}", *clauses.calls, unit.empty() ? "min" : unit));
  }
  return once(lexer, at, word, clauses.cost, money(lexer));
}

Result<void> otherwise(Lexer& lexer, std::size_t at, ast::Clauses& clauses) {
  if (clauses.otherwise) {
    return lexer.error(at, "the clause 'otherwise' stands twice in one rule", "",
                       "keep one of them");
  }
  clauses.otherwise = true;
  return {};
}

Result<bool> clause(Lexer& lexer, ast::Clauses& clauses) {
  const std::size_t at = lexer.position();
  Result<void> done;
  if (lexer.take_word("calls")) {
    done = limited(lexer, at, "calls", clauses);
  } else if (lexer.take_word("cost")) {
    done = limited(lexer, at, "cost", clauses);
  } else if (lexer.take_word("rate")) {
    done = once(lexer, at, "rate", clauses.rate, rate(lexer));
  } else if (lexer.take_word("bytes")) {
    done = bytes(lexer, at, clauses);
  } else if (lexer.take_word("for")) {
    done = once(lexer, at, "for", clauses.duration, duration(lexer));
  } else if (lexer.take_word("until")) {
    done = once(lexer, at, "until", clauses.until, moment(lexer));
  } else if (lexer.take_word("audit")) {
    done = once(lexer, at, "audit", clauses.audit, audit_level(lexer));
  } else if (lexer.take_word("because")) {
    done = once(lexer, at, "because", clauses.because, lexer.string());
  } else if (lexer.take_word("otherwise")) {
    done = otherwise(lexer, at, clauses);
  } else {
    return false;
  }
  if (!done) return pass_on(done);
  return true;
}

}  // namespace

Result<ast::Clauses> clauses(Lexer& lexer) {
  ast::Clauses clauses;
  while (true) {
    auto more = clause(lexer, clauses);
    if (!more) return pass_on(more);
    if (!*more) return clauses;
  }
}

}  // namespace mcpac::policy::detail
