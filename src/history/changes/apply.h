// SPDX-License-Identifier: Apache-2.0

// Apply: a changeset becomes the user's files, after every single change has been checked.
//
// First all of them are checked, then all are made; the first that fails stops it, and what was
// done until then is told. Nothing is followed, nothing gets a set-id bit, and what the user's
// folder holds now must be what it held when the run ended.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "history/changes/changeset.h"

namespace mcpac::history {

// Whether the rules of today admit writing there; an error says why not.
using MayWrite = std::function<Result<void>(const std::filesystem::path&)>;

struct Applied {
  std::vector<std::filesystem::path> done;  // as far as it came
  std::optional<Error> error;               // what stopped it
};

// `chosen`: these files and what lies below these folders, as absolute paths; empty means all.
// kChangesRefused and kChangesConflict name the first change that does not hold; then nothing was
// done. The fix of kChangesRefused names what can be applied without those that never are.
[[nodiscard]] Result<Applied> apply(const Changeset& changes,
                                    std::span<const std::filesystem::path> chosen,
                                    const MayWrite& may_write);

// Of each change of that place, in its order, why it is never applied; empty: it may be. What the
// rules of today or the user's files say is not looked at.
[[nodiscard]] std::vector<std::string> never_applied(const Changeset& changes, std::size_t place);

// Does this change of that place lie in the user's files already, as after an apply of a part?
[[nodiscard]] bool is_applied(const Changeset& changes, std::size_t place, const Change& change);

}  // namespace mcpac::history
