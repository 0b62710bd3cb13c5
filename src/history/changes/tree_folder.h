// TreeFolder: a folder of a tree that is walked, open only while it is looked at.
//
// A tree can be deeper than a process may have files open. So the walk closes a folder while it is
// below it, and opens it anew afterwards: by its path below the root, and only if it is still the
// same. Owns its descriptor, borrows the root's. Not thread-safe.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "core/file.h"

namespace mcpac::history {

class TreeFolder {
 public:
  explicit TreeFolder(int root);
  // A folder in this one; has_been_opened() tells whether it could be.
  [[nodiscard]] TreeFolder below(const std::string& name);
  [[nodiscard]] bool has_been_opened() const { return identity_.st_ino != 0; }
  // -1 where it is not there any more, or another lies there.
  [[nodiscard]] int get();
  void rest() { open_.reset(); }

 private:
  TreeFolder(int root, std::filesystem::path path, UniqueFd open);
  int root_;
  std::filesystem::path path_;  // below the root
  UniqueFd open_;
  struct stat identity_ {};
};

}  // namespace mcpac::history
