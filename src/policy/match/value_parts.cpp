// SPDX-License-Identifier: Apache-2.0

#include "policy/match/value_parts.h"

#include <unictype.h>
#include <unistr.h>

#include <algorithm>
#include <array>

#include "core/ascii.h"
#include "core/characters.h"
#include "core/uri_spelling.h"
#include "policy/match/path_value.h"

namespace mcpac::policy {
namespace {

// White space, control bytes, and what no screen shows.
bool is_unseen(char32_t c) {
  return c == ' ' || is_invisible(c);
}

// Quotation marks and angle brackets of all scripts, as they stand around paths and URLs in prose.
bool is_quote(ucs4_t c) {
  constexpr ucs4_t kAngles[] = {'<', '>', '`', 0x2329, 0x232A, 0x27E8, 0x27E9, 0x3008, 0x3009};
  return uc_is_property_quotation_mark(c) || std::ranges::find(kAngles, c) != std::end(kAngles);
}

// What stands between two items, by how surely.
enum class Mark : std::uint8_t { kNone, kBlank, kList };

// Commas, semicolons and bars of Arabic, CJK and small and full-width forms.
bool is_wide_mark(char32_t c) {
  constexpr std::u32string_view kMarks =
      U"\u060c\u061b\u3001\ufe10\ufe11\ufe14\ufe50\ufe51\ufe54"
      U"\uff0c\uff1b\uff5c\uff64";
  return kMarks.contains(c);
}

// What a function of some language splits a text at (Python's str.split, JavaScript's \s). No
// joiner or variation selector: these end the names of many folders.
bool is_gap(char32_t c) {
  return c == ' ' || c == 0x85 || c == 0xFEFF || c == 0x2028 || c == 0x2029 || is_wide_blank(c);
}

Mark mark_of(char32_t c) {
  if (c == ',' || c == ';' || c == '|' || (c < 0x20) || is_wide_mark(c)) return Mark::kList;
  const bool is_open = c < 0x80 && std::string_view("&([{<>`").contains(static_cast<char>(c));
  return is_open || is_gap(c) ? Mark::kBlank : Mark::kNone;
}

// Brackets and quotes that a list may begin with.
std::string_view without_openers(std::string_view text) {
  for (;;) {
    const auto before = text.size();
    text = peeled(text, Peel::kQuotes);
    while (!text.empty() && std::string_view("([{").contains(text.front())) text.remove_prefix(1);
    if (text.size() == before) return text;
  }
}

bool begins_with_variable_or_home(std::string_view text) {
  if (begins_with_home(text)) return true;
  if (text.size() < 2) return false;
  if (text[0] == '$')
    return is_upper(text[1]) || text[1] == '{' || text[1] == '(' ||
           lowered(text.substr(0, 5)) == "$env:";
  const auto close = text[0] == '%' ? text.find('%', 1) : std::string_view::npos;
  return close != std::string_view::npos && close > 1 && !is_digit(text[1]) &&
         std::ranges::all_of(text.substr(1, close - 1), is_word);
}

void add_within(std::string_view text, std::vector<ListItem>& into) {
  const auto add = [&](std::string_view part) {
    part = without_openers(part);
    if (!part.empty()) into.push_back({part, true});
  };
  if (text.size() > 2 && text[0] == '-' && is_letter(text[1])) add(text.substr(2));
  if (const auto behind = text.find_first_not_of('@'); behind > 0 && behind != text.npos)
    add(text.substr(behind));
  // "key=/x", "--key=/x": what stands in front of the last "=" of a key is none of a path.
  const auto key =
      std::ranges::find_if_not(text, [](char c) { return is_bare(c) || c == '.' || c == '='; });
  const auto equals = text.substr(0, static_cast<std::size_t>(key - text.begin())).rfind('=');
  if (equals != text.npos) add(text.substr(equals + 1));
  std::size_t begin = 0;
  for (auto colon = text.find(':'); colon != text.npos; colon = text.find(':', begin)) {
    add(text.substr(begin, colon - begin));
    begin = colon + 1;
  }
  if (begin > 0) add(text.substr(begin));
}

}  // namespace

std::string_view peeled(std::string_view text, Peel peel) {
  const auto goes = [peel](ucs4_t c) {
    return is_unseen(c) || (peel == Peel::kQuotes && is_quote(c));
  };
  const auto* begin = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto* end = begin + text.size();
  ucs4_t c = 0;
  while (begin < end) {
    const int length = u8_mbtouc(&c, begin, static_cast<std::size_t>(end - begin));
    if (!goes(c)) break;
    begin += length;
  }
  while (begin < end) {
    const std::uint8_t* before = u8_prev(&c, end, begin);
    if (before == nullptr || !goes(c)) break;
    end = before;
  }
  return {reinterpret_cast<const char*>(begin), static_cast<std::size_t>(end - begin)};
}

bool may_be_list(std::string_view text) {
  static constexpr std::array<bool, 256> kPlain = [] {
    std::array<bool, 256> plain{};
    for (int byte = 0x21; byte < 0x7F; ++byte) {
      const char c = static_cast<char>(byte);
      plain[static_cast<std::size_t>(byte)] = !std::string_view(",;|&:=([{<>`").contains(c);
    }
    return plain;
  }();
  if (text.empty()) return false;
  // "@/x", "-f/x"
  const bool is_plain = std::string_view("@-\"'").find(text.front()) == text.npos;
  return !is_plain ||
         !std::ranges::all_of(text, [](char c) { return kPlain[static_cast<unsigned char>(c)]; });
}

namespace {

// Between marks that are `least` or more.
std::vector<ListItem> items_between(std::string_view text, Mark least) {
  std::vector<ListItem> items;
  std::size_t begin = 0;
  Mark before = Mark::kNone;
  const auto end_item = [&](std::size_t end, Mark behind) {
    const auto item = without_openers(text.substr(begin, end - begin));
    const bool is_listed = before == Mark::kList || behind == Mark::kList;
    // Nothing but blanks and quotes stands before the mark: "a ,b", "\"a \",b".
    if (!item.empty()) {
      items.push_back({item, is_listed});
    } else if (behind == Mark::kList && !items.empty()) {
      items.back().is_listed = true;
    }
    // ", " is a mark of lists, whichever comes last.
    before = item.empty() ? std::max(before, behind) : behind;
  };
  for (std::size_t at = 0; at < text.size();) {
    const Character character = first_character(text.substr(at));
    // "${x}" and "$(x)" are variables.
    const bool is_of_variable =
        at > begin && text[at - 1] == '$' && (text[at] == '{' || text[at] == '(');
    const Mark mark = is_of_variable ? Mark::kNone : mark_of(character.code);
    if (mark != Mark::kNone && mark >= least) {
      end_item(at, mark);
      begin = at + character.bytes;
    }
    at += character.bytes;
  }
  end_item(text.size(), Mark::kNone);
  return items;
}

}  // namespace

std::vector<ListItem> list_items(std::string_view text) {
  return items_between(text, Mark::kBlank);
}

std::vector<ListItem> path_items(std::string_view text) {
  std::vector<ListItem> items = list_items(text);
  // "a,my folder/x": a blank may be one of a name.
  for (const auto& item : items_between(text, Mark::kList)) {
    if (item.is_listed && list_items(item.text).size() > 1) items.push_back(item);
  }
  std::size_t next = 0;
  // "--paths=a:@/x": three times.
  for (int within = 0; within < 3; ++within) {
    for (const std::size_t last = items.size(); next < last; ++next) {
      add_within(items[next].text, items);
    }
  }
  return items;
}

Leaves leaves_its_start(std::string_view part) {
  if (part.empty()) return Leaves::kNot;
  if (part.front() == '/') return Leaves::kAsPath;
  if (part.front() == '\\' || begins_with_variable_or_home(part)) return Leaves::kUnclear;
  if (const auto scheme = scheme_length(part); scheme > 0) {
    const auto behind = part.substr(scheme + 1);
    if (behind.starts_with('/') || behind.starts_with('\\') ||
        lowered(part.substr(0, scheme)) == "file")
      return Leaves::kUnclear;
  }
  std::size_t depth = 0;
  for (std::string_view rest = part; !rest.empty();) {
    const auto slash = std::min(rest.find_first_of("/\\"), rest.size());
    const auto name = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      ++depth;
    } else if (depth-- == 0) {
      return Leaves::kAsPath;
    }
  }
  return Leaves::kNot;
}

std::string with_plain_marks(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const bool is_ascii = character.code < 0x80;
    if (!is_ascii && is_wide_mark(character.code)) {
      plain += ',';
    } else if (!is_ascii && is_gap(character.code)) {
      plain += ' ';
    } else {
      plain.append(text.substr(0, character.bytes));
    }
    text.remove_prefix(character.bytes);
  }
  return plain;
}

}  // namespace mcpac::policy
