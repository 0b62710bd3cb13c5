// SPDX-License-Identifier: Apache-2.0

#include "policy/match/parameter_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/ascii.h"

namespace mcpac::policy {
namespace {

// Each also in the plural.
constexpr std::array<std::string_view, 13> kPathWords = {
    "path",        "file",   "filename", "filepath", "pathname", "dir",     "directory",
    "directories", "folder", "dirname",  "cwd",      "workdir",  "basepath"};
constexpr std::array<std::string_view, 5> kUrlWords = {"url", "uri", "href", "link", "endpoint"};
constexpr std::array<std::string_view, 19> kMaybeWords = {
    "source", "destination", "src",      "dst",          "dest",    "target", "root",
    "repo",   "repository",  "location", "workspace",    "project", "output", "input",
    "entry",  "mount",       "archive",  "repositories", "entries"};
constexpr std::array<std::string_view, 8> kCommandWords = {
    "command", "cmd", "commandline", "shell", "bash", "script", "argv", "arg"};
constexpr std::array<std::string_view, 22> kTextWords = {
    "separator", "delimiter", "sep",     "delim",       "content",     "body", "text", "message",
    "title",     "subject",   "summary", "description", "comment",     "note", "html", "markdown",
    "label",     "caption",   "thought", "replacement", "observation", "fact"};
// Of what is looked for, each by itself: "patterns" are globs of what is read more often.
constexpr std::array<std::string_view, 3> kPatternWords = {"pattern", "regex", "regexp"};
constexpr std::array<std::string_view, 3> kQueryWords = {"query", "queries", "search"};
constexpr std::array<std::string_view, 5> kExcludeWords = {"exclude", "excluded", "excluding",
                                                           "ignore", "ignored"};
// What a person or a model is asked or told.
constexpr std::array<std::string_view, 7> kProseWords = {
    "prompt", "question", "instruction", "reason", "explanation", "answer", "prose"};
// Of the words that may be places those that are as often data: an empty one is no folder.
constexpr std::array<std::string_view, 3> kDataWords = {"input", "entry", "entries"};
// Beginnings of a description that are looked at.
constexpr std::size_t kLongestDescription = 1'000;

bool is_one_of(std::string_view word, const auto& words) {
  return std::ranges::find(words, word) != words.end();
}

// Or its plural is.
bool is_any_of(std::string_view word, const auto& words) {
  return is_one_of(word, words) ||
         (word.ends_with('s') && is_one_of(word.substr(0, word.size() - 1), words));
}

ParameterKind kind_of(const std::vector<std::string>& words) {
  for (const auto& word : words) {
    if (is_any_of(word, kUrlWords) || word.ends_with("url")) return ParameterKind::kUrl;
    const bool is_other_path = word == "xpath" || word == "jsonpath";
    if (is_any_of(word, kPathWords) || (word.ends_with("path") && !is_other_path))
      return ParameterKind::kPath;
  }
  return ParameterKind::kNone;
}

// "exclude", "ignorePatterns", "exclude_dirs"; an "excludeFile" is read.
bool is_excluding(const std::vector<std::string>& words) {
  if (!std::ranges::any_of(words, [](const auto& w) { return is_any_of(w, kExcludeWords); }))
    return false;
  const std::string& last = words.back();
  constexpr std::array<std::string_view, 4> kPatterns = {"pattern", "glob", "regex", "regexp"};
  return is_any_of(last, kExcludeWords) || is_any_of(last, kPatterns) ||
         (last.ends_with('s') && is_any_of(last, kPathWords));
}

ParameterKind formatted(const std::string& format) {
  constexpr std::array<std::string_view, 3> kPaths = {"path", "file-path", "directory-path"};
  constexpr std::array<std::string_view, 6> kUrls = {"uri", "url",           "uri-reference",
                                                     "iri", "iri-reference", "multi-host-uri"};
  if (is_one_of(format, kPaths)) return ParameterKind::kPath;
  return is_one_of(format, kUrls) ? ParameterKind::kUrl : ParameterKind::kNone;
}

// The first noun of a description: "The absolute path of …", "File to read". "JSON path" and the
// file that a content is for are further on, or no place. Empty where it has none.
std::string first_noun(std::string_view description) {
  constexpr std::array<std::string_view, 24> kBefore = {
      "the",    "a",      "an",     "optional",    "absolute", "relative", "full",     "local",
      "target", "source", "output", "destination", "input",    "of",       "list",     "array",
      "new",    "valid",  "base",   "existing",    "resolved", "to",       "complete", "one"};
  constexpr std::size_t kMostWords = 8;
  for (auto& word : words_of(description, kMostWords)) {
    if (!is_one_of(word, kBefore)) return std::move(word);
  }
  return {};
}

// Borrowed from the schema; empty where it has none.
std::string_view member_text(const Json& schema, std::string_view name) {
  const Json* text = find_member(schema, name);
  return text == nullptr || !text->is_string()
             ? std::string_view()
             : std::string_view(text->get_ref<const std::string&>());
}

bool has_format_of_places(const Json& schema) {
  const auto text = member_text(schema, "format");
  constexpr std::size_t kLongestFormat = 64;
  if (text.empty() || text.size() > kLongestFormat) return false;
  const std::string format = lowered(text);
  return format.contains("uri") || format.contains("path") || format.contains("iri") ||
         format.contains("url");
}

// Word by word, without a copy: rules ask for it call by call.
bool describes_places(const Json& schema) {
  constexpr std::array<std::string_view, 6> kPlaces = {"path",        "paths",  "directory",
                                                       "directories", "folder", "folders"};
  const auto text = member_text(schema, "description").substr(0, kLongestDescription);
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool goes_on = i < text.size() && is_letter(text[i]);
    const bool is_hump = goes_on && i > begin && is_upper(text[i]) && !is_upper(text[i - 1]);
    if (goes_on && !is_hump) continue;
    const auto word = text.substr(begin, i - begin);
    const bool is_place = std::ranges::any_of(kPlaces, [&](std::string_view place) {
      return std::ranges::equal(word, place, {}, to_lower);
    });
    if (is_place) return true;
    begin = is_hump ? i : i + 1;
  }
  return false;
}

}  // namespace

