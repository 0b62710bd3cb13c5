#include "resident/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/exit_code.h"
#include "resident/request.h"
#include "resident/wire.h"

namespace mcpac::resident {
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

// True: a message is there (or the end of them). False: a signal said to end.
bool wait_for_message(int channel, int signals) {
  std::array<pollfd, 2> watched{pollfd{channel, POLLIN, 0}, pollfd{signals, POLLIN, 0}};
  while (::poll(watched.data(), watched.size(), -1) < 0 && errno == EINTR) {
  }
  return watched[1].revents == 0;
}

// The client's descriptors 0 to 2 in our places of them.
bool take_standard(const Message& message, std::size_t first) {
  for (int fd = 0; fd < 3; ++fd) {
    const auto& theirs = message.descriptors[first + static_cast<std::size_t>(fd)];
    if (::dup2(theirs.get(), fd) != fd) return false;
  }
  return true;
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

// Becomes what the client is; nothing where that fails.
std::optional<Request> take_over(const Message& message) {
  constexpr std::size_t kBeforeStandard = 2;  // the request and the folder
  if (message.descriptors.size() != kBeforeStandard + 3) return std::nullopt;
  auto request = from_memory(message.descriptors[0].get());
  if (!request || ::fchdir(message.descriptors[1].get()) != 0 ||
      !take_standard(message, kBeforeStandard))
    return std::nullopt;
  take_environment(request->environment);
  ::umask(request->umask);
  return std::move(*request);
}

std::unique_ptr<execute::Standby> prepare(const Json& body, const execute::Folders& folders) {
  std::set<std::string> servers;
  if (const Json* names = find_member(body, "servers"); names != nullptr && names->is_array()) {
    for (const Json& name : *names) {
      if (name.is_string()) servers.insert(name.get<std::string>());
    }
  }
  if (const Json* mask = find_member(body, "umask"); mask != nullptr && mask->is_number_unsigned())
    ::umask(mask->get<mode_t>());
  auto made = execute::Standby::prepare(string_member(body, "config"), folders, servers);
  // A project that cannot be read now: the run will say so, in the form that was asked for.
  return made ? std::move(*made) : nullptr;
}

}  // namespace

int serve_one(const execute::Folders& folders, const RunCommand& run) {
  const UniqueFd signals = block_ending_signals();
  const UniqueFd channel = take_channel();
  if (!signals || !channel || !wait_for_message(channel.get(), signals.get())) return kNoService;
  const auto first = receive_message(channel.get());
  if (first.arrival != Arrival::kMessage) return kNoService;
  const auto standby = prepare(first.message.body, folders);
  std::optional<Request> request;
  {
    if (!wait_for_message(channel.get(), signals.get())) return kNoService;
    const auto message = receive_message(channel.get());
    if (message.arrival != Arrival::kMessage) return kNoService;
    request = take_over(message.message);
  }  // our copies of the client's descriptors go here: pipes must see their ends
  // Until this is said, nothing has happened, and the client can still work alone.
  if (!request || !send_message(channel.get(), {{"took", true}})) return kNoService;
  const ServersUsed tell = [&channel](const std::set<std::string>& servers) {
    // Of no more use than for the next worker.
    static_cast<void>(send_message(channel.get(), {{"servers", servers}}));
  };
  return run(request->arguments, standby.get(), tell);
}

}  // namespace mcpac::resident
