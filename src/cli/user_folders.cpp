// SPDX-License-Identifier: Apache-2.0

#include "cli/user_folders.h"

#include <cstdlib>
#include <system_error>

#include "core/file.h"

namespace mcpac::cli {

namespace fs = std::filesystem;

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

fs::path base_folder(const char* variable, const fs::path& otherwise) {
  const fs::path value = environment_variable(variable);
  return (value.is_absolute() ? value : otherwise) / "mcpac";
}

project::Folders user_folders(const fs::path& home, const fs::path& libexec) {
  project::Folders folders;
  folders.state = base_folder("XDG_STATE_HOME", home / ".local/state");
  folders.cache = base_folder("XDG_CACHE_HOME", home / ".cache");
  folders.temporary = user_temporary_folder();
  // Where the session has no such folder, live runs are kept below the state folder.
  const fs::path runtime = environment_variable("XDG_RUNTIME_DIR");
  if (runtime.is_absolute()) folders.runtime = runtime / "mcpac";
  folders.libexec = libexec;
  return folders;
}

fs::path own_program() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

}  // namespace mcpac::cli
