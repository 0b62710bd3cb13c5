// SPDX-License-Identifier: Apache-2.0

// VerifiedHeaders: cache of the files of servers/ that were checked against mcpac.lock and have not
// changed since.
//
// Programs that run one after another have the same headers each time, and reading and hashing
// them again stood between each run and its first call. A record in the cache says
// which digest a file had, and its stamp: device, inode, size, and the times of its last changes to
// the nanosecond. What has the same stamp is not read again.
//
// What that leaves to believe is little: the digest of a file that is not read names what was
// prepared from such a file before, in the cache, which its owner alone may write to
// (private_folder.h). The file itself is not used then. What is prepared anew is read, and held
// against the lock.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "project/project.h"

namespace mcpac::project {

class VerifiedHeaders {
 public:
  // Of the project's folder of headers. A record that another user owns, that others may read or
  // write, that is cut off or altered, or that was made for another folder is none.
  VerifiedHeaders(const Project& project, const Folders& folders);

  // The file `name` of servers/ as the lock names it; else what read_header() says.
  [[nodiscard]] Result<void> hold(const codegen::Lock& lock, const std::string& name);
  // For the next run. Never fails: without it that run reads the files.
  void keep();

 private:
  struct Seen {
    std::string digest;
    std::string stamp;
    bool operator==(const Seen&) const = default;
  };
  void load();
  [[nodiscard]] std::string head() const;

  const Project& project_;
  std::filesystem::path cache_;  // empty: there is no record
  std::map<std::string, Seen> seen_;
  bool changed_ = false;
};

}  // namespace mcpac::project
