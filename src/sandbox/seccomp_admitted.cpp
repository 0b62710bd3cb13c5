// SPDX-License-Identifier: Apache-2.0

// The calls behind each weakening (admits.h). Which files they reach is for mounts and Landlock; so
// nothing is admitted here that those two do not hold.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>

#include "sandbox/seccomp_rules.h"

namespace mcpac::sandbox {
namespace {

constexpr std::uint32_t kAllow = SCMP_ACT_ALLOW;
constexpr std::uint32_t refuse(int error) {
  return SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error));
}

constexpr int kDynamicLoader[] = {SCMP_SYS(pread64), SCMP_SYS(newfstatat), SCMP_SYS(stat),
                                  SCMP_SYS(lstat),   SCMP_SYS(access),     SCMP_SYS(faccessat)};

constexpr int kReading[] = {SCMP_SYS(stat),       SCMP_SYS(lstat),      SCMP_SYS(newfstatat),
                            SCMP_SYS(statx),      SCMP_SYS(access),     SCMP_SYS(faccessat),
                            SCMP_SYS(faccessat2), SCMP_SYS(readlink),   SCMP_SYS(readlinkat),
                            SCMP_SYS(getcwd),     SCMP_SYS(getdents64), SCMP_SYS(statfs),
                            SCMP_SYS(fstatfs),    SCMP_SYS(pread64),    SCMP_SYS(preadv)};

// Links and special files are never made: each is a way to make a process outside open something
// else than it means.
constexpr int kWriting[] = {SCMP_SYS(pwrite64), SCMP_SYS(pwritev),  SCMP_SYS(ftruncate),
                            SCMP_SYS(unlink),   SCMP_SYS(unlinkat), SCMP_SYS(rmdir),
                            SCMP_SYS(rename),   SCMP_SYS(renameat), SCMP_SYS(umask),
                            SCMP_SYS(fsync),    SCMP_SYS(fdatasync)};

// Of those, what makes, takes or gives away a name.
constexpr int kNaming[] = {SCMP_SYS(mkdir),    SCMP_SYS(mkdirat),   SCMP_SYS(rename),
                           SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(unlink),
                           SCMP_SYS(unlinkat), SCMP_SYS(rmdir),     SCMP_SYS(truncate)};

// Not held by Landlock (truncate: not before ABI 3), only by what is mounted.
constexpr int kWritingInOwnRoot[] = {SCMP_SYS(truncate), SCMP_SYS(utimensat), SCMP_SYS(utime),
                                     SCMP_SYS(utimes), SCMP_SYS(futimesat)};

// At this error alone libstdc++'s std::filesystem::copy_file goes on with sendfile().
constexpr int kCopying[] = {SCMP_SYS(copy_file_range)};

// What is received are connections: they are read, written and closed as any descriptor, and ended
// one way only with this.
constexpr int kReceiving[] = {SCMP_SYS(shutdown)};

constexpr int kCompiling[] = {SCMP_SYS(msync),     SCMP_SYS(getuid),    SCMP_SYS(geteuid),
                              SCMP_SYS(getgid),    SCMP_SYS(getegid),   SCMP_SYS(uname),
                              SCMP_SYS(sysinfo),   SCMP_SYS(getrusage), SCMP_SYS(times),
                              SCMP_SYS(getrlimit), SCMP_SYS(getppid)};

using Rules = std::vector<ArgumentRule>;

scmp_arg_cmp masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

// Admits the call with these flags (of 32 bits) and no others.
void flag_rules(Rules& rules, int call, unsigned argument, std::uint64_t flags, int error) {
  constexpr unsigned kBits = 32;
  const std::uint64_t others = 0xffffffffU & ~flags;
  rules.push_back({kAllow, call, {masked(argument, others, 0)}});
  // Rules of one call never overlap: one for each lowest of the other flags.
  for (unsigned bit = 0; bit < kBits; ++bit) {
    const std::uint64_t flag = std::uint64_t{1} << bit;
    if ((others & flag) == 0) continue;
    rules.push_back({refuse(error), call, {masked(argument, others & (flag | (flag - 1)), flag)}});
  }
}

// open() and openat() for reading, nothing else.
void reading_rules(Rules& rules, int call, unsigned flags) {
  constexpr std::uint64_t kWays = O_ACCMODE | O_CREAT | O_TRUNC;
  rules.push_back({kAllow, call, {masked(flags, kWays, O_RDONLY)}});
  for (const unsigned way : {1U, 2U, 3U}) {
    rules.push_back({refuse(EACCES), call, {masked(flags, O_ACCMODE, way)}});
  }
  rules.push_back({refuse(EACCES), call, {masked(flags, O_ACCMODE | O_CREAT, O_CREAT)}});
  rules.push_back({refuse(EACCES), call, {masked(flags, kWays, O_TRUNC)}});
}

// A set-user-id or set-group-id bit is never put on a file.
void mode_rules(Rules& rules, int call, unsigned mode) {
  constexpr std::uint64_t kSpecial = 06000;
  rules.push_back({kAllow, call, {masked(mode, kSpecial, 0)}});
  for (const unsigned bits : {02000U, 04000U, 06000U}) {
    rules.push_back({refuse(EPERM), call, {masked(mode, kSpecial, bits)}});
  }
}

