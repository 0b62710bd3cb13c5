// SPDX-License-Identifier: Apache-2.0

#include "sandbox/launch.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "sandbox/clone_into.h"
#include "sandbox/confine.h"
#include "sandbox/packet.h"

namespace mcpac::sandbox {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MCPAC_COPY_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MCPAC_COPY_MEMORY 1
#endif
#endif

// Sharing memory with the child saves the copy of the page tables. A sanitizer's shadow memory does
// not survive two processes in it.
#ifdef MCPAC_COPY_MEMORY
constexpr int kMemory = 0;
#else
constexpr int kMemory = CLONE_VM | CLONE_VFORK;
#endif

constexpr std::size_t kStackSize = std::size_t{256} << 10U;

// One stack for all children: the warden is one thread and waits for each to leave it.
std::span<char> stack() {
  static void* const memory =
      ::mmap(nullptr, kStackSize, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return {};
  return {static_cast<char*>(memory), kStackSize};
}

// clone and not clone3 where there is no group to begin in: container profiles answer clone3 with
// ENOSYS. A child that could not begin in its group goes there first of all. It makes its cgroup
// namespace only then: a namespace begins at the group that its maker is in.
pid_t start_child(Plan& plan, Confinement& confinement, int* process) {
  const std::span<char> room = stack();
  if (room.empty()) return -1;
  int flags = kMemory | CLONE_PIDFD | SIGCHLD | plan.namespace_flags;
  if (plan.group >= 0) {
    flags &= ~CLONE_NEWCGROUP;
    const IntoGroup into{.group = plan.group,
                         .flags = static_cast<std::uint64_t>(flags & ~CSIGNAL),
                         .stack = room,
                         .process = process};
    const pid_t child = clone_into(into, confine, &confinement);
    if (child >= 0 || errno != ENOSYS) return child;
    confinement.joins_group = true;
  }
  return ::clone(confine, room.data() + room.size(), flags, &confinement, process);
}

// Packets of a Failure, or of a byte with the listener. The end means that the program runs: the
// socket closed with the exec.
Failure read_report(int reader, UniqueFd& listener) {
  constexpr int kMostPackets = 2;
  for (int i = 0; i <= kMostPackets; ++i) {
    auto packet = receive_packet(reader, sizeof(Failure));
    if (!packet) break;
    if (!packet->descriptors.empty() && !listener)
      listener = std::move(packet->descriptors.front());
    if (packet->bytes.empty()) return {};
    Failure failure;
    if (packet->bytes.size() == sizeof failure) {
      std::memcpy(&failure, packet->bytes.data(), sizeof failure);
      if (failure.layer != Layer::kNone) return failure;
    }
    if (packet->bytes.size() != 1) break;
  }
  return {.layer = Layer::kProcess, .error = EIO};
}

}  // namespace

Launched launch(Plan& plan) {
  Launched result;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    result.failure = {.layer = Layer::kProcess, .error = errno};
    return result;
  }
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  Confinement confinement{&plan, writer.get(), reader.get(), ::geteuid(), ::getegid()};
  int process = -1;
  result.pid = start_child(plan, confinement, &process);
  if (result.pid < 0) {
    const bool asked_for_namespaces =
        plan.namespace_flags != 0 && errno != EAGAIN && errno != ENOMEM;
    result.failure = {.layer = asked_for_namespaces ? Layer::kNamespaces : Layer::kProcess,
                      .error = errno};
    return result;
  }
  result.process = UniqueFd(process);
  // Changing ids in shared memory has made the warden undumpable, and then it could not write id
  // maps.
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  writer.reset();
  result.failure = read_report(reader.get(), result.listener);
  // A filter whose listener got lost on its way would refuse what it should end.
  if (result.failure.layer == Layer::kNone && plan.listened && !result.listener)
    result.failure = {.layer = Layer::kSeccomp, .error = EMFILE};
  if (result.failure.layer != Layer::kNone) {
    ::kill(result.pid, SIGKILL);
    // Its end, and not that it stands still for its watch.
    int status = 0;
    while (::waitpid(result.pid, &status, 0) == result.pid && WIFSTOPPED(status)) {
    }
    result.pid = -1;
  }
  return result;
}

}  // namespace mcpac::sandbox
