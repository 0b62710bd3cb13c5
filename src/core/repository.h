// SPDX-License-Identifier: Apache-2.0

// Repository: recognises folders that git takes for a repository, whatever their name.
//
// Git looks at the folder it is started in, and a prompt starts it: what the folder's `config`
// names (core.fsmonitor) is run. No single name gives such a folder away, only that it holds some
// together (gitrepository-layout(5)). Two processes that each look and then add a half would make
// one, so all of ours that add such a name do so in turns, and look within their turn.
#pragma once

#include <cstdint>
#include <expected>
#include <string_view>

#include "core/file.h"

namespace mcpac {

// Comparison of names by a folder's file system: as they are written, or also those that differ in
// case (folds_case.h).
enum class NamesCompared : std::uint8_t { kAsWritten, kFolded };

class RepositoryParts {
 public:
  // One name that lies in the folder.
  void add(std::string_view name);
  [[nodiscard]] bool is_whole(NamesCompared compared) const {
    const unsigned there = compared == NamesCompared::kFolded ? folded_ : written_;
    return (there & kHead) != 0 && ((there & kElsewhere) != 0 || (there & kOwn) == kOwn);
  }

 private:
  friend bool completes_repository(int folder, std::string_view name, NamesCompared compared);
  static constexpr unsigned kHead = 1;
  static constexpr unsigned kOwn = 2 | 4;    // objects, refs
  static constexpr unsigned kElsewhere = 8;  // `commondir` says where the rest lies
  unsigned written_ = 0;
  unsigned folded_ = 0;
};

inline constexpr std::string_view kRepositoryParts[] = {"HEAD", "objects", "refs", "commondir"};

// Whether it is one of those, however it is written.
[[nodiscard]] bool is_repository_part(std::string_view name);

// Whether the open folder (O_PATH is enough) is one.
[[nodiscard]] bool is_repository(int folder);
// Whether the open folder would be a repository with `name` in it.
[[nodiscard]] bool completes_repository(int folder, std::string_view name, NamesCompared compared);

// The turn to add a part to the open folder (O_PATH is enough): no other process of ours, of
// whatever run or user, has it before this descriptor is closed. It hangs on the folder itself, so
// that it is the same wherever that is mounted. errno; EAGAIN where it does not come in two
// seconds, EACCES where the folder cannot be read.
[[nodiscard]] std::expected<UniqueFd, int> take_repository_turn(int folder);

}  // namespace mcpac
