#include "execute/changes/writable_today.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/printable.h"
#include "execute/check/authorities.h"
#include "execute/files/open_place.h"
#include "execute/host/tool_tables.h"
#include "policy/text/printer.h"

namespace mcpac::execute {

Result<MayWrite> writable_today(const Project& project, const Clock& clock,
                                const Changeset& changes) {
  auto lock = load_lock(project);
  if (!lock) return pass_on(lock);
  PolicyWorld world(project, clock);
  world.tools = tool_schemas(*lock);
  policy::LayerText granted;
  granted.name = "the run";
  for (const ChangedPlace& place : changes.places)
    granted.places.push_back(
        fmt::format("files {} read-write", policy::print_string(place.path.string())));
  auto authority = load_authority(project, world, {std::move(granted)});
  if (!authority) return pass_on(authority);
  return [places = authority->files()](const std::filesystem::path& path) -> Result<void> {
    const bool admitted = std::ranges::any_of(places, [&](const policy::FilePlace& place) {
      return place.mode == policy::FileMode::kReadWrite && lies_in(path, place.path);
    });
    if (admitted) return {};
    return fail(ErrorId::kFilesRefused,
                fmt::format("{} does not admit writing there any more", kPolicyLayer));
  };
}

}  // namespace mcpac::execute
