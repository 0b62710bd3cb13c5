// The files of servers/: written from a lock, and held against one.
//
// Writing makes the folder equal to what was generated; each file is replaced whole, and
// mcpac/lock.hpp comes first, so that whoever is interrupted leaves headers that do not compile
// rather than headers of another time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "codegen/lock.h"
#include "core/error.h"
#include "execute/project.h"

namespace mcpac::execute {

using HeaderFiles = std::map<std::string, std::string>;  // path below servers/ -> bytes

struct HeaderChanges {
  std::vector<std::string> written;  // "servers/filesystem.hpp"
  std::vector<std::string> removed;  // files of ours that nothing names any more
};
[[nodiscard]] Result<HeaderChanges> write_headers(const Project& project, const HeaderFiles& files);

// Every file that the lock names, byte for byte as it names it; kHeaderDrift for the first that is
// not.
[[nodiscard]] Result<HeaderFiles> read_headers(const Project& project, const codegen::Lock& lock);

struct HeaderProblem {
  enum class Kind : std::uint8_t { kMissing, kDiffers } kind = Kind::kMissing;
  std::string file;  // "servers/filesystem.hpp"
};
[[nodiscard]] std::vector<HeaderProblem> check_headers(const Project& project,
                                                       const codegen::Lock& lock);

}  // namespace mcpac::execute
