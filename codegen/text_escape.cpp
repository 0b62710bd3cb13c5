// SPDX-License-Identifier: Apache-2.0

#include "codegen/text_escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/characters.h"

namespace mcpac::codegen {
namespace {

constexpr char32_t kReplacement = Character::kBroken;

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

void append_visible(std::string& out, std::string_view bytes, char32_t code, bool hidden) {
  if (code == kReplacement) {
    out += "\xEF\xBF\xBD";
  } else if (hidden) {
    out += fmt::format("<U+{:04X}>", static_cast<std::uint32_t>(code));
  } else {
    out += bytes;
  }
}

// Pulls apart what a comment or a preprocessor could act on: */ /* ?? and a backslash that ends a
// line.
std::string defuse(std::string_view line) {
  std::string out;
  for (const char c : line) {
    const char before = out.empty() ? '\0' : out.back();
    if ((before == '*' && c == '/') || (before == '/' && c == '*') || (before == '?' && c == '?'))
      out += ' ';
    out += c;
  }
  while (out.ends_with(' ')) out.pop_back();
  if (out.ends_with('\\')) out += " .";
  return out;
}

void wrap(std::string_view line, std::size_t width, std::vector<std::string>& lines) {
  while (line.size() > width) {
    auto at = line.rfind(' ', width);
    if (at == std::string_view::npos || at < width / 2) at = line.find(' ', width);
    if (at == std::string_view::npos) break;
    lines.push_back(defuse(line.substr(0, at)));
    line.remove_prefix(at + 1);
  }
  lines.push_back(defuse(line));
}

// `is_prose`: what joins emoji and letters stays.
std::vector<std::string> visible_lines(std::string_view text, bool is_prose) {
  std::vector<std::string> lines(1);
  for_each_in_prose(text, [&](Character now, std::string_view piece, bool hidden) {
    if (now.code == '\n') {
      lines.emplace_back();
    } else if (now.code == '\t') {
      lines.back() += "  ";
    } else if (now.code != '\r') {
      append_visible(lines.back(), piece, now.code, is_prose ? hidden : is_invisible(now.code));
    }
  });
  return lines;
}

std::string on_one_line(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) {
    if (!all.empty()) all += ' ';
    all += line;
  }
  return all;
}

}  // namespace

std::string safe_line(std::string_view text) {
  return defuse(on_one_line(visible_lines(text, false)));
}

std::string safe_prose(std::string_view text) {
  return defuse(on_one_line(visible_lines(text, true)));
}

std::vector<std::string> safe_lines(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& line : visible_lines(text, true)) wrap(line, width, lines);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  lines.erase(lines.begin(),
              std::ranges::find_if(lines, [](const auto& line) { return !line.empty(); }));
  return lines;
}

std::string prompt_line(std::string_view text, std::size_t max_bytes) {
  std::string line;
  bool space = false;
  while (!text.empty() && line.size() <= max_bytes) {
    const auto [code, bytes] = first_character(text);
    const std::string_view piece = text.substr(0, bytes);
    text.remove_prefix(bytes);
    space =
        space || code == ' ' || code == '\n' || code == '\t' || code == '\r' || is_wide_blank(code);
    if (code <= ' ' || is_invisible(code)) continue;
    if (std::exchange(space, false) && !line.empty()) line += ' ';
    // "```" and "~~~" end a fence; "<|" begins a mark of a chat template, "</" ends a tag.
    if ((code == '|' || code == '/') && line.ends_with('<')) line += ' ';
    if (code == '~' && line.ends_with('~')) continue;
    if (code == '`') {
      line += '\'';
    } else {
      line += code == kReplacement ? std::string_view("?") : piece;
    }
  }
  return defuse(cut(line, max_bytes));
}

std::string_view first_sentence(std::string_view text) {
  while (!text.empty() && (text.front() == '\n' || text.front() == '\r' || text.front() == ' '))
    text.remove_prefix(1);
  text = text.substr(0, text.find_first_of("\r\n"));
  for (std::size_t at = text.find(". "); at != std::string_view::npos;
       at = text.find(". ", at + 1)) {
    // "e.g. this" and "i.e. that" go on, and so does "1. first".
    const bool abbreviated = at >= 2 && text[at - 2] == '.';
    const bool numbered = at >= 1 && text[at - 1] >= '0' && text[at - 1] <= '9' && at < 3;
    if (!abbreviated && !numbered) return text.substr(0, at + 1);
  }
  return text;
}

std::string doxygen_line(std::string_view safe_line) {
  std::string out;
  const auto starts = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (std::size_t i = 0; i < safe_line.size(); ++i) {
    const char c = safe_line[i];
    const char next = i + 1 < safe_line.size() ? safe_line[i + 1] : '\0';
    const bool command = c == '@' || c == '\\';
    const bool tag = c == '<' && (starts(next) || next == '/' || next == '!');
    const bool entity = c == '&' && (starts(next) || next == '#');
    const bool fence = (c == '`' || c == '~') && next == c;
    if (command || tag || entity || fence) out += '\\';
    out += c;
  }
  return out;
}

std::string string_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '?') {
      out += '\\';
      out += c;
    } else if (c >= 0x20 && c < 0x7F) {
      out += c;
    } else {  // three octal digits never run into what follows, as \x would
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
  }
  return out + '"';
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    if (code == '"' || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code == '\n') {
      out += "\\n";
    } else if (code == '\t') {
      out += "\\t";
    } else if (is_invisible(code)) {
      append_escaped(out, code);
    } else {
      append_visible(out, text.substr(0, bytes), code, false);
    }
    text.remove_prefix(bytes);
  }
  return out + '"';
}

std::string cut(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  while (max_bytes > 0 && is_continuation(text[max_bytes])) --max_bytes;
  return std::string(text.substr(0, max_bytes)) + " …";
}

}  // namespace mcpac::codegen
