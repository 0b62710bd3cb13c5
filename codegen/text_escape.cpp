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

// What a reader does not see but a language model reads: the above, the joiners, and the variation
// selectors.
bool is_smuggler(char32_t code) {
  return is_invisible(code) || code == 0x200C || code == 0x200D || code == 0x180E ||
         (code >= 0xFE00 && code <= 0xFE0F);
}

void append_visible(std::string& out, std::string_view bytes, char32_t code) {
  if (code == kReplacement) {
    out += "\xEF\xBF\xBD";
  } else if (is_invisible(code)) {
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

std::vector<std::string> visible_lines(std::string_view text) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    if (code == '\n') {
      lines.emplace_back();
    } else if (code == '\t') {
      lines.back() += "  ";
    } else if (code != '\r') {
      append_visible(lines.back(), text.substr(0, bytes), code);
    }
    text.remove_prefix(bytes);
  }
  return lines;
}

}  // namespace

std::string safe_line(std::string_view text) {
  std::string joined;
  for (const std::string& line : visible_lines(text)) {
    if (!joined.empty()) joined += ' ';
    joined += line;
  }
  return defuse(joined);
}

std::vector<std::string> safe_lines(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& line : visible_lines(text)) wrap(line, width, lines);
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
    space = space || code == ' ' || code == '\n' || code == '\t' || code == '\r' || code == 0xA0;
    if (code <= ' ' || code == 0xA0 || is_smuggler(code)) continue;
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
    } else if (code > 0xFFFF && is_invisible(code)) {
      const char32_t above = code - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + static_cast<std::uint32_t>(above >> 10U),
                         0xDC00U + static_cast<std::uint32_t>(above & 0x3FFU));
    } else if (is_invisible(code)) {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
    } else {
      append_visible(out, text.substr(0, bytes), code);
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
