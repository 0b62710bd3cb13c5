// SPDX-License-Identifier: Apache-2.0

// Change: one difference between a folder that a program was given and what it left there.
//
// What the program left is hostile content: it is described here by value, with digests, so that
// what a person was shown is what is applied.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/json.h"

namespace mcpac::history {

// A file of the user's as it lay there; times in nanoseconds since 1970.
struct FileState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::uint32_t mode = 0;  // with its kind, as st_mode
  std::int64_t modified = 0;
  std::int64_t changed = 0;  // ctime: what no program sets

  static FileState of(const struct stat& info);
  friend bool operator==(const FileState&, const FileState&) = default;
};

struct Change {
  enum class Kind : std::uint8_t {
    kAdded,
    kModified,
    kDeleted,
    kFolderAdded,
    kFolderDeleted,
    kRefused,  // a link, a special file, a name that no terminal shows: never applied
  } kind = Kind::kAdded;
  std::string path;                 // below its place
  std::uint64_t size = 0;           // of the new content
  std::uint32_t mode = 0;           // permission bits, without set-id and sticky
  std::string digest;               // SHA-256 of the new content; empty where there is none
  std::optional<FileState> before;  // what lay there when the run ended
  bool moved_on = false;            // that was changed by another process while the program ran
  std::string why;                  // of a refusal

  friend bool operator==(const Change&, const Change&) = default;
};

[[nodiscard]] std::string_view to_string(Change::Kind kind);
[[nodiscard]] Json to_json(const Change& change);
[[nodiscard]] std::optional<Change> change_from_json(const Json& json);

}  // namespace mcpac::history
