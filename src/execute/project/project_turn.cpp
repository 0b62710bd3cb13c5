#include "execute/project/project_turn.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

namespace mcpac::execute {

ProjectTurn::ProjectTurn(const Project& project)
    : folder_(::open(project.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!folder_) return;
  while (::flock(folder_.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

}  // namespace mcpac::execute
