#include "policy/match/place_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/ascii.h"

namespace mcpac::policy {
namespace {

constexpr std::array<std::string_view, 20> kPathWords = {
    "path",      "paths",    "file",      "files", "filename", "filenames", "filepath",
    "filepaths", "pathname", "pathnames", "dir",   "dirs",     "directory", "directories",
    "folder",    "folders",  "dirname",   "cwd",   "workdir",  "basepath"};
constexpr std::array<std::string_view, 8> kUrlWords = {"url",  "urls", "uri",   "uris",
                                                       "href", "link", "links", "endpoint"};
constexpr std::array<std::string_view, 12> kMaybeWords = {
    "source", "sources", "destination", "destinations", "src",  "dst",
    "dest",   "target",  "targets",     "root",         "repo", "location"};

bool is_one_of(std::string_view word, const auto& words) {
  return std::ranges::find(words, word) != words.end();
}

// In small letters: parted where letters end, and before a capital that follows a small letter.
std::vector<std::string> words_in(std::string_view text, std::size_t most) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(lowered(word));
    word.clear();
  };
  for (std::size_t i = 0; i < text.size() && words.size() < most; ++i) {
    if (!is_letter(text[i]) || (is_upper(text[i]) && i > 0 && is_lower(text[i - 1]))) end_word();
    if (is_letter(text[i])) word += text[i];
  }
  end_word();
  return words;
}

ParameterKind kind_of(const std::vector<std::string>& words) {
  for (const auto& word : words) {
    if (is_one_of(word, kUrlWords) || word.ends_with("url")) return ParameterKind::kUrl;
    const bool is_other_path = word == "xpath" || word == "jsonpath";
    if (is_one_of(word, kPathWords) || (word.ends_with("path") && !is_other_path))
      return ParameterKind::kPath;
  }
  return ParameterKind::kNone;
}

ParameterKind formatted(const std::string& format) {
  constexpr std::array<std::string_view, 3> kPaths = {"path", "file-path", "directory-path"};
  constexpr std::array<std::string_view, 6> kUrls = {"uri", "url",           "uri-reference",
                                                     "iri", "iri-reference", "multi-host-uri"};
  if (is_one_of(format, kPaths)) return ParameterKind::kPath;
  return is_one_of(format, kUrls) ? ParameterKind::kUrl : ParameterKind::kNone;
}

// What the first noun of a description is: "The absolute path of …", "File to read". "JSON path"
// and the file that a content is for are further on, or no place.
ParameterKind told_at_first(const std::string& description) {
  constexpr std::array<std::string_view, 24> kBefore = {
      "the",    "a",      "an",     "optional",    "absolute", "relative", "full",     "local",
      "target", "source", "output", "destination", "input",    "of",       "list",     "array",
      "new",    "valid",  "base",   "existing",    "resolved", "to",       "complete", "one"};
  constexpr std::size_t kMostWords = 8;
  for (const auto& word : words_in(description, kMostWords)) {
    if (is_one_of(word, kBefore)) continue;
    return kind_of({word});
  }
  return ParameterKind::kNone;
}

}  // namespace

ParameterKind place_named(std::string_view parameter) {
  constexpr std::size_t kMostWords = 16;
  const auto words = words_in(parameter, kMostWords);
  // What the name ends with says what it is: a "file_url" is a URL, a "path_count" is none.
  if (words.empty()) return ParameterKind::kNone;
  return kind_of({words.back()});
}

ParameterKind place_described(const Json& schema) {
  if (!schema.is_object()) return ParameterKind::kNone;
  if (const auto kind = formatted(string_member(schema, "format")); kind != ParameterKind::kNone)
    return kind;
  if (const auto kind = told_at_first(string_member(schema, "description"));
      kind != ParameterKind::kNone)
    return kind;
  const Json* items = find_member(schema, "items");
  return items == nullptr ? ParameterKind::kNone : place_described(*items);
}

bool may_name_place(std::string_view parameter) {
  constexpr std::size_t kMostWords = 16;
  const auto words = words_in(parameter, kMostWords);
  return !words.empty() && is_one_of(words.back(), kMaybeWords);
}

}  // namespace mcpac::policy
