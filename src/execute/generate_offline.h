// generate_offline: mcpac.lock in, headers out, and no server started.
//
// For builds (mcpac_generate in CMake) and for a checkout without servers/: the lock holds every
// approved definition whole, so nobody needs to be asked, and a build is the same on every machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"

namespace mcpac::execute {

// kInstalled: the runtime headers come with the target mcpac::runtime and are left out here, so
// that all parts of one program see the same ones.
enum class RuntimeHeaders : std::uint8_t { kWrite, kInstalled };

struct OfflineReport {
  std::vector<std::string> written;  // below the folder; what changed
  std::vector<std::string> removed;  // headers of servers that are gone
  bool as_locked =
      true;  // every header has the digest that the lock names: false with another mcpac
};

// kLockDrift where this mcpac would give a tool another C++ name than the lock says.
[[nodiscard]] Result<OfflineReport> generate_offline(const std::filesystem::path& lock_file,
                                                     const std::filesystem::path& folder,
                                                     RuntimeHeaders runtime);

}  // namespace mcpac::execute
