// SPDX-License-Identifier: Apache-2.0

// ChangesStore: the folder of changesets, its lock, and its record files. For the sources of
// changeset.h only.
#pragma once

#include "history/changes/changeset.h"

namespace mcpac::history {

inline constexpr const char* kRecord = "record.json";

// The folder, which is the user's alone, open and locked until the descriptor is closed: between
// making a changeset's folder and locking that, no process sweeps.
[[nodiscard]] Result<UniqueFd> lock_changes(const std::filesystem::path& folder);

// As long as it is held no other process applies or discards these changes: kChangesConflict where
// one does, kChangesUnknown where they are not there any more.
[[nodiscard]] Result<UniqueFd> take_turn(const Changeset& changes);

[[nodiscard]] Result<void> write_record(const Changeset& changes);
// kChangesDamaged where it is not what was written.
[[nodiscard]] Result<Changeset> read_record(const std::filesystem::path& folder,
                                            const std::string& run);
// Removes what has no record and no living run. `changes` as lock_changes() gave it.
void sweep_changes(int changes);

}  // namespace mcpac::history
