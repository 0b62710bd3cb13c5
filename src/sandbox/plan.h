// SPDX-License-Identifier: Apache-2.0

// Plan: everything about one sandbox that can be worked out beforehand.
//
// The confined child runs in the warden's memory until it starts its program (vfork style: copying
// the page tables of a process costs more than the whole sandbox), so it must neither allocate nor
// fail in an interesting way. The warden therefore prepares all of it here; the child only makes
// system calls.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "core/file.h"
#include "sandbox/sandbox.h"

namespace mcpac::sandbox {

// The program's identity to the kernel.
enum class Identity : std::uint8_t {
  kKeep,           // the caller: an ordinary user in a sandbox without namespaces
  kUserNamespace,  // the caller, seen as 65534 in a user namespace of its own
  kOwnId,          // an unused id of its own: what a root warden gives
};

struct PlannedMount {
  std::string host;
  std::string inside;  // without the leading '/', normal form
  Mount::Access access = Mount::Access::kRead;
  UniqueFd handle;  // what the warden saw at `host`; the child must find the same
  dev_t device = 0;
  ino_t inode = 0;
  bool directory = false;
  // An overlay where this is not empty: `host` is read, and what is written lands here.
  std::string changes;
  dev_t changes_device = 0;
  ino_t changes_inode = 0;
  Mount::Kind kind = Mount::Kind::kHost;
  std::uint64_t size = 0;  // of kPrivate
  // Whether a tree of the host is mounted.
  [[nodiscard]] bool is_of_host() const {
    return kind == Mount::Kind::kHost || kind == Mount::Kind::kDevice;
  }
};

struct Plan {
  Tier tier = Tier::kA;
  int namespace_flags = 0;  // CLONE_NEW…; 0: none
  bool own_root = false;    // build a root of `mounts` and pivot into it
  bool empty_root = false;  // without mount namespaces: chroot into an empty folder
  Identity identity = Identity::kKeep;
  uid_t user = 0;                    // with kOwnId; the group id is the same number
  int id_map = -1;                   // user namespace for id-mapped mounts; -1: mounts as they are
  std::vector<PlannedMount> mounts;  // outer ones first
  std::string work_directory = "/";
  std::vector<std::string> kept_names{};
  std::vector<FileIdentity> kept_folders{};
  std::vector<std::string> kept_places{};
  mode_t new_file_mask = 022;
  Limits limits;
  Admits admits;
  bool count_processes = true;      // by id; a group counts them in any case
  int group = -1;                   // folder of its control group; -1: none
  UniqueFd ruleset;                 // Landlock; -1: none
  int landlock_abi = 0;             // of the ruleset
  std::vector<sock_filter> filter;  // empty: none (only in a probe)
  bool listened = false;            // the filter stops what it would kill, for a listener

  // Whether its first process ends all of it when it is told to, as no namespace does
  // (Child::Impl).
  [[nodiscard]] bool ends_by_request() const { return admits.has<Serves>() && !own_root; }

  int standard_input = -1;
  int standard_output = -1;
  int standard_error = -1;
  int channel = -1;
  std::vector<Listen> listens;
  int observer = -1;                   // with `observing`; -1: none
  std::vector<sock_filter> observing;  // before its filter (observe.h)
  int program = -1;                    // -1: a trial that ends where the program would start
  bool try_filter = false;             // a trial that ends with a forbidden system call
  std::vector<char*> arguments;        // null-terminated, into the spec
  std::vector<char*> environment;      // likewise
};

// Descriptor numbers of the child up to the start of its program: above every limit for open files,
// so that the program can never have a descriptor of this number again (seccomp.cpp).
inline constexpr int kProgramDescriptor = 1000;
inline constexpr int kReportDescriptor = 1001;
inline constexpr int kRulesetDescriptor = 1002;  // and kObserverDescriptor (observe.h)
inline constexpr int kFirstListening = 1004;     // and those after it, one for each of `listens`
inline constexpr std::size_t kMostListens = 16;
inline constexpr std::uint64_t kMostOpenFiles = 512;
inline constexpr std::size_t kMostMounts = 512;
inline constexpr std::size_t kLongestLink = 100;  // bytes of its text

}  // namespace mcpac::sandbox
