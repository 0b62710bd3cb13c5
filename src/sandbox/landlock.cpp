// SPDX-License-Identifier: Apache-2.0

#include "sandbox/landlock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace mcpac::sandbox {
namespace {

// <linux/landlock.h> of Debian 12 ends at ABI 2, so the kernel's numbers stand here.
struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t network = 0;  // from ABI 4
  std::uint64_t scopes = 0;   // from ABI 6
};
struct [[gnu::packed]] PathRule {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};
constexpr unsigned kCreateVersion = 1;
constexpr int kRulePathBeneath = 1;

constexpr std::uint64_t kExecute = 1U << 0U;
constexpr std::uint64_t kWriteFile = 1U << 1U;
constexpr std::uint64_t kReadFile = 1U << 2U;
constexpr std::uint64_t kReadFolder = 1U << 3U;
constexpr std::uint64_t kRemoveFolder = 1U << 4U;
constexpr std::uint64_t kRemoveFile = 1U << 5U;
constexpr std::uint64_t kMakeFolder = 1U << 7U;
constexpr std::uint64_t kMakeFile = 1U << 8U;
constexpr std::uint64_t kMakeSocket = 1U << 9U;
constexpr std::uint64_t kMakeFifo = 1U << 10U;
constexpr std::uint64_t kMakeLink = 1U << 12U;
constexpr std::uint64_t kRefer = 1U << 13U;
constexpr std::uint64_t kTruncate = 1U << 14U;
constexpr std::uint64_t kRightsOfFiles = kExecute | kWriteFile | kReadFile | kTruncate;

constexpr std::uint64_t kBindAndConnect = 3;
constexpr std::uint64_t kAbstractSocketsAndSignals = 3;

std::uint64_t known_rights(int abi) {
  if (abi >= 5) return 0xffff;  // with device ioctls
  if (abi >= 3) return 0x7fff;  // with truncation
  if (abi == 2) return 0x3fff;  // with linking across folders
  return 0x1fff;
}

// Devices, fifos, sockets and symbolic links are never made: no job of ours needs them, and each is
// a way to make a process outside open something else than it means.
std::uint64_t rights_of(Mount::Access access) {
  switch (access) {
    case Mount::Access::kRead: return kReadFile | kReadFolder;
    case Mount::Access::kReadExecute: return kReadFile | kReadFolder | kExecute;
    case Mount::Access::kReadWrite:
      return kReadFile | kReadFolder | kWriteFile | kTruncate | kMakeFile | kMakeFolder |
             kRemoveFile | kRemoveFolder | kRefer;
  }
  return 0;
}

// What is made in a private folder is not seen outside.
std::uint64_t rights_of_made(const PlannedMount& mount, bool holds_places) {
  const std::uint64_t written = rights_of(Mount::Access::kReadWrite);
  switch (mount.kind) {
    case Mount::Kind::kHost: return written;  // an overlay
    case Mount::Kind::kPrivate:
      return holds_places ? written : written | kMakeSocket | kMakeFifo | kMakeLink;
    case Mount::Kind::kProcesses: return kReadFile | kReadFolder;
    case Mount::Kind::kFolder: return kReadFolder;
    case Mount::Kind::kDevice:
    case Mount::Kind::kLink:
    case Mount::Kind::kAbsent: break;
  }
  return 0;
}

bool allow(int ruleset, int parent, std::uint64_t rights) {
  const PathRule rule{rights, parent};
  return ::syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &rule, 0) == 0;
}

std::size_t attributes_size(int abi) {
  if (abi >= 6) return sizeof(RulesetAttributes);
  return abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

}  // namespace

int landlock_abi() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kCreateVersion);
  return version < 0 ? 0 : static_cast<int>(version);
}

UniqueFd make_ruleset(std::span<const PlannedMount> mounts, int program, int abi, TcpRules tcp) {
  const std::uint64_t known = known_rights(abi);
  const RulesetAttributes attributes{known, tcp == TcpRules::kRefuse ? kBindAndConnect : 0,
                                     kAbstractSocketsAndSignals};
  UniqueFd ruleset(static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &attributes, attributes_size(abi), 0)));
  if (!ruleset) return {};
  for (const PlannedMount& mount : mounts) {
    if (!mount.changes.empty() || !mount.is_of_host()) continue;  // allow_made()
    const bool device = mount.kind == Mount::Kind::kDevice;
    std::uint64_t rights = rights_of(device ? Mount::Access::kReadWrite : mount.access) & known;
    if (!mount.directory) rights &= kRightsOfFiles;
    if (!allow(ruleset.get(), mount.handle.get(), rights)) return {};
  }
  if (program >= 0 && !allow(ruleset.get(), program, kExecute | kReadFile)) return {};
  return ruleset;
}

int allow_made(int ruleset, int folder, const PlannedMount& mount, bool holds_places, int abi) {
  const std::uint64_t rights = rights_of_made(mount, holds_places) & known_rights(abi);
  if (rights == 0) return 0;
  return allow(ruleset, folder, rights) ? 0 : errno;
}

int enter_ruleset(int ruleset) {
  return ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0 ? 0 : errno;
}

}  // namespace mcpac::sandbox
