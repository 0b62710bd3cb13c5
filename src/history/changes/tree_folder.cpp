#include "history/changes/tree_folder.h"

#include <fcntl.h>

#include <utility>

#include "history/changes/folder_access.h"

namespace mcpac::history {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

}  // namespace

TreeFolder::TreeFolder(int root) : TreeFolder(root, {}, open_beneath(root, {}, kFolder)) {}

TreeFolder::TreeFolder(int root, std::filesystem::path path, UniqueFd open)
    : root_(root), path_(std::move(path)), open_(std::move(open)) {
  if (open_ && ::fstat(open_.get(), &identity_) != 0) identity_ = {};
}

TreeFolder TreeFolder::below(const std::string& name) {
  return {root_, path_ / name, open_beneath(get(), name, kFolder)};
}

int TreeFolder::get() {
  if (open_ || !has_been_opened()) return open_.get();
  UniqueFd again = open_deep(root_, path_, kFolder);
  struct stat now {};
  const bool same = again && ::fstat(again.get(), &now) == 0 && now.st_ino == identity_.st_ino &&
                    now.st_dev == identity_.st_dev;
  if (same) open_ = std::move(again);
  return open_.get();
}

}  // namespace mcpac::history
