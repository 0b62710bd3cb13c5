// SPDX-License-Identifier: Apache-2.0

// FoldsCase: whether the file system of a folder is case-insensitive.
//
// There a name has spellings that no table of ours holds all of, so nothing that goes by names can
// be promised of it. Nothing is written to find out: a folder says it by its flag (casefold of
// ext4, f2fs and tmpfs), some kinds of file systems are known to fold or not to, and of all others
// an entry is asked for by its name in the other case. Where there is nothing to ask for, a folder
// counts as one that folds.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace mcpac {

// A handful of calls: at most the beginning of the folder is read, and only where nothing else can
// tell.
[[nodiscard]] bool folds_case(const std::filesystem::path& folder);

// Known file systems, by device number.
using FoldingDevices = std::map<dev_t, bool>;

// For callers that look at many folders, and list them anyway.
class FoldingLook {
 public:
  // Both are borrowed; `at` is the folder's path.
  FoldingLook(int folder, std::string_view at) : folder_(folder), at_(at) {}
  // A name that lies in the folder.
  void add(std::string_view name);
  [[nodiscard]] bool folds(FoldingDevices& known) const;

 private:
  int folder_;
  std::string_view at_;
  std::string name_;  // the first with a letter
};

}  // namespace mcpac
