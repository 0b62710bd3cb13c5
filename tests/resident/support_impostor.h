// Impostor: somebody who listens where a resident host would, and plays one badly.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "resident/client.h"
#include "resident/request.h"
#include "resident/support_child.h"
#include "resident/wire.h"

namespace resident_test {

using namespace mcpac;
using namespace mcpac::resident;

// What a host has of the one client that it let in.
struct AdmittedClient {
  UniqueFd socket;
  Message request;
  [[nodiscard]] int channel() const { return request.descriptors.at(kChannelAt).get(); }
  void say(const Json& body) const { static_cast<void>(send_message(socket.get(), body)); }
  // The worker's half as far as the client's word.
  void hear_go() const {
    static_cast<void>(tell_senders(channel()));
    static_cast<void>(send_message(channel(), {{"ready", "7"}}));
    if (string_member(receive_message(channel()).message.body, "go") != "7") ::_exit(1);
  }
};

// A process that listens where a resident host would, takes one request, and does `play`.
class Impostor {
 public:
  explicit Impostor(const std::function<void(AdmittedClient&)>& play) {
    folders.runtime = home.path();
    folders.state = home.path() / "state";
    folders.libexec = home.path() / "libexec" / "mcpac";
    auto door = Door::open(door_folder(folders));
    REQUIRE(door.has_value());
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::fcntl(door->socket(), F_SETFL, 0);
      if (!door->listen() || ::write(ends[1], "+", 1) != 1) ::_exit(1);
      AdmittedClient guest{UniqueFd(::accept4(door->socket(), nullptr, nullptr, SOCK_CLOEXEC)), {}};
      static_cast<void>(tell_senders(guest.socket.get()));
      guest.say({{"nonce", "1"}});
      guest.request = receive_message(guest.socket.get()).message;
      play(guest);
      ::_exit(0);
    }
    ::close(ends[1]);
    door->leave();
    char byte = 0;
    REQUIRE(::read(ends[0], &byte, 1) == 1);
    ::close(ends[0]);
  }
  ~Impostor() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Impostor(const Impostor&) = delete;
  Impostor& operator=(const Impostor&) = delete;

  using Wish = Errand::Wish;
  [[nodiscard]] Visit visit(Wish wish = Wish::kWorker) const {
    return Visit({.folders = folders,
                  .config_file = home.path() / "." / "mcpac.json",
                  .arguments = {"mcpac", "execute"},
                  .wish = wish});
  }

  TemporaryFolder home =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "d-").value();
  project::Folders folders;

 private:
  pid_t pid_ = -1;
};

}  // namespace resident_test
