#include "history/changes/new_repositories.h"

#include <fcntl.h>

#include "history/changes/folder_access.h"

namespace mcpac::history {

namespace fs = std::filesystem;

void NewRepositories::add(int place, const Change& change) {
  const bool deletes =
      change.kind == Change::Kind::kDeleted || change.kind == Change::Kind::kFolderDeleted;
  const fs::path path = change.path;
  if (!deletes) made_[{place, path.parent_path()}].add(path.filename().native());
}

bool NewRepositories::contain(int place, const fs::path& path) {
  for (fs::path folder = path.parent_path();; folder = folder.parent_path()) {
    if (is_one({place, folder})) return true;
    if (folder.empty()) return false;
  }
}

bool NewRepositories::is_one(const Folder& folder) {
  const auto [at, is_new] = known_.try_emplace(folder, false);
  if (!is_new) return at->second;
  const auto made = made_.find(folder);
  RepositoryParts parts = made == made_.end() ? RepositoryParts() : made->second;
  for (const std::string_view name : kRepositoryParts) {
    if (look_beneath(folder.first, folder.second / name)) parts.add(name);
  }
  at->second =
      parts.is_whole(NamesCompared::kAsWritten) ||
      (parts.is_whole(NamesCompared::kFolded) && names_in(folder) == NamesCompared::kFolded);
  return at->second;
}

NamesCompared NewRepositories::names_in(const Folder& folder) {
  for (fs::path at = folder.second;; at = at.parent_path()) {
    const UniqueFd there = open_beneath(folder.first, at, O_RDONLY | O_DIRECTORY);
    if (!there && !at.empty()) continue;
    const bool folds = !there || FoldingLook(there.get(), {}).folds(devices_);
    return folds ? NamesCompared::kFolded : NamesCompared::kAsWritten;
  }
}

}  // namespace mcpac::history
