// SPDX-License-Identifier: Apache-2.0

// Parts of a value: the ends that servers trim, and the pieces that they split it into.
//
// One peeling for whole values (readings.h) and for the items of a list; one way to find items for
// allows of paths and of URLs. A deny reads more of a text than this (path_readings.h, url.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac::policy {

// Characters trimmed at both ends: white space of Unicode, control bytes and what no screen shows;
// besides quotation marks and angle brackets of all scripts.
enum class Peel : std::uint8_t { kBlanks, kQuotes };
[[nodiscard]] std::string_view peeled(std::string_view text, Peel peel);

// Most values: nothing in them stands between two items.
[[nodiscard]] bool may_be_list(std::string_view text);

// An item of a list, without what peels and without brackets before it. Borrowed.
struct ListItem {
  std::string_view text;
  // Whether a mark of lists stands beside it ("," ";" "|", also those of other scripts, a line
  // end), and not a blank, "&" or a bracket alone, which stand in names every day.
  bool is_listed = false;
};
[[nodiscard]] std::vector<ListItem> list_items(std::string_view text);

// The same, those with blanks in them that stand between marks of lists, and what stands in an item
// behind ":", "key=", "--key=", "-k" and "@".
[[nodiscard]] std::vector<ListItem> path_items(std::string_view text);

// How a part names a place of its own, wherever paths begin that are relative: as a path does that
// is absolute or climbs above its start, or as only servers know (behind a scheme or a drive, "~…",
// a variable).
enum class Leaves : std::uint8_t { kNot, kAsPath, kUnclear };
[[nodiscard]] Leaves leaves_its_start(std::string_view part);

// The text with a blank for each blank of Unicode, and "," for the marks of lists of other scripts.
[[nodiscard]] std::string with_plain_marks(std::string_view text);

}  // namespace mcpac::policy
