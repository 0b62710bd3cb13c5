// SPDX-License-Identifier: Apache-2.0

// ProjectUse: record of present and past uses of a project's servers.
//
// A server that waits for the next run (prewarmed_run.h) must be younger than every run before it.
// So each process that starts servers of a project says so in a file below the state folder, for
// the life of its use: it writes a new number and holds a lock that the kernel lets go of however
// the process ends. What was prepared while no process held the lock, and at a number that still
// stands there, is young enough. Two projects that share a file (project_state.h) only prepare once
// more than they need to.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/file.h"
#include "project/folders.h"

namespace mcpac::project {

class ProjectUse {
 public:
  // Where the state folder cannot be written nothing is said; a run fails there anyway, for it has
  // no record.
  ProjectUse(const Folders& folders, const std::filesystem::path& config_file);

  // The number as it stands; nothing while the project is in use, or where that is not known.
  [[nodiscard]] static std::optional<std::string> number_of_last(
      const Folders& folders, const std::filesystem::path& config_file);

 private:
  UniqueFd file_;
};

}  // namespace mcpac::project
