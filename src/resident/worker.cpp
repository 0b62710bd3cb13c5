// SPDX-License-Identifier: Apache-2.0

#include "resident/worker.h"

#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "core/exit_code.h"
#include "resident/handshake.h"
#include "resident/request.h"
#include "resident/wire.h"

namespace mcpac::resident {
namespace {

// Touches the program beforehand: its code and constants, and those of its libraries, are in the
// page tables of this process afterwards.
//
// Else a worker does that page by page while a client waits: half a millisecond of the six until
// the first call of a program that was seen.

// Changes no byte. Does nothing on kernels before 5.14, and where memory is short.
void touch_program();

#ifndef MADV_POPULATE_READ
constexpr int MADV_POPULATE_READ = 22;  // Linux 5.14
#endif

int touch_object(dl_phdr_info* object, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    // What may be written would become a copy of the process's own: memory that it may never need.
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + part.p_vaddr) / page * page;
    const std::uintptr_t end = object->dlpi_addr + part.p_vaddr + part.p_memsz;
    static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_READ));
  }
  return 0;
}

void touch_program() {
  ::dl_iterate_phdr(touch_object, nullptr);
}

}  // namespace

namespace {

constexpr int kNoService = static_cast<int>(ExitCode::kUnavailable);

// What ends a run ends a worker that waits, too: by a descriptor, so that servers are shut down.
UniqueFd block_ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Descriptor 0 as one of our own, out of the way of the client's.
UniqueFd take_channel() {
  int kind = 0;
  socklen_t size = sizeof kind;
  const bool is_ours =
      ::getsockopt(0, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_SEQPACKET;
  if (!is_ours) return {};
  UniqueFd channel(::fcntl(0, F_DUPFD_CLOEXEC, 3));
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!channel || !nothing || ::dup2(nothing.get(), 0) != 0) return {};
  return channel;
}

// Exchanged at once and never taken apart: servers that are still being started read it on another
// thread, and what they read is the same in the old one and in the new one (resident/request.h).
void take_environment(const std::vector<std::string>& environment) {
  static std::vector<std::string> texts;
  static std::vector<char*> pointers;
  texts = environment;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  __atomic_store_n(&environ, pointers.data(), __ATOMIC_RELEASE);
}

// Request passed on by the host, and the other end of the client's socket.
struct Taken {
  Request request;
  UniqueFd client;
  pid_t number = 0;
};

// Becomes what the client is, but for its standard descriptors; nothing where that fails.
std::optional<Taken> take_over(Message message) {
  const Json* client = find_member(message.body, "client");
  if (message.descriptors.size() != kPassed || client == nullptr || !client->is_number_unsigned())
    return std::nullopt;
  auto request = from_memory(message.descriptors[kRequestAt].get());
  UniqueFd channel = std::move(message.descriptors[kChannelAt]);
  if (!request || !tell_senders(channel.get()) ||
      ::fchdir(message.descriptors[kFolderAt].get()) != 0)
    return std::nullopt;
  take_environment(request->environment);
  ::umask(request->umask);
  return Taken{std::move(*request), std::move(channel), client->get<pid_t>()};
}

// The client's descriptors 0 to 2 in our places of them; our copies go.
bool take_standard(StandardDescriptors standard) {
  for (int fd = 0; fd < 3; ++fd) {
    if (::dup2(standard[static_cast<std::size_t>(fd)].get(), fd) != fd) return false;
  }
  return true;
}

// While this lives, standard error leads nowhere: the warden, which starts now and stays as it is,
// is not to hold the host's log.
class Muted {
 public:
  Muted() : log_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) { ::dup2(0, STDERR_FILENO); }
  ~Muted() { ::dup2(log_.get(), STDERR_FILENO); }
  Muted(const Muted&) = delete;
  Muted& operator=(const Muted&) = delete;

 private:
  UniqueFd log_;
};

// In the folder of the last request: it is entered here and not by the host, for whose it is may
// make us wait for ever.
std::unique_ptr<run::PrewarmedRun> prepare(const Message& message,
                                           const project::Folders& folders) {
  const Json& body = message.body;
  if (message.descriptors.size() != 1 || ::fchdir(message.descriptors[0].get()) != 0)
    return nullptr;
  std::set<std::string> servers;
  if (const Json* names = find_member(body, "servers"); names != nullptr && names->is_array()) {
    for (const Json& name : *names) {
      if (name.is_string()) servers.insert(name.get<std::string>());
    }
  }
  if (const Json* mask = find_member(body, "umask"); mask != nullptr && mask->is_number_unsigned())
    ::umask(mask->get<mode_t>());
  const Muted muted;
  auto made = run::PrewarmedRun::prepare(string_member(body, "config"), folders, servers);
  // A project that cannot be read now: the run will say so, in the form that was asked for.
  return made ? std::move(*made) : nullptr;
}

}  // namespace

int serve_one(const project::Folders& folders, const RunCommand& run) {
  const UniqueFd signals = block_ending_signals();
  const UniqueFd channel = take_channel();
  if (!signals || !channel || !wait_for_message(channel.get(), signals.get())) return kNoService;
  auto first = receive_message(channel.get());
  if (first.arrival != Arrival::kMessage) return kNoService;
  const auto standby = prepare(first.message, folders);
  first.message.descriptors.clear();  // the folder that we are in now
  touch_program();
  if (!wait_for_message(channel.get(), signals.get())) return kNoService;
  auto asked = receive_message(channel.get());
  if (asked.arrival != Arrival::kMessage) return kNoService;
  auto taken = take_over(std::move(asked.message));
  if (!taken) return kNoService;
  auto standard = wait_for_go(taken->client.get(), taken->number, signals.get());
  // Until this is said, nothing has happened.
  if (!standard || !take_standard(std::move(*standard)) ||
      !send_message(channel.get(), {{"took", true}}))
    return kNoService;
  taken->client.reset();
  const ServersUsed tell = [&channel](const std::set<std::string>& servers) {
    // Of no more use than for the next worker.
    static_cast<void>(send_message(channel.get(), {{"servers", servers}}));
  };
  return run(taken->request.arguments, standby.get(), tell);
}

}  // namespace mcpac::resident
