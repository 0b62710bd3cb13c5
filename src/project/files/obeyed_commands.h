// SPDX-License-Identifier: Apache-2.0

// ObeyedCommands: files that mcpac itself runs or obeys later, beside those of its own names: what
// the commands of servers and of an approver are made of, and rules that a command line names.
//
// A program that may write such a file would be what mcpac starts next, with the user's rights, or
// what answers the questions about the program. A folder that a server is given works as data, and
// is not among them.
#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/layers.h"
#include "project/folders.h"
#include "project/project.h"

namespace mcpac::project {

// Looks at the disk. Absolute paths, some of them missing: files that a word names, with
// each link on the way to them; the folder of packages that one lies in, or that a runner of
// packages (npx) looks in; what `-m NAME` loads. `start`: where the command starts, absolute.
// `environment`: "NAME=value", whose PATH finds programs.
[[nodiscard]] std::set<std::filesystem::path> files_of_command(
    std::span<const std::string> words, const std::filesystem::path& start,
    const std::vector<std::string>& environment);

// Those of all its servers, Project::obeyed, and the policies of the user's tokens, there or not:
// `mcpac serve` reads one when its token is first used, and again later.
[[nodiscard]] std::set<std::filesystem::path> files_obeyed_for(const Project& project,
                                                               const Folders& folders);
// The same without those of one server.
[[nodiscard]] std::set<std::filesystem::path> files_obeyed_beside(const Project& project,
                                                                  const Folders& folders,
                                                                  std::string_view server);

// Adds what a command line names: files of rules, and the approver's command, which may be empty.
void obey(Project& project, const policy::LayerText& rules, std::span<const std::string> approver);

}  // namespace mcpac::project
