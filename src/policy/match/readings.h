// SPDX-License-Identifier: Apache-2.0

// Readings of a value: values that a server may take it for, beside the literal one.
//
// A rule reads a value once; a server reads it again in its own way. It trims white space, takes
// quotes off, decodes JSON in a text (the official Python SDK), keeps a number as a double
// (JavaScript). An allow needs every reading to pass; a deny, an ask and an exception need one. So
// a value that is denied is denied in every such dress, and a value that is admitted is admitted
// whatever the server makes of it.
//
// What a reading is depends on the test: quotes and angle brackets are taken off places (paths and
// URLs) and, by a deny or ask, off any text; a text that an allow admits may well begin with "<".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "policy/match/matcher.h"
#include "policy/match/path_readings.h"
#include "policy/match/url.h"

namespace mcpac::policy {

// What a test speaks of.
enum class Subject : std::uint8_t {
  kText,
  kPlace,     // URLs
  kPath,      // a place that quotes and variables of a shell may spell as well
  kLiteral,   // equality: an allow admits what it names as it is written, and nothing else
  kExcluded,  // an inequality or an exception: one reading is enough to be excluded
  kLength,    // of the text itself: JSON in it is no reading
};

struct Readings {
  struct One {
    Json value;
    bool in_document = false;  // a member of a JSON object in the text, and not of a list
  };
  std::vector<One> others;  // without the value itself
  bool unreadable = false;  // too many, or texts in texts too deep
};

// Texts in texts that are followed, and readings that one value may have.
constexpr int kMaxTextDepth = 4;
constexpr std::size_t kMaxReadings = 10'000;

[[nodiscard]] Readings readings_of(const Json& value, Subject subject, Reading reading);

// The readings of the values of one call, found once for all rules. Borrows the values; one thread.
class KnownReadings {
 public:
  [[nodiscard]] const Readings& of(const Json& value, Subject subject, Reading reading);
  // `text` is a string, which is taken for nothing but itself.
  [[nodiscard]] const UrlReadings& urls_in(const Json& text, TextIs is);
  // The same; `home` is one for all rules.
  [[nodiscard]] const PathReadings& paths_in(const Json& text, std::string_view home,
                                             MeantAs meant);
  // meaning_of_member(), found once for each schema and name.
  [[nodiscard]] MeantAs meaning_of(std::string_view name, const Json* schema);
  [[nodiscard]] MeantAs meaning_of_unnamed(std::string_view name);

 private:
  // By address: few values have other readings, but a hostile call may have many.
  std::map<std::tuple<const Json*, Subject, Reading>, Readings> known_;
  std::map<std::pair<const Json*, TextIs>, UrlReadings> urls_;
  std::map<std::pair<const Json*, MeantAs>, PathReadings> paths_;
  std::map<std::pair<const Json*, std::string>, MeantAs> meanings_;
  std::map<std::string, MeantAs, std::less<>> unnamed_;
};

// The authorities in a text, known or found now and put into `own`. To a rule that names the
// argument each name is one, as in a command: it catches what a rule over "*" does.
[[nodiscard]] const UrlReadings& url_readings(const Json& text, const CallView& call,
                                              UrlReadings& own);

// The matcher, asked about every reading.
[[nodiscard]] MatcherPtr with_readings(MatcherPtr matcher, Subject subject);

}  // namespace mcpac::policy