// Opening for reading is the program's; what makes or writes is the guard's, which refuses set-id
// bits itself. With O_PATH nothing is made or written, whatever else is asked for ("O_PATH beats
// everything else", fs/open.c since 5.6), and no such descriptor can be handed over by the guard.
void guarded_open_rules(Rules& rules, int call, unsigned flags) {
  constexpr std::uint64_t kWays = O_ACCMODE | O_CREAT | O_TRUNC | O_PATH;
  rules.push_back({kAllow, call, {masked(flags, O_PATH, O_PATH)}});
  rules.push_back({kAllow, call, {masked(flags, kWays, O_RDONLY)}});
  for (const unsigned way : {1U, 2U, 3U})
    rules.push_back({SCMP_ACT_NOTIFY, call, {masked(flags, O_ACCMODE | O_PATH, way)}});
  rules.push_back({SCMP_ACT_NOTIFY, call, {masked(flags, O_ACCMODE | O_CREAT | O_PATH, O_CREAT)}});
  rules.push_back({SCMP_ACT_NOTIFY, call, {masked(flags, kWays, O_TRUNC)}});
}

void naming_rules(Rules& rules, Names names) {
  if (names == Names::kGuarded) {
    guarded_open_rules(rules, SCMP_SYS(open), 1);
    guarded_open_rules(rules, SCMP_SYS(openat), 2);
    return;
  }
  mode_rules(rules, SCMP_SYS(open), 2);
  mode_rules(rules, SCMP_SYS(openat), 3);
  mode_rules(rules, SCMP_SYS(mkdir), 1);
  mode_rules(rules, SCMP_SYS(mkdirat), 2);
  // RENAME_WHITEOUT makes a device, as every user may, and Landlock is not asked.
  flag_rules(rules, SCMP_SYS(renameat2), 4, RENAME_NOREPLACE | RENAME_EXCHANGE, EINVAL);
}

// Files into files, for std::filesystem::copy_file, which libc++ does in no other way. The streams
// and the channel are written by write() alone: pages of a file in a pipe or a socket are shared
// with the file (CVE-2022-0847).
void copying_rules(Rules& rules) {
  constexpr unsigned kBits = 32;
  constexpr std::uint64_t kBeyondTheChannel = 0xffffffffU & ~std::uint64_t{3};
  rules.push_back({refuse(EINVAL), SCMP_SYS(sendfile), {masked(0, kBeyondTheChannel, 0)}});
  // One for each lowest bit, as in flag_rules().
  for (unsigned bit = 2; bit < kBits; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit;
    const std::uint64_t mask = kBeyondTheChannel & (one | (one - 1));
    rules.push_back({kAllow, SCMP_SYS(sendfile), {masked(0, mask, one)}});
  }
}

void writing_rules(Rules& rules, const FilterKey& key) {
  copying_rules(rules);
  naming_rules(rules, key.names);
  // Other ways take room that no size shows, which RLIMIT_FSIZE is not asked about; libraries write
  // zeros instead.
  flag_rules(rules, SCMP_SYS(fallocate), 1, 0, EOPNOTSUPP);
  if (key.root != Root::kOwn) return;
  mode_rules(rules, SCMP_SYS(chmod), 1);
  mode_rules(rules, SCMP_SYS(fchmod), 1);
  mode_rules(rules, SCMP_SYS(fchmodat), 2);
}

}  // namespace

bool names_a_file(int call) {
  return call == SCMP_SYS(open) || call == SCMP_SYS(openat) ||
         std::ranges::find(kNaming, call) != std::end(kNaming);
}

std::vector<CallGroup> admitted_groups(const FilterKey& key) {
  const Admits admits = key.admits;
  std::vector<CallGroup> groups;
  if (admits.has<OpensLibraries>()) groups.push_back({kAllow, kDynamicLoader});
  if (admits.has<ReadsFiles>()) groups.push_back({kAllow, kReading});
  if (admits.has<WritesFiles>()) {
    groups.push_back({kAllow, kWriting});
    groups.push_back({refuse(ENOSYS), kCopying});
    if (key.root == Root::kOwn) groups.push_back({kAllow, kWritingInOwnRoot});
    if (key.names == Names::kGuarded) groups.push_back({SCMP_ACT_NOTIFY, kNaming});
  }
  if (admits.has<ReceivesDescriptors>()) groups.push_back({kAllow, kReceiving});
  if (admits.has<Compiles>()) groups.push_back({kAllow, kCompiling});
  return groups;
}

std::vector<ArgumentRule> admitted_rules(const FilterKey& key) {
  Rules rules;
  if (key.admits.has<WritesFiles>()) {
    writing_rules(rules, key);
  } else if (key.admits.opens_files()) {
    reading_rules(rules, SCMP_SYS(open), 1);
    reading_rules(rules, SCMP_SYS(openat), 2);
  }
  if (key.admits.has<ReceivesDescriptors>()) {
    constexpr scmp_datum_t kChannel = 3;
    constexpr std::uint64_t kOdd = kOddSocketFlags & ~std::uint64_t{MSG_CMSG_CLOEXEC};
    rules.push_back(
        {kAllow, SCMP_SYS(recvmsg), {{0, SCMP_CMP_EQ, kChannel, 0}, masked(2, kOdd, 0)}});
    rules.push_back({refuse(EPERM), SCMP_SYS(recvmsg), {{0, SCMP_CMP_NE, kChannel, 0}}});
  }
  return rules;
}

}  // namespace mcpac::sandbox
