// FoldsCase: whether the file system of a folder takes names for the same that differ in case.
//
// There a name has spellings that no table of ours holds all of, so nothing that goes by names can
// be promised of it. Nothing is written to find out: a folder says it by its flag (casefold of
// ext4, f2fs and tmpfs), some kinds of file systems are known to fold or not to, and of all others
// an entry is asked for by its name in the other case.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace mcpac::execute {

// What is known of each file system, by its device number.
using FoldingDevices = std::map<dev_t, bool>;

class FoldingLook {
 public:
  // `folder` is open for listing and borrowed; `at` is its path.
  FoldingLook(int folder, const std::filesystem::path& at) : folder_(folder), at_(at) {}
  // A name that lies in the folder; all of them are added.
  void add(std::string_view name);
  // Where nothing can be asked for, neither here nor by the folder's own name, an unknown kind of
  // file system counts as one that folds.
  [[nodiscard]] bool folds(FoldingDevices& known) const;

 private:
  int folder_;
  const std::filesystem::path& at_;
  std::string name_;  // the first with a letter; its other case is no entry of its own
};

}  // namespace mcpac::execute
