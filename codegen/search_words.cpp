#include "codegen/search_words.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/ascii.h"

namespace mcpac::codegen {
namespace {

constexpr std::size_t kMaxQueryWords = 32;
constexpr std::size_t kMaxQueryBytes = 4096;
constexpr std::size_t kMaxJoined = 12;  // parts of a name

bool is_beyond_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}
bool is_of_word(char c) {
  return is_upper(c) || is_lower(c) || is_digit(c) || is_beyond_ascii(c);
}

// Bytes of the sign at the start of `text` if it is one of a script without spaces (U+2E80 to
// U+9FFF, U+AC00 to U+D7AF, U+F900 to U+FAFF), else 0. Invalid UTF-8 is not for us to find: the
// tokenizer copes with it.
std::size_t sign_length(std::string_view text) {
  if (text.size() < 3) return 0;
  const auto a = static_cast<unsigned char>(text[0]);
  const auto b = static_cast<unsigned char>(text[1]);
  const bool han = (a == 0xE2 && b >= 0xBA) || (a >= 0xE3 && a <= 0xE9);
  const bool hangul =
      a >= 0xEA && a <= 0xED && !(a == 0xEA && b < 0xB0) && !(a == 0xED && b > 0x9E);
  const bool compatibility = a == 0xEF && (b >= 0xA4 && b <= 0xAB);
  return han || hangul || compatibility ? 3 : 0;
}

// Whether a new word begins at `at` within a run of letters: "get|Url", "HTTP|Server", "v1|App".
bool is_hump(std::string_view run, std::size_t at) {
  if (at == 0 || !is_upper(run[at])) return false;
  if (is_lower(run[at - 1]) || is_digit(run[at - 1])) return true;
  return is_upper(run[at - 1]) && at + 1 < run.size() && is_lower(run[at + 1]);
}

// Calls `use` for the parts of a run of letters without anything between them.
template <class Use>
void for_each_part(std::string_view run, Use use) {
  std::size_t begin = 0;
  const auto close = [&](std::size_t end) {
    if (end > begin) use(run.substr(begin, end - begin));
  };
  for (std::size_t i = 0; i < run.size();) {
    if (const std::size_t sign = sign_length(run.substr(i)); sign > 0) {
      close(i);
      use(run.substr(i, sign));
      i += sign;
      begin = i;
    } else {
      if (i > begin && is_hump(run, i)) {
        close(i);
        begin = i;
      }
      ++i;
    }
  }
  close(run.size());
}

template <class Use>
void for_each_run(std::string_view text, Use use) {
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_of_word(text[end])) ++end;
    if (end > i) use(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

bool says_nothing(const std::string& word) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"a",    "an",     "and",  "are",      "as",   "at",    "be",    "between", "by",
       "can",  "do",     "does", "for",      "from", "have",  "how",   "i",       "in",
       "into", "is",     "it",   "its",      "me",   "my",    "of",    "on",      "or",
       "our",  "please", "some", "somebody", "that", "the",   "their", "them",    "these",
       "this", "to",     "want", "we",       "what", "which", "with",  "you",     "your"});
  return std::ranges::find(kWords, word) != kWords.end();
}

}  // namespace

std::string index_text(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for_each_run(text, [&](std::string_view run) {
    for_each_part(run, [&](std::string_view part) { out.append(part).append(" "); });
  });
  return out;
}

std::string joined_names(std::string_view name) {
  std::vector<std::string_view> parts;
  for_each_run(name, [&](std::string_view run) {
    for_each_part(run, [&](std::string_view part) { parts.push_back(part); });
  });
  std::string out;
  std::string whole;
  for (std::size_t i = 0; i < parts.size() && i < kMaxJoined; ++i) {
    whole += parts[i];
    if (i > 0) out.append(parts[i - 1]).append(parts[i]).append(" ");
  }
  return parts.size() > 2 ? out + whole : out;
}

std::vector<std::string> query_words(std::string_view question) {
  std::vector<std::string> all;
  for_each_run(question.substr(0, kMaxQueryBytes), [&](std::string_view run) {
    bool phrase = false;  // signs without spaces stay together
    for_each_part(run, [&](std::string_view part) {
      const bool sign = sign_length(part) > 0;
      if (phrase && sign) {
        all.back().append(" ").append(part);
      } else {
        all.push_back(lower(std::string(part)));
      }
      phrase = sign;
    });
  });
  std::vector<std::string> words;
  for (const std::string& word : all) {
    if (!says_nothing(word) && std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  if (words.empty()) words = std::move(all);
  if (words.size() > kMaxQueryWords) words.resize(kMaxQueryWords);
  return words;
}

std::span<const std::string_view> other_words(std::string_view word) {
  // Groups of words that people use for one thing when they speak of tools. The stem decides, so
  // "pictures" is not needed beside "picture".
  using Group = std::array<std::string_view, 6>;
  static constexpr auto kGroups = std::to_array<Group>({
      {"create", "add", "new", "make", "insert", "generate"},
      {"delete", "remove", "drop", "erase", "uninstall", "clear"},
      {"update", "edit", "change", "modify", "set", "patch"},
      {"get", "show", "read", "fetch", "retrieve", "view"},
      {"find", "search", "query", "lookup", "locate", "discover"},
      {"send", "post", "publish", "submit"},
      {"run", "execute", "start", "launch", "trigger", "invoke"},
      {"stop", "cancel", "terminate", "kill", "abort", "close"},
      {"buy", "purchase", "order"},
      {"rename", "move"},
      {"copy", "duplicate", "clone", "fork"},
      {"download", "export", "fetch"},
      {"upload", "import", "attach"},
      {"connect", "link", "relate", "relation"},
      {"folder", "directory"},
      {"image", "picture", "photo", "screenshot"},
      {"ticket", "issue", "bug", "task", "story"},
      {"repo", "repository"},
      {"message", "chat", "notification"},
      {"person", "people", "user", "member"},
      {"powerpoint", "presentation", "slide", "deck"},
      {"spreadsheet", "excel", "sheet"},
      {"chart", "graph", "plot", "diagram", "draw"},
      {"website", "webpage", "page", "url", "site"},
      {"db", "database"},
      {"directions", "route", "navigation"},
      {"logs", "log", "output"},
      {"count", "number", "total"},
      {"sum", "add", "total"},
      {"price", "cost", "quote"},
      {"error", "exception", "failure", "problem"},
      {"config", "configuration", "settings"},
      {"doc", "docs", "document", "documentation"},
      {"pr", "pull", "merge"},
      {"env", "environment"},
      {"info", "information", "details", "metadata"},
  });
  const auto length = [](const Group& group) {
    return static_cast<std::size_t>(std::ranges::find(group, "") - group.begin());
  };
  for (const Group& group : kGroups) {
    if (!word.empty() && std::ranges::find(group, word) != group.end())
      return {group.data(), length(group)};
  }
  return {};
}

}  // namespace mcpac::codegen
