// SPDX-License-Identifier: Apache-2.0

// NameGuard: holds names in the folders that a program writes, where neither mounts nor Landlock
// can: a name that is not there yet cannot be mounted over, and Landlock's rules know no names.
//
// The program's filter stops each call that makes, gives away, takes or writes a name. A process of
// ours in the program's own root, with its ids, its Landlock rules and no more, copies the path out
// of the program's memory, looks at it, and makes the call itself: what was looked at is what is
// done, and no other thread can exchange the path in between. Protected names, what lies in them,
// folders above a mount and new git repositories are refused; all else happens as the program asked
// for it. Other calls that stop are the warden's to judge. Where two programs write one folder,
// their guards add parts of a git repository in turns (core/repository.h), so that no two halves
// meet.
//
// The guard is the warden's child. It ends with the program, and the program with it.
#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <utility>

#include "core/file.h"
#include "sandbox/plan.h"

namespace mcpac::sandbox {

// Message of a guard to the warden.
struct GuardWord {
  enum class Kind : std::uint32_t {
    kEnded,       // it is not there any more
    kReady,       // `error` is why not, or 0
    kForbidden,   // `call` is one that is never admitted: it waits, and is not answered
    kDescriptor,  // wants the folder that `number` is in the thread `thread`: answer_descriptor()
    kRefused,     // `path` was refused, as it is a protected name
  } kind = Kind::kEnded;
  std::int32_t error = 0;
  std::int32_t thread = 0;
  std::int32_t number = 0;
  seccomp_notif call{};
  std::array<char, 256> path{};  // cut to fit, with a NUL
};

// Since when the guard works on a call, by the monotonic clock in seconds; 0: it waits for one. In
// memory that it shares with the warden.
struct UnmapTime {
  void operator()(std::atomic<std::int64_t>* time) const;
};
using SharedTime = std::unique_ptr<std::atomic<std::int64_t>, UnmapTime>;

// The seconds that one call of the program may take.
inline constexpr int kGuardPatience = 30;

class NameGuard {
 public:
  // In the warden, as soon as `program` runs; `listener` is its filter's. errno where it cannot be:
  // then the program must not go on.
  static std::expected<NameGuard, int> start(const Plan& plan, pid_t program, int listener);
  NameGuard(NameGuard&&) noexcept;
  NameGuard& operator=(NameGuard&& other) noexcept;
  ~NameGuard();  // ends it, and waits a moment for its end

  [[nodiscard]] int socket() const { return socket_.get(); }
  // One word; the socket is readable.
  [[nodiscard]] GuardWord hear() const;
  // A file system has not answered it for kGuardPatience: no signal ends such a wait.
  [[nodiscard]] bool is_out_of_patience() const;
  // Opens the folder for the guard, which may not look at other processes.
  void answer_descriptor(const GuardWord& asked) const;

 private:
  NameGuard(pid_t pid, UniqueFd socket, SharedTime busy_since)
      : pid_(pid), socket_(std::move(socket)), busy_since_(std::move(busy_since)) {}
  pid_t pid_ = -1;
  UniqueFd socket_;
  SharedTime busy_since_;
};

}  // namespace mcpac::sandbox
