// SPDX-License-Identifier: Apache-2.0

// ProjectTurn: one writer of a project at a time.
//
// `generate` and `lock accept` read mcpac.lock, merge and write; two at once would each write what
// the other has not seen. A writer holds an advisory lock and reads mcpac.lock while holding it.
// Readers need no turn: files are replaced whole, and headers that do not fit the lock are refused.
//
// The turn of one user is a file of theirs (project_state.h), which no other user can hold. The
// project's folder is held as well, for a project that several users write. But any user who may
// read a folder may hold it, for ever: a holder that takes longer than a writer needs is no writer,
// and is not waited for. On a file system without such locks (some network ones) it is not held;
// the digests still are.
#pragma once

#include <chrono>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "project/folders.h"
#include "project/project.h"

namespace mcpac::project {

struct TurnPatience {
  std::chrono::milliseconds with_own = std::chrono::seconds(30);
  std::chrono::milliseconds with_others = std::chrono::seconds(3);
};

class ProjectTurn {
 public:
  // Waits until it is our turn. kLockBusy where another process of this user does not end its own.
  [[nodiscard]] static Result<ProjectTurn> take(const Project& project, const Folders& folders,
                                                TurnPatience patience = {});

 private:
  ProjectTurn(UniqueFd own, UniqueFd folder) : own_(std::move(own)), folder_(std::move(folder)) {}

  UniqueFd own_;
  UniqueFd folder_;
};

}  // namespace mcpac::project
