// Mounts for tests of paths: a process with mounts of its own, and a folder that folds case.
//
// Both want a user who may mount; where the machine lets nobody, tests say so and are skipped.
#pragma once

#include <functional>
#include <string>

#include "core/file.h"

namespace mcpac::policy::testing {

// Runs `body` in a child process whose mounts nobody else sees, and gives what it returns: nothing
// where all is well, else what is not. A text that begins with "skipped: " is printed, and is
// nothing.
[[nodiscard]] std::string in_own_mounts(const std::function<std::string()>& body);

// "" or "skipped: …".
[[nodiscard]] std::string bind_mount(const std::string& from, const std::string& to);

// A file system in user space (FUSE) with the folder "secret", in it the file "key", the folder
// "open", in it the file "a.key", and nothing else. All names are found in any case; lists have
// them as they stand here. For use in in_own_mounts() only: it ends with the process.
class FoldingFolder {
 public:
  // "" or "skipped: …".
  [[nodiscard]] std::string mount(const std::string& at);

 private:
  UniqueFd device_;
};

}  // namespace mcpac::policy::testing
