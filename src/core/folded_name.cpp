// SPDX-License-Identifier: Apache-2.0

#include "core/folded_name.h"

#include <algorithm>
#include <array>

#include "core/ascii.h"
#include "core/characters.h"

namespace mcpac {
namespace {

// Letters that fold to several (the full folding of Unicode's CaseFolding.txt, as ext4 and f2fs
// do).
struct Folding {
  char32_t point;
  std::string_view letters;
};
constexpr auto kFoldings = std::to_array<Folding>({{0xdf, "ss"},
                                                   {0x17f, "s"},
                                                   {0x1e9e, "ss"},
                                                   {0x212a, "k"},
                                                   {0xfb00, "ff"},
                                                   {0xfb01, "fi"},
                                                   {0xfb02, "fl"},
                                                   {0xfb03, "ffi"},
                                                   {0xfb04, "ffl"},
                                                   {0xfb05, "st"},
                                                   {0xfb06, "st"}});

}  // namespace

std::string folded(std::string_view name) {
  std::string plain;
  while (!name.empty()) {
    if (static_cast<unsigned char>(name.front()) < 0x80) {  // most of all names
      plain += to_lower(name.front());
      name.remove_prefix(1);
      continue;
    }
    const auto [code, bytes] = first_character(name);
    const std::string_view piece = name.substr(0, bytes);
    name.remove_prefix(bytes);
    const auto* const folding = std::ranges::find(kFoldings, code, &Folding::point);
    if (folding != kFoldings.end())
      plain += folding->letters;
    else if (bytes == 1 || !is_ignorable(code))
      plain += piece;
  }
  return plain;
}

bool fits_pattern(std::string_view name, std::string_view pattern) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  return name.size() + 1 >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
         name.ends_with(pattern.substr(star + 1));
}

bool is_one_of(std::string_view written, std::span<const std::string> patterns) {
  const std::string name = folded(written);
  return std::ranges::any_of(patterns,
                             [&name](std::string_view known) { return fits_pattern(name, known); });
}

}  // namespace mcpac
