#include "execute/project/project_turn.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "core/abandoned.h"

namespace mcpac::execute {

ProjectTurn::ProjectTurn(const Project& project)
    : folder_(::open(project.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!folder_) return;
  while (::flock(folder_.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  // Whoever was killed while it had the turn left what it was writing.
  for (const auto& folder : {project.folder, project.headers(), project.headers() / "mcpac"})
    sweep_abandoned(folder);
}

}  // namespace mcpac::execute
