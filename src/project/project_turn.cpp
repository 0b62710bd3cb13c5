// SPDX-License-Identifier: Apache-2.0

#include "project/project_turn.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "core/abandoned.h"
#include "project/project_state.h"

namespace mcpac::project {
namespace {

// False: another process has it all the time. True as well where there are no such locks.
bool lock_within(const UniqueFd& file, std::chrono::milliseconds patience) {
  constexpr auto kPause = std::chrono::milliseconds(5);
  const auto give_up = std::chrono::steady_clock::now() + patience;
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return true;
    if (std::chrono::steady_clock::now() >= give_up) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace

Result<ProjectTurn> ProjectTurn::take(const Project& project, const Folders& folders,
                                      TurnPatience patience) {
  UniqueFd own = open_project_state(folders, "turns", project.config_file);
  if (own && !lock_within(own, patience.with_own)) {
    return fail(ErrorId::kLockBusy, "another mcpac is writing this project and does not end",
                {.where = project.lock_file().string(),
                 .why = "two at once would each lose what the other wrote",
                 .fix = "end the other `mcpac generate` or `mcpac lock accept`, or let it go on"});
  }
  UniqueFd folder(::open(project.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder && !lock_within(folder, patience.with_others)) folder.reset();
  // A process that was killed while it had the turn left what it was writing.
  for (const auto& place : {project.folder, project.headers(), project.headers() / "mcpac"})
    sweep_abandoned(place);
  return ProjectTurn(std::move(own), std::move(folder));
}

}  // namespace mcpac::project
