// NewRepositories: folders that changes would make into git repositories (core/repository.h),
// together with what lies there already. No protected name gives them away.
#pragma once

#include <filesystem>
#include <map>
#include <utility>

#include "core/folds_case.h"
#include "core/repository.h"
#include "history/changes/change.h"

namespace mcpac::history {

class NewRepositories {
 public:
  // A change that is to be made below `place`, an open folder that is borrowed.
  void add(int place, const Change& change);
  // Whether what `path` names would lie in one.
  [[nodiscard]] bool contain(int place, const std::filesystem::path& path);

 private:
  using Folder = std::pair<int, std::filesystem::path>;
  [[nodiscard]] bool is_one(const Folder& folder);
  // Of the folder, or of the nearest above it that is there.
  [[nodiscard]] NamesCompared names_in(const Folder& folder);
  std::map<Folder, RepositoryParts> made_;
  std::map<Folder, bool> known_;
  FoldingDevices devices_;
};

}  // namespace mcpac::history
