#include "execute/files/folded_name.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpac::execute {
namespace {

struct CodePoints {
  char32_t first;
  char32_t last;
};
// Ignored where names are folded (Default_Ignorable_Code_Point of Unicode).
constexpr auto kUnseen = std::to_array<CodePoints>({{0xad, 0xad},
                                                    {0x34f, 0x34f},
                                                    {0x61c, 0x61c},
                                                    {0x115f, 0x1160},
                                                    {0x17b4, 0x17b5},
                                                    {0x180b, 0x180f},
                                                    {0x200b, 0x200f},
                                                    {0x202a, 0x202e},
                                                    {0x2060, 0x206f},
                                                    {0x3164, 0x3164},
                                                    {0xfe00, 0xfe0f},
                                                    {0xfeff, 0xfeff},
                                                    {0xffa0, 0xffa0},
                                                    {0xfff0, 0xfff8},
                                                    {0x1bca0, 0x1bca3},
                                                    {0x1d173, 0x1d17a},
                                                    {0xe0000, 0xe0fff}});

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

// The code point that `text` begins with and its length; a byte that begins none stands for itself.
std::pair<char32_t, std::size_t> first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned lead = byte(0);
  const std::size_t size = lead >= 0xf0U ? 4 : lead >= 0xe0U ? 3 : lead >= 0xc0U ? 2 : 1;
  if (size == 1 || size > text.size()) return {lead, 1};
  char32_t point = lead & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) point = point << 6U | (byte(i) & 0x3fU);
  return {point, size};
}

}  // namespace

std::string folded(std::string_view name) {
  std::string plain;
  while (!name.empty()) {
    const auto [point, size] = first_of(name);
    const bool unseen = std::ranges::any_of(kUnseen, [&](const CodePoints& range) {
      return point >= range.first && point <= range.last;
    });
    const bool upper = point >= 'A' && point <= 'Z';
    const auto* const folding = std::ranges::find(kFoldings, point, &Folding::point);
    if (upper)
      plain += static_cast<char>(point - 'A' + 'a');
    else if (folding != kFoldings.end())
      plain += folding->letters;
    else if (!unseen || size == 1)
      plain += name.substr(0, size);
    name.remove_prefix(size);
  }
  return plain;
}

}  // namespace mcpac::execute
