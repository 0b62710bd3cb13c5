// SPDX-License-Identifier: Apache-2.0

// GiveFiles: puts the files that a run's rules admit into its program's sandbox.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "core/error.h"
#include "policy/authority.h"
#include "project/project.h"
#include "run/agent_run.h"
#include "run/run_limits.h"

namespace mcpac::run {

// Which project and which files the program belongs to: those are held read-only; and where what it
// writes goes.
struct FilesOf {
  const project::Project& project;
  const project::Folders& folders;
  std::span<const std::filesystem::path> sources;
  WritesTo writes_to;
};

// Mounts, the system calls for them and where the program starts; nothing where the rules admit no
// files, or the program declares none. `note` hears of each place.
[[nodiscard]] Result<void> give_files(const policy::Authority& authority, const FilesOf& of,
                                      const std::function<void(std::string_view)>& note,
                                      AgentProgram& program);

}  // namespace mcpac::run
