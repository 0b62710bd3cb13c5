// SPDX-License-Identifier: Apache-2.0

// LineDiff: the lines by which two texts differ, for people (Myers, "An O(ND) Difference
// Algorithm", 1986).
//
// Both texts may be hostile: the work is bounded, and where two texts differ by more than that,
// everything counts as replaced. Lines are as they were; the caller makes them printable.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac {

struct DiffLine {
  enum class Kind : char { kSame = ' ', kRemoved = '-', kAdded = '+' } kind = Kind::kSame;
  std::string_view text;   // into one of the two texts, without its newline
  std::size_t before = 0;  // number of the line in the first text, from 1; 0: not in it
  std::size_t after = 0;   // likewise in the second
  friend bool operator==(const DiffLine&, const DiffLine&) = default;
};

struct DiffLimits {
  std::size_t most_edits = 2'000;    // the work grows with its square
  std::size_t most_lines = 200'000;  // of both together
};

// Every line of both. Borrows from the texts.
[[nodiscard]] std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after,
                                               const DiffLimits& limits = {});

// Ranges of `lines` with `context` unchanged lines around each difference.
struct DiffHunk {
  std::size_t begin = 0;
  std::size_t end = 0;
};
[[nodiscard]] std::vector<DiffHunk> hunks_of(const std::vector<DiffLine>& lines,
                                             std::size_t context = 3);

// The same as printable lines that begin with '-', '+' or ' ', and "…" between two hunks.
[[nodiscard]] std::vector<std::string> shown_diff(std::string_view before, std::string_view after);

}  // namespace mcpac
