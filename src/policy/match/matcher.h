// SPDX-License-Identifier: Apache-2.0

// Matcher: one test of one argument, compiled. A file each: scalars, texts, paths, URLs.
//
// A test is read in two ways. An allow admits what certainly passes; a deny or ask catches what may
// pass: a value of the wrong type or one that the test cannot read is not admitted, and is caught.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/permission.h"
#include "policy/text/ast.h"

namespace mcpac::policy {

enum class Outcome : std::uint8_t { kPass, kFail, kWrongType, kUnreadable };
enum class Reading : std::uint8_t { kAdmit, kCatch };

class CallStarts;
class KnownReadings;

// What a string is by the name and description that the schema gives the place where it stands, or
// by the rule that tests it.
enum class MeantAs : std::uint8_t {
  kUnknown,
  kPlace,     // a path or URI: an empty one is the folder that a server starts from
  kCommand,   // what a shell or program reads: each word may be a place
  kText,      // prose, separators: no folder that a tool walks
  kPattern,   // an expression or glob of what is looked for: no place, and none of a shell
  kQuery,     // the same, or a command of a database, which may name files
  kExcluded,  // globs of what is left out
  kProse,     // what is asked or told: short texts are searched for places
  kDocument,  // a member of a JSON object in a text, whatever the text is for
  kNamed,     // whatever its name says: a rule names the argument and tests it as a path
};
// No folder that is named there is walked, and no name without a slash is a place.
[[nodiscard]] constexpr bool is_text(MeantAs meant) {
  return meant == MeantAs::kText || meant == MeantAs::kProse || meant == MeantAs::kDocument ||
         meant == MeantAs::kPattern || meant == MeantAs::kExcluded;
}
// Where a text of many words is a sentence, whatever it begins with.
[[nodiscard]] constexpr bool is_for_prose(MeantAs meant) {
  return meant == MeantAs::kText || meant == MeantAs::kProse || meant == MeantAs::kPattern ||
         meant == MeantAs::kExcluded;
}
// Where "*", "?" and brackets are not those of a shell.
[[nodiscard]] constexpr bool is_pattern(MeantAs meant) {
  return meant == MeantAs::kPattern || meant == MeantAs::kQuery || meant == MeantAs::kExcluded;
}

// What a test may know of the call that it looks into.
struct CallView {
  const std::string& server;
  Reading reading = Reading::kAdmit;
  // "*": a string found anywhere, not declared to be a path or a URL.
  bool any_string = false;
  // What the text alone says, as if no link lay below any base: comparisons of policies.
  bool lexical = false;
  // What is left for expressions in this reading of the call, over all its strings; null: each
  // string has what one may cost (kMaxRegexWork).
  std::size_t* regex_work = nullptr;
  // The tool, where it is known: some act on one entry alone (Bases::entry_only).
  const Permission* tool = nullptr;
  // With `lexical`: whether a path is taken for a folder that exists, which the text does not say.
  bool takes_for_folders = true;
  // Found readings of the call's values (readings.h); null: each test finds its own.
  KnownReadings* readings = nullptr;
  // A reading out of a JSON object in a text: a document more likely than arguments.
  bool in_document = false;
  // Of any string: what its place is for.
  MeantAs meant = MeantAs::kUnknown;
  // Of any string: "/", which the schema has for this member where a call leaves it out.
  bool is_root_by_default = false;
  // Folders that arguments of the call name, for what is relative in it; null: none.
  const CallStarts* starts = nullptr;
  // Of any string: it stands in an argument that the rule names.
  bool is_named = false;
};

// What one expression may cost in memory.
constexpr std::int64_t kMaxRegexMemory = std::int64_t{1} << 20;
// What expressions may cost in time: their instructions times the bytes of the text. RE2 is linear
// in both, and where its automaton does not fit into memory it does take that long: some 2 ns each,
// so a tenth of a second. A plain expression reads megabytes within it.
constexpr std::size_t kMaxRegexWork = std::size_t{1} << 26;

// A set of JSON types, as bits.
using Types = std::uint8_t;
constexpr Types kNullType = 1;
constexpr Types kBooleanType = 2;
constexpr Types kNumberType = 4;
constexpr Types kStringType = 8;
constexpr Types kArrayType = 16;
constexpr Types kObjectType = 32;
constexpr Types kAllTypes = 63;
[[nodiscard]] Types type_of(const Json& value);
[[nodiscard]] std::string to_string(Types types);  // "a string or null"

class Matcher {
 public:
  virtual ~Matcher() = default;
  [[nodiscard]] virtual Outcome match(const Json& value, const CallView& call) const = 0;
  // Whether the answer for this value hangs on the file system: then match() tells of now only.
  [[nodiscard]] virtual bool asks_file_system(const Json&, const CallView&) const { return false; }
  // The other reading of a value (readings.h), or the item of a list, that decides where the value
  // itself would pass; nothing: there is none.
  [[nodiscard]] virtual std::optional<Json> taken_for(const Json&, const CallView&) const {
    return std::nullopt;
  }
  // Where the outcome has another reason than the test says, that reason, as it goes on behind the
  // value: "contains the denied ~/.ssh". It may ask the file system again. Mostly empty.
  [[nodiscard]] virtual std::string remark(const Json&, const CallView&) const { return {}; }
  // Every other type is a wrong one.
  [[nodiscard]] virtual Types types() const = 0;
};
using MatcherPtr = std::unique_ptr<const Matcher>;

// A matcher, or what is wrong with the text at one place.
struct Complaint {
  ast::Offset at = 0;
  ErrorId id = ErrorId::kRuleIneffective;
  std::string what;
  std::string why;
  std::string fix;
};
template <class T>
using Checked = std::expected<T, Complaint>;
[[nodiscard]] inline std::unexpected<Complaint> complain(ErrorId id, ast::Offset at,
                                                         std::string what, std::string why,
                                                         std::string fix = "") {
  return std::unexpected(Complaint{at, id, std::move(what), std::move(why), std::move(fix)});
}
[[nodiscard]] inline std::unexpected<Complaint> complain(ast::Offset at, std::string what,
                                                         std::string why, std::string fix = "") {
  return complain(ErrorId::kRuleIneffective, at, std::move(what), std::move(why), std::move(fix));
}

// What the compilation of paths needs to know of the world.
struct World;

[[nodiscard]] Checked<MatcherPtr> compile_scalar(const ast::Test& test);
// `effect`: the dot of an expression matches a line feed in a deny and an ask, as with "(?s)" in
// front of it; in an allow as RE2 has it.
[[nodiscard]] Checked<MatcherPtr> compile_text(const ast::Test& test, const ast::TextTest& text,
                                               Effect effect);
// Of a rule that reads the argument as a URL as well. In a deny or ask: what tests of its text say
// of one whose path servers read in several ways (match/url.h) is not known, so it is caught. In an
// allow: each URL of a list has to pass.
[[nodiscard]] MatcherPtr in_url(MatcherPtr test);
[[nodiscard]] Checked<MatcherPtr> compile_count(const ast::Test& test, const ast::CountTest& count);
[[nodiscard]] MatcherPtr compile_one_line();
// Line ends: for all readers, and for some (UAX #14, BK and NL; Python's splitlines). A text with
// one of these is not certainly one line, and one without the first two may be one.
inline constexpr std::u32string_view kSureLineBreaks = U"\r\n";
inline constexpr std::u32string_view kLineBreaks = U"\r\n\v\f\u001c\u001d\u001e\u0085\u2028\u2029";
// `meant`: kCommand or kNamed, of an argument with a name.
[[nodiscard]] Checked<MatcherPtr> compile_path(const ast::Test& test, const ast::PathTest& path,
                                               const std::vector<ast::Exception>& exceptions,
                                               MeantAs meant, const World& world);
// All URL tests of one argument together: whether a port must be the default one depends on all.
[[nodiscard]] Checked<MatcherPtr> compile_url(const std::vector<ast::Test>& tests,
                                              const std::vector<ast::Exception>& exceptions);
// Passes what equals none of the literals and lies in none of the ranges; with `globs`, strings are
// globs, as the `like` that they belong to.
enum class StringsAre : std::uint8_t { kTexts, kGlobs };
[[nodiscard]] Checked<MatcherPtr> compile_exclusion(const std::vector<ast::Exception>& exceptions,
                                                    StringsAre strings);

[[nodiscard]] bool is_url_test(const ast::Test& test);
// One of the tests of an argument that compares its text, beside one that reads it as a URL.
[[nodiscard]] bool is_text_in_url(const ast::Test& test, const std::vector<ast::Test>& all);

}  // namespace mcpac::policy
