// SPDX-License-Identifier: Apache-2.0

// The files of servers/: written from a lock, and held against one.
//
// Writing makes the folder equal to what was generated; each file is replaced whole, and
// mcpac/lock.hpp comes first, so that an interruption leaves headers that do not compile rather
// than headers of another time. Of what else lies there, only headers whose first line says that we
// generated them are removed: the folder may be the user's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "codegen/lock.h"
#include "core/error.h"
#include "project/project.h"

namespace mcpac::project {

// "filesystem": what its header is called after, and what programs name it by.
[[nodiscard]] std::string word_of(const codegen::LockedServer& server);
// "filesystem.hpp"
[[nodiscard]] std::string header_file_of(const codegen::LockedServer& server);

using HeaderFiles = std::map<std::string, std::string>;  // path below the folder -> bytes

struct HeaderChanges {
  std::vector<std::string>
      written;  // "filesystem.hpp"; files that are right already keep their time
  std::vector<std::string> removed;  // files of ours that nothing names any more
};
// `folder` is servers/ of a project, or what a build made for itself.
[[nodiscard]] Result<HeaderChanges> write_headers(const std::filesystem::path& folder,
                                                  const HeaderFiles& files);

// The names in `files` that are taken in `folder` by something else than a header of ours.
[[nodiscard]] std::vector<std::string> foreign_files(const std::filesystem::path& folder,
                                                     const HeaderFiles& files);

// Path of the file `name` of servers/.
[[nodiscard]] std::filesystem::path place_of_header(const Project& project,
                                                    const std::string& name);
// The file `name` of servers/, byte for byte as the lock names it; else kHeaderDrift.
[[nodiscard]] Result<std::string> read_header(const Project& project, const codegen::Lock& lock,
                                              const std::string& name);

struct HeaderProblem {
  enum class Kind : std::uint8_t { kMissing, kDiffers } kind = Kind::kMissing;
  std::string file;  // "servers/filesystem.hpp"
};
[[nodiscard]] std::vector<HeaderProblem> check_headers(const Project& project,
                                                       const codegen::Lock& lock);

}  // namespace mcpac::project
