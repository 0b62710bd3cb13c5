// SPDX-License-Identifier: Apache-2.0

#include "core/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/printable.h"

namespace mcpac {
namespace {

using Lines = std::vector<std::string_view>;
using Kind = DiffLine::Kind;

Lines split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

using Path = std::vector<std::int64_t>;  // by diagonal: how far the best path of D edits goes

// The paths of each number of edits until one reaches the end; nothing beyond `most`.
std::optional<std::vector<Path>> search(const Lines& a, const Lines& b, std::int64_t most) {
  const auto n = static_cast<std::int64_t>(a.size());
  const auto m = static_cast<std::int64_t>(b.size());
  const std::int64_t furthest = std::min(n + m, most);
  Path best(static_cast<std::size_t>(2 * furthest + 3), 0);
  const auto at = [&](std::int64_t k) -> std::int64_t& {
    return best[static_cast<std::size_t>(k + furthest + 1)];
  };
  std::vector<Path> trace;
  for (std::int64_t d = 0; d <= furthest; ++d) {
    // Only what this step reads is kept: the square of the edits, and not of the lines.
    trace.emplace_back();
    for (std::int64_t k = -d - 1; k <= d + 1; ++k) {
      const bool inside = k + furthest + 1 >= 0 && k <= furthest + 1;
      trace.back().push_back(inside ? at(k) : 0);
    }
    for (std::int64_t k = -d; k <= d; k += 2) {
      const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
      std::int64_t x = down ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && x - k >= 0 &&
             a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)])
        ++x;
      at(k) = x;
      if (x >= n && x - k >= m) return trace;
    }
  }
  return std::nullopt;
}

// From the end back to the beginning, along the paths.
std::vector<DiffLine> walk_back(const Lines& a, const Lines& b, const std::vector<Path>& trace) {
  std::vector<DiffLine> lines;
  auto x = static_cast<std::int64_t>(a.size());
  auto y = static_cast<std::int64_t>(b.size());
  const auto same = [&] {
    --x, --y;
    lines.push_back({Kind::kSame, a[static_cast<std::size_t>(x)], static_cast<std::size_t>(x) + 1,
                     static_cast<std::size_t>(y) + 1});
  };
  for (auto d = static_cast<std::int64_t>(trace.size()) - 1; d > 0; --d) {
    const Path& path = trace[static_cast<std::size_t>(d)];
    const auto at = [&](std::int64_t k) { return path[static_cast<std::size_t>(k + d + 1)]; };
    const std::int64_t k = x - y;
    const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
    const std::int64_t before = at(down ? k + 1 : k - 1);
    while (x > (down ? before : before + 1)) same();
    if (down) {
      --y;
      lines.push_back(
          {Kind::kAdded, b[static_cast<std::size_t>(y)], 0, static_cast<std::size_t>(y) + 1});
    } else {
      --x;
      lines.push_back(
          {Kind::kRemoved, a[static_cast<std::size_t>(x)], static_cast<std::size_t>(x) + 1, 0});
    }
  }
  while (x > 0) same();
  std::ranges::reverse(lines);
  return lines;
}

std::vector<DiffLine> all_replaced(const Lines& a, const Lines& b) {
  std::vector<DiffLine> lines;
  for (std::size_t i = 0; i < a.size(); ++i) lines.push_back({Kind::kRemoved, a[i], i + 1, 0});
  for (std::size_t i = 0; i < b.size(); ++i) lines.push_back({Kind::kAdded, b[i], 0, i + 1});
  return lines;
}

}  // namespace

std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after,
                                 const DiffLimits& limits) {
  const Lines a = split(before);
  const Lines b = split(after);
  if (a.size() + b.size() > limits.most_lines) return all_replaced(a, b);
  const auto trace = search(a, b, static_cast<std::int64_t>(limits.most_edits));
  return trace ? walk_back(a, b, *trace) : all_replaced(a, b);
}

std::vector<DiffHunk> hunks_of(const std::vector<DiffLine>& lines, std::size_t context) {
  std::vector<DiffHunk> hunks;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].kind == Kind::kSame) continue;
    const std::size_t begin = i > context ? i - context : 0;
    const std::size_t end = std::min(i + context + 1, lines.size());
    if (!hunks.empty() && begin <= hunks.back().end)
      hunks.back().end = end;
    else
      hunks.push_back({begin, end});
  }
  return hunks;
}

std::vector<std::string> shown_diff(std::string_view before, std::string_view after) {
  const auto lines = diff_lines(before, after);
  std::vector<std::string> shown;
  for (const DiffHunk& hunk : hunks_of(lines)) {
    if (!shown.empty()) shown.emplace_back("…");
    for (std::size_t i = hunk.begin; i < hunk.end; ++i)
      shown.push_back(static_cast<char>(lines[i].kind) + printable_lines(lines[i].text));
  }
  return shown;
}

}  // namespace mcpac
