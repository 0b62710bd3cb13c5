// SPDX-License-Identifier: Apache-2.0

// Paths as component lists: reading of a string in a call, or in a rule, as a path.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac::policy {

using Components = std::vector<std::string>;

constexpr std::size_t kMaxPath = 4096;  // PATH_MAX: nothing longer names a file

struct PathValue {
  bool absolute = false;
  Components components;  // without "." and empty ones; ".." stands as it is
  friend bool operator==(const PathValue&, const PathValue&) = default;
};

// Whether the text begins with "~" as a home does. The name of a user begins with a letter or "_":
// "~1.2", "~2h", "~=3", "~> 2.0" are versions, durations and names of files.
[[nodiscard]] bool begins_with_home(std::string_view text);

// Nothing for what no path test may admit: empty, longer than Linux takes, control bytes, a
// backslash, not UTF-8 in normalisation form C, characters that Unicode had not assigned yet when
// our tables were made: which names they are equal to is not known (docs/grants.md).
[[nodiscard]] std::optional<PathValue> read_path(std::string_view text);

// The same for a value in a call. Nothing as well for what some servers take for another place than
// the text says: "~…" (a home), "$HOME…", "scheme:…" and pathspecs of Git (":/x", ":(top)x",
// ":!x");
// "./~", "./$HOME" and "./a:b" are names.
[[nodiscard]] std::optional<PathValue> read_path_value(std::string_view text);

// Git's ":/x", ":(top)x", ":!x" and ":^x".
[[nodiscard]] bool is_pathspec(std::string_view text);
[[nodiscard]] bool has_unassigned(std::string_view text);  // such characters
[[nodiscard]] bool is_nfc(std::string_view text);
// In normalisation form C; what is not UTF-8 stays as it is.
[[nodiscard]] std::string nfc(std::string_view text);
[[nodiscard]] std::string nfd(std::string_view text);          // the same in form D
[[nodiscard]] std::string join(const Components& components);  // "/a/b"; "/" for none
[[nodiscard]] Components split(std::string_view absolute);     // ".." is kept
[[nodiscard]] Components collapse(
    const Components& components);  // ".." taken lexically; stays at "/"
// Does `path` begin with all of `base`?
[[nodiscard]] bool begins_with(const Components& path, const Components& base);

}  // namespace mcpac::policy
