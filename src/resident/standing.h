// SPDX-License-Identifier: Apache-2.0

// Standing: confinement of a process, as the kernel reports it.
//
// The resident host runs programs for others of the same user. One of them that is confined (in
// another namespace, cgroup or root, under another label of a security module, with other limits
// or capabilities) must not have it run something outside of its confinement; so both ends compare
// standings, and differ in nothing or have nothing to do with each other. A process under
// no_new_privs stands alone: only such a one can be held by a Landlock domain that it made without
// privileges, and those the kernel does not show. Not seen either: a Landlock domain that a
// privileged process (CAP_SYS_ADMIN) made for itself.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/file.h"

namespace mcpac::resident {

using Standing = std::map<std::string, std::string>;

// A process that keeps its meaning: the number of one that ended is never another one's.
class Process {
 public:
  // The process at the other end of a connected Unix socket, as it was when it connected, or when
  // it began to listen.
  [[nodiscard]] static std::optional<Process> peer_of(int socket);
  [[nodiscard]] static std::optional<Process> of(pid_t number);
  [[nodiscard]] pid_t number() const { return number_; }
  [[nodiscard]] bool is_alive() const;
  // Readable once it has ended.
  [[nodiscard]] int descriptor() const { return handle_.get(); }
  [[nodiscard]] bool signal(int signal) const;

 private:
  Process(pid_t number, UniqueFd handle) : number_(number), handle_(std::move(handle)) {}
  pid_t number_;
  UniqueFd handle_;
};

// Nothing where the kernel hides a part of it, or the process ended meanwhile.
[[nodiscard]] std::optional<Standing> standing_of(const Process& process);

// The name of a part that the two do not share, or why one of them stands alone; nothing: they
// share all.
[[nodiscard]] std::optional<std::string> difference(const Standing& ours, const Standing& theirs);

// The same of two processes, as a sentence. What is cheap to ask is compared first, and who differs
// is not asked further: no process can make its judge wait.
[[nodiscard]] std::optional<std::string> why_apart(const Process& ours, const Process& theirs);
[[nodiscard]] std::optional<std::string> why_apart_from_us(const Process& theirs);

}  // namespace mcpac::resident
