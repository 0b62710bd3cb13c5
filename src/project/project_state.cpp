// SPDX-License-Identifier: Apache-2.0

#include "project/project_state.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <system_error>

#include "core/hash.h"
#include "project/project_place.h"

namespace mcpac::project {

std::filesystem::path project_state_file(const Folders& folders, const char* kind,
                                         const std::filesystem::path& config_file) {
  const auto folder = folders.state / kind;
  std::error_code ignored;
  std::filesystem::create_directories(folders.state, ignored);
  ::mkdir(folder.c_str(), 0700);
  return folder / sha256_hex(place_of_project(config_file).native()).substr(0, 2);
}

UniqueFd open_project_state(const Folders& folders, const char* kind,
                            const std::filesystem::path& config_file) {
  return UniqueFd(::open(project_state_file(folders, kind, config_file).c_str(),
                         O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

}  // namespace mcpac::project
