// SPDX-License-Identifier: Apache-2.0

#include "core/nearest_name.h"

#include <algorithm>
#include <numeric>

#include "core/ascii.h"

namespace mcpac {
namespace {

// Insertions, deletions and replacements, capitals alike; texts beyond 256 bytes are names of no
// tool.
std::size_t edits(std::string_view a, std::string_view b) {
  a = a.substr(0, 256);
  b = b.substr(0, 256);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (to_lower(a[i - 1]) == to_lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// gh.issues.create reads as gh.issues, and read_text is the beginning of read_text_file.
const std::string* longer_name(std::string_view begin, const std::vector<std::string>& names) {
  if (begin.size() < 2) return nullptr;
  for (const std::string& with : {std::string(begin) + ".", std::string(begin)}) {
    const auto found =
        std::ranges::find_if(names, [&](const auto& name) { return name.starts_with(with); });
    if (found != names.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(2, wrong.size() / 3) + 1;
  for (const auto& name : names) {
    if (name.size() > wrong.size() + least || wrong.size() > name.size() + least) continue;
    const std::size_t distance = edits(wrong, name);
    // Of two that are as near the one whose beginning was typed.
    const bool is_begun = distance == least && best != nullptr && name.starts_with(wrong) &&
                          !best->starts_with(wrong);
    if (distance < least || is_begun) {
      least = distance;
      best = &name;
    }
  }
  return best == nullptr ? "" : *best;
}

std::string nearest_or_longer_name(std::string_view wrong, const std::vector<std::string>& names) {
  std::string name = nearest_name(wrong, names);
  if (!name.empty()) return name;
  const std::string* longer = longer_name(wrong, names);
  return longer == nullptr ? "" : *longer;
}

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& names) {
  const std::string near = nearest_name(wrong, names);
  return near.empty() ? "" : "did you mean '" + near + "'?";
}

}  // namespace mcpac
