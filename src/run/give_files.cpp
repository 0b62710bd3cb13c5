// SPDX-License-Identifier: Apache-2.0

#include "run/give_files.h"

#include <fmt/format.h>

#include "core/printable.h"
#include "project/files/file_mounts.h"

namespace mcpac::run {

Result<void> give_files(const policy::Authority& authority, const FilesOf& of,
                        const std::function<void(std::string_view)>& note, AgentProgram& program) {
  // Connections come to it over its channel; nothing else of the network does.
  if (authority.speaks_of_network())
    program.admits = program.admits.with(sandbox::ReceivesDescriptors{});
  const auto granted = authority.files();
  if (granted.empty()) return {};
  const project::NamesKept kept = of.writes_to == WritesTo::kChangeset
                                      ? project::NamesKept::kByApply
                                      : project::NamesKept::kByGuard;
  auto made = project::mounts_of(
      granted, project::reserved_places(of.project, of.folders, of.sources), kept);
  if (!made) return pass_on(made);
  for (const project::GrantedPlace& place : made->places) {
    const bool is_read_only = place.mode == policy::FileMode::kReadOnly;
    note(fmt::format(
        "files: {} {} ({}){}", printable(place.path.string()), to_string(place.mode),
        printable(place.said_in),
        is_read_only ? "; writing there fails, with :rw behind the path it does not" : ""));
  }
  program.mounts.insert(program.mounts.end(), made->mounts.begin(), made->mounts.end());
  program.admits = program.admits.with(sandbox::ReadsFiles{});
  if (made->writes()) program.admits = program.admits.with(sandbox::WritesFiles{});
  program.work_directory = made->work_directory;
  program.files = std::make_shared<const project::FileMounts>(std::move(*made));
  return {};
}

}  // namespace mcpac::run