std::vector<std::string> words_of(std::string_view name, std::size_t most) {
  std::vector<std::string> words;
  bool goes_on = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool begins = is_upper(c) && i > 0 && !is_upper(name[i - 1]);
    if (!is_letter(c)) {
      goes_on = false;
      continue;
    }
    if (!goes_on || begins) {
      if (words.size() == most) break;
      words.emplace_back();
    }
    words.back() += to_lower(c);
    goes_on = true;
  }
  return words;
}

MeantAs meaning_by_name(std::string_view name) {
  const auto words = words_of(name);
  if (words.empty()) return MeantAs::kUnknown;
  const std::string& word = words.back();
  if (is_excluding(words)) return MeantAs::kExcluded;
  if (is_one_of(word, kPatternWords)) return MeantAs::kPattern;
  if (is_one_of(word, kQueryWords)) return MeantAs::kQuery;
  if (is_any_of(word, kTextWords)) return MeantAs::kText;
  if (is_any_of(word, kProseWords)) return MeantAs::kProse;
  // "old_string", "newStr": of an edit.
  const bool is_edit = words.size() == 2 && (words[0] == "old" || words[0] == "new");
  if (is_edit && (word == "string" || word == "str")) return MeantAs::kText;
  if (is_any_of(word, kCommandWords)) return MeantAs::kCommand;
  const bool may_be = is_any_of(word, kMaybeWords) && !is_one_of(word, kDataWords);
  const bool is_place = kind_of({word}) == ParameterKind::kPath || may_be;
  return is_place ? MeantAs::kPlace : MeantAs::kUnknown;
}

MeantAs meaning_of_member(std::string_view name, const Json* schema) {
  if (schema != nullptr && schema->is_object() && has_format_of_places(*schema))
    return MeantAs::kPlace;
  const MeantAs by_name = meaning_by_name(name);
  const bool is_known = by_name != MeantAs::kUnknown && by_name != MeantAs::kQuery;
  if (is_known || schema == nullptr || !schema->is_object()) return by_name;
  if (describes_places(*schema)) return MeantAs::kPlace;
  const auto description = member_text(*schema, "description").substr(0, kLongestDescription);
  if (by_name == MeantAs::kQuery || description.empty()) return by_name;
  const std::string noun = first_noun(description);
  if (noun == "regular" || noun == "regex" || noun == "regexp") return MeantAs::kQuery;
  return is_any_of(noun, kProseWords) ? MeantAs::kProse : MeantAs::kUnknown;
}

MeantAs meaning_of_unnamed(std::string_view name) {
  if (place_named(name) == ParameterKind::kPath) return MeantAs::kPlace;
  const MeantAs by_name = meaning_by_name(name);
  return by_name == MeantAs::kCommand ? by_name : MeantAs::kUnknown;
}

ParameterKind place_named(std::string_view parameter) {
  const auto words = words_of(parameter);
  // A "file_url" is a URL, a "path_count" is none.
  if (words.empty()) return ParameterKind::kNone;
  return kind_of({words.back()});
}

ParameterKind place_described(const Json& schema) {
  if (!schema.is_object()) return ParameterKind::kNone;
  if (const auto kind = formatted(string_member(schema, "format")); kind != ParameterKind::kNone)
    return kind;
  if (const auto kind = kind_of({first_noun(string_member(schema, "description"))});
      kind != ParameterKind::kNone)
    return kind;
  const Json* items = find_member(schema, "items");
  return items == nullptr ? ParameterKind::kNone : place_described(*items);
}

bool may_name_place(std::string_view parameter) {
  const auto words = words_of(parameter);
  return !words.empty() && is_any_of(words.back(), kMaybeWords);
}

}  // namespace mcpac::policy
