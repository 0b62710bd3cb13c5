// SPDX-License-Identifier: Apache-2.0

#include "run/check/writable_today.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/printable.h"
#include "history/changes/folder_access.h"
#include "policy/text/printer.h"
#include "project/files/obeyed_commands.h"
#include "project/files/obeyed_places.h"
#include "project/files/open_place.h"
#include "run/check/authorities.h"
#include "servers/tool_tables.h"

namespace mcpac::run {

Result<history::MayWrite> writable_today(const project::Project& project,
                                         const project::Folders& folders, const Clock& clock,
                                         const history::Changeset& changes) {
  auto lock = project::load_lock(project);
  if (!lock) return pass_on(lock);
  PolicyWorld world(project, clock);
  world.tools = servers::tool_schemas(*lock);
  policy::LayerText granted;
  granted.name = "the run";
  for (const history::ChangedPlace& place : changes.places)
    granted.places.push_back(
        fmt::format("files {} read-write", policy::print_string(place.path.string())));
  auto authority = load_authority(project, world, {std::move(granted)});
  if (!authority) return pass_on(authority);
  // As it is when they are applied: the program's run may be long ago.
  project::ObeyedPlaces obeyed;
  for (const auto& path : project::files_obeyed_for(project, folders)) obeyed.add_place(path);
  for (const auto& path : changes.kept_places) obeyed.add_place(path);
  for (const history::ChangedPlace& place : changes.places) {
    const UniqueFd folder = history::open_folder(place.path);
    if (!folder) continue;  // apply says so
    auto found = project::find_protected(folder.get(), place.path);
    if (!found) return pass_on(found);
    if (auto done = obeyed.add(*found); !done) return pass_on(done);
    if (auto done = obeyed.add_above(place.path); !done) return pass_on(done);
  }
  return [places = authority->files(),
          obeyed = obeyed.all()](const std::filesystem::path& path) -> Result<void> {
    const auto named = std::ranges::find_if(obeyed, [&path](const std::filesystem::path& place) {
      return project::lies_in(path, place);
    });
    if (named != obeyed.end()) {
      return fail(ErrorId::kFilesRefused,
                  fmt::format("git, Mercurial or mcpac run or obey what lies in {}",
                              printable(named->string())));
    }
    const bool admitted = std::ranges::any_of(places, [&](const policy::FilePlace& place) {
      return place.mode == policy::FileMode::kReadWrite && project::lies_in(path, place.path);
    });
    if (admitted) return {};
    return fail(ErrorId::kFilesRefused,
                fmt::format("{} does not admit writing there any more", kPolicyLayer));
  };
}

}  // namespace mcpac::run
