// SPDX-License-Identifier: Apache-2.0

// Path readings: the paths that a string not declared to be one may name.
//
// A deny or ask over "*" looks at every string of a call. What a path test refuses elsewhere is
// read here as a server might read it: control bytes, a backslash and any length stand, other
// normal forms are composed, "~" and "$HOME" are the home, and what stands behind a scheme is a
// path, too. Of a word or a command the parts are read as well: items of lists, values of options,
// what a shell would take for a word. A text that names nothing of interest by any of these
// readings is an ordinary text, and is let through.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/match/matcher.h"
#include "policy/match/path_value.h"
#include "policy/match/shell_commands.h"

namespace mcpac::policy {

struct NamedPath {
  PathValue path;
  bool is_part = false;  // of the text, which names more or something else
  // Such a part that is an item of a list, of an argument that a rule names.
  bool is_listed = false;
  FolderUse use = FolderUse::kWalked;  // of a part of a command
};

struct PathReadings {
  std::vector<NamedPath> named;
  // Folders that its commands enter: what is relative in it may count from there, too.
  std::vector<PathValue> starts = {};
  // A text that names more than is read, or that may: whatever the place, it may be named.
  bool unclear = false;
  std::size_t read = 0;  // bytes of all readings, at most a small multiple of the text's
};

// Readings that one text may have, and what may be read of it in all: a few short ones, and a
// multiple of its size beside. Braces, schemes, codes and lists multiply.
constexpr std::size_t kMostPathReadings = 4000;
constexpr std::size_t kLeastPathBudget = std::size_t{16} << 10U;  // bytes
constexpr std::size_t kPathBudgetPerByte = 32;

// Most texts: letters, digits, "/", ".", "-", "_" and what is beyond ASCII. No part begins in them.
[[nodiscard]] bool is_one_name(std::string_view text);

[[nodiscard]] bool is_json_document(std::string_view text);

// None for what no file system could open: nothing (but the start of relative paths, where the text
// stands for a place), or longer than a path even when tidied. Parts are looked for in commands up
// to 64 KiB (a longer one is unclear), and in other texts of up to 40 words and 4,096 bytes: longer
// ones are documents. In prose (MeantAs::kText) only those of a single word; of an argument that a
// rule names (kNamed) in every text that may be a path, and names without a slash among the items
// of a list as well.
[[nodiscard]] PathReadings path_readings(std::string_view text, std::string_view home,
                                         MeantAs meant = MeantAs::kUnknown);

// What a shell makes of a text with braces, "a{b,c}": "ab" and "ac"; none where it has no such
// braces, and nothing where it means too many to be listed.
[[nodiscard]] std::optional<std::vector<std::string>> brace_alternatives(std::string_view text);

// Whether both can name one thing: a glob of a rule (`*` for any characters) and a component as a
// shell reads it (`*`, `?` and `[…]`, by characters or by bytes).
[[nodiscard]] bool may_meet(std::string_view glob, std::string_view component);
// A component of stars alone counts as none: `src/*` is sent every day.
[[nodiscard]] bool has_wildcards(std::string_view component);
[[nodiscard]] bool is_stars(std::string_view component);  // "*", "**"

}  // namespace mcpac::policy
