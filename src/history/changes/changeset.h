// SPDX-License-Identifier: Apache-2.0

// Changeset: changes of one run, kept beside the user's files until they are applied or discarded.
//
//   STATE/changes/RUN-ID/0/{upper,work}   one overlay a place, written by the kernel
//   STATE/changes/RUN-ID/record.json      written when the run has ended: places, changes, digest
//
// A folder without a record belongs to a run that lives (it holds a lock on the folder), or to one
// that was killed: those are swept. So a changeset is whole, or it is gone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/file.h"
#include "history/changes/change.h"
#include "sandbox/sandbox.h"

namespace mcpac::history {

// A folder that was granted read-write, and what became of it.
struct ChangedPlace {
  std::filesystem::path path;
  sandbox::FileIdentity identity;
  std::vector<Change> changes;
};

struct Changeset {
  std::string run;
  std::string program;  // as messages call it
  std::string started;  // RFC 3339
  std::string ended;
  std::vector<ChangedPlace> places;
  // Absolute paths that tools or mcpac obeyed when the run began: nothing there is applied.
  std::vector<std::string> kept_places{};
  std::filesystem::path folder;  // where it lies

  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::filesystem::path upper(std::size_t place) const {
    return folder / std::to_string(place) / "upper";
  }
};

// With all that is in it, and `digest` over the rest; what list and show print with --json.
[[nodiscard]] Json to_json(const Changeset& changes);

// STATE/changes.
[[nodiscard]] std::filesystem::path changes_folder(const std::filesystem::path& state);

// The changeset of a run that goes on. Destroyed without keep(), it is removed.
class OpenChangeset {
 public:
  // Makes the folders, and takes the writable mounts of `mounts` to them. kFilesRefused where one
  // is a file: an overlay is made of folders.
  [[nodiscard]] static Result<OpenChangeset> create(const std::filesystem::path& folder,
                                                    const std::string& run, std::string program,
                                                    std::vector<sandbox::Mount>& mounts,
                                                    const Clock& clock,
                                                    std::vector<std::string> kept_places = {});
  OpenChangeset(OpenChangeset&& other) noexcept;
  OpenChangeset& operator=(OpenChangeset&& other) = delete;
  ~OpenChangeset();

  // The folders that the program writes to.
  [[nodiscard]] std::vector<std::filesystem::path> uppers() const;
  // Reads what is there and records it. Nothing where the program changed nothing: then nothing is
  // kept.
  [[nodiscard]] Result<std::optional<Changeset>> keep(const Clock& clock);

 private:
  OpenChangeset() = default;
  Changeset changes_;
  std::int64_t started_ = 0;
  UniqueFd parent_;
  UniqueFd lock_;
};

// All that are kept, oldest first; what killed runs left is removed.
[[nodiscard]] Result<std::vector<Changeset>> list_changesets(const std::filesystem::path& folder);
// The one whose run id begins so: kChangesUnknown for none and for several.
[[nodiscard]] Result<Changeset> find_changeset(const std::filesystem::path& folder,
                                               std::string_view start);
// Of one that was found: the error of reading its record, where that is damaged. Only discard()
// takes such a one.
[[nodiscard]] Result<void> check_whole(const Changeset& changes);
[[nodiscard]] Result<void> discard(const Changeset& changes);

}  // namespace mcpac::history
