// SPDX-License-Identifier: Apache-2.0

#include "policy/text/source_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/printable.h"

namespace mcpac::policy {
namespace {

// What fits a terminal beside the indentation.
constexpr std::size_t kWindow = 100;

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max) {
  const bool cut = text.size() > max;
  std::size_t end = std::min(text.size(), max);
  while (cut && end > 0 && continues_character(text[end])) --end;
  std::string shown = printable_in_place(text.substr(0, end));
  if (cut) shown += "…";
  return shown;
}

std::string SourceText::place(std::size_t offset) const {
  offset = std::min(offset, text.size());
  const auto before = text.substr(0, offset);
  const auto line = std::ranges::count(before, '\n') + 1;
  const auto newline = before.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  const std::size_t end = std::min(text.find('\n', offset), text.size());
  // A long line is shown around the column.
  std::size_t from = offset - start > kWindow / 2 ? offset - kWindow / 2 : start;
  while (from < offset && from > start && continues_character(text[from])) ++from;
  const std::size_t columns = printable_width(text.substr(from, offset - from));
  const std::string lead = from > start ? "…" : "";
  return fmt::format("{}:{}:{}\n    | {}{}\n    | {}^", name, line, offset - start + 1, lead,
                     printable(text.substr(from, end - from), kWindow),
                     std::string(columns + (from > start ? 1 : 0), ' '));
}

std::string SourceText::line_of(std::size_t offset) const {
  if (name.starts_with("--")) return name;
  const auto line = std::ranges::count(text.substr(0, std::min(offset, text.size())), '\n') + 1;
  return fmt::format("{}:{}", name, line);
}

std::unexpected<Error> SourceText::error(ErrorId id, std::size_t offset, std::string what,
                                         std::string why, std::string fix) const {
  return fail(id, std::move(what),
              {.where = place(offset), .why = std::move(why), .fix = std::move(fix)});
}

}  // namespace mcpac::policy
