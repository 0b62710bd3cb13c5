// A resident host in a process of its own, and clients that speak to it word by word.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "core/file.h"
#include "resident/client.h"
#include "resident/host.h"
#include "resident/patience.h"
#include "resident/request.h"
#include "resident/support_child.h"

namespace resident_test {

using namespace mcpac;
using namespace mcpac::resident;

// A host in a process of its own, as `mcpac up` makes it.
class Host {
 public:
  Host() {
    options.folders.runtime = home.path();
    options.folders.state = home.path() / "state";
    options.folders.libexec = home.path() / "libexec" / "mcpac";
    options.silence = std::chrono::hours(1);  // whatever a busy machine makes of it
    start();
  }
  ~Host() {
    if (process > 0) end();
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  void start() {
    auto door = Door::open(folder);
    REQUIRE(door.has_value());
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const UniqueFd ready(ends[0]);
    process = ::fork();
    if (process == 0) {
      sigset_t set;
      sigemptyset(&set);
      sigaddset(&set, SIGTERM);
      ::sigprocmask(SIG_BLOCK, &set, nullptr);
      options.log = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      if (!door->listen() || ::write(ends[1], "+", 1) != 1) ::_exit(1);
      ResidentHost(std::move(*door), options).serve();
      ::_exit(0);
    }
    ::close(ends[1]);
    door->leave();
    char byte = 0;
    REQUIRE(::read(ready.get(), &byte, 1) == 1);
  }
  // Returns the time of processors that it took in its life.
  std::chrono::microseconds end() {
    ::kill(process, SIGTERM);
    rusage used{};
    ::wait4(process, nullptr, 0, &used);
    process = -1;
    return std::chrono::seconds(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           std::chrono::microseconds(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  }

  TemporaryFolder home =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "d-").value();
  std::filesystem::path folder = home.path() / "resident";
  HostOptions options;
  pid_t process = -1;
};

inline UniqueFd connect_raw(const std::filesystem::path& folder) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy((folder / "host.sock").native(), static_cast<char*>(address.sun_path));
  if (!tell_senders(socket.get()) ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return {};
  return socket;
}

// What the host answers to a question, asked without asking who it is. "": nothing.
inline std::string asked(const UniqueFd& socket, const Json& question) {
  if (!send_message(socket.get(), question)) return "";
  const auto answer = receive_message(socket.get());
  return answer.arrival == Arrival::kMessage ? to_text(answer.message.body) : "";
}

inline std::string nonce_of(const UniqueFd& socket) {
  const auto hello = receive_message(socket.get());
  return hello.arrival == Arrival::kMessage ? string_member(hello.message.body, "nonce") : "";
}

inline bool is_shown(const std::filesystem::path& folder) {
  const UniqueFd socket = connect_raw(folder);
  const std::string nonce = nonce_of(socket);
  return asked(socket, {{"do", "show"}, {"nonce", nonce}}).find("\"workers\"") != std::string::npos;
}

// It is told so before it could say or hand over anything.
inline bool is_refused(const std::filesystem::path& folder) {
  const UniqueFd socket = connect_raw(folder);
  const auto hello = receive_message(socket.get());
  return hello.arrival == Arrival::kMessage && find_member(hello.message.body, "alone") &&
         !find_member(hello.message.body, "nonce") &&
         receive_message(socket.get()).arrival == Arrival::kClosed;
}

}  // namespace resident_test
