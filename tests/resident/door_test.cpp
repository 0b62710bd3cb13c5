// The door of the resident host: who gets in, with what, and who finds it.
#include "resident/door.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "resident/support_host.h"

using namespace resident_test;
namespace fs = std::filesystem;

TEST_SUITE("resident/door") {
  TEST_CASE(
      "who stands as the host does is answered; the folder and the socket are the user's alone") {
    if (stands_alone_here()) return;
    const Host host;
    CHECK(is_shown(host.folder));
    CHECK(ask_host(host.folder, {{"do", "show"}}).value().has_value());
    struct stat info {};
    REQUIRE(::stat(host.folder.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0700U);
    REQUIRE(::stat((host.folder / "host.sock").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600U);
  }

  TEST_CASE("a process that is confined otherwise is refused") {
    if (stands_alone_here()) return;
    const Host host;
    CHECK(holds_in_child(
        [&] { return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && is_refused(host.folder); }));
    CHECK(holds_in_child([&] { return resident_test::change_limit() && is_refused(host.folder); }));
    CHECK(holds_in_child(
        [&] { return resident_test::change_priority() && is_refused(host.folder); }));
    CHECK(is_shown(host.folder));
  }

  TEST_CASE("a process that is confined otherwise does not trust the host either") {
    const Host host;
    CHECK(holds_in_child([&] {
      if (!resident_test::change_limit()) return false;
      const auto answer = ask_host(host.folder, {{"do", "show"}});
      return !answer && answer.error().id == ErrorId::kRunUnreachable;
    }));
  }

  TEST_CASE("another user is refused, even where the folder lets everybody in") {
    if (::geteuid() != 0) {
      MESSAGE("skipped: needs root");
      return;
    }
    const Host host;
    REQUIRE(::chmod(host.home.path().c_str(), 0755) == 0);
    REQUIRE(::chmod(host.folder.c_str(), 0755) == 0);
    REQUIRE(::chmod((host.folder / "host.sock").c_str(), 0666) == 0);
    CHECK(holds_in_child([&] {
      if (::setresuid(65534, 65534, 65534) != 0) return false;
      const UniqueFd socket = connect_raw(host.folder);
      return !socket || nonce_of(socket).empty();  // a folder above may stop it already
    }));
    // Nor does a client use a folder that others may enter.
    CHECK(!ask_host(host.folder, {{"do", "show"}}));
  }

  TEST_CASE("only the process that connected may speak, and only with the number it was told") {
    if (stands_alone_here()) return;
    const Host host;
    const UniqueFd first = connect_raw(host.folder);
    const std::string nonce = nonce_of(first);
    REQUIRE(!nonce.empty());
    CHECK(holds_in_child([&] {
      return asked(first, {{"do", "show"}, {"nonce", nonce}}).find("\"alone\"") !=
             std::string::npos;
    }));
    const UniqueFd second = connect_raw(host.folder);
    CHECK(asked(second, {{"do", "show"}, {"nonce", nonce}}).find("\"workers\"") ==
          std::string::npos);
  }

  TEST_CASE("messages that are none, too long or with too many descriptors end the connection") {
    if (stands_alone_here()) return;
    const Host host;
    for (const std::string& bytes :
         {std::string("{"), std::string("[]"), std::string(kMaxMessage + 1, ' ')}) {
      const UniqueFd socket = connect_raw(host.folder);
      REQUIRE(!nonce_of(socket).empty());
      REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0);
      CHECK(receive_message(socket.get()).arrival == Arrival::kClosed);
    }
    const std::array<int, kMaxDescriptors + 1> many{};
    CHECK(!send_message(0, Json::object(), many));
    CHECK(is_shown(host.folder));
  }

  TEST_CASE("a request without its parts is not run, and the host lives on") {
    if (stands_alone_here()) return;
    const Host host;
    const UniqueFd socket = connect_raw(host.folder);
    const std::string nonce = nonce_of(socket);
    const std::string answer =
        asked(socket, {{"do", "run"},
                       {"nonce", nonce},
                       {"installation", installation_stamp(host.options.folders)}});
    CHECK(answer.find("\"alone\"") != std::string::npos);
    CHECK(is_shown(host.folder));
  }

  TEST_CASE("a host serves no other mcpac than itself, and ends when it was exchanged") {
    if (stands_alone_here()) return;
    Host host;
    const UniqueFd other = connect_raw(host.folder);
    const std::string told = nonce_of(other);
    CHECK(asked(other, {{"do", "run"}, {"nonce", told}, {"installation", "another"}})
              .find("\"alone\"") != std::string::npos);
    CHECK(is_shown(host.folder));
    fs::create_directory(host.home.path() / "bin");
    REQUIRE(write_file_atomic(host.home.path() / "bin" / "mcpac", "another"));
    const UniqueFd socket = connect_raw(host.folder);
    const std::string nonce = nonce_of(socket);
    CHECK(asked(socket, {{"do", "run"}, {"nonce", nonce}, {"installation", "another"}})
              .find("\"alone\"") != std::string::npos);
    int status = -1;
    REQUIRE(::waitpid(host.process, &status, 0) == host.process);
    CHECK(status == 0);
    CHECK(!fs::exists(host.folder / "host.sock"));
    host.process = -1;
  }

  TEST_CASE("there is one host a user, and what a killed one left is taken over") {
    if (stands_alone_here()) return;
    Host host;
    CHECK(Door::open(host.folder).error().id == ErrorId::kRunUnreachable);
    ::kill(host.process, SIGKILL);
    ::waitpid(host.process, nullptr, 0);
    CHECK(fs::exists(host.folder / "host.sock"));
    CHECK(!ask_host(host.folder, {{"do", "show"}}).value().has_value());
    {
      const auto door = Door::open(host.folder);
      CHECK(door.has_value());
    }
    CHECK(!fs::exists(host.folder / "host.sock"));
    host.process = -1;
  }

  TEST_CASE("a folder that is a link or open to others is not used") {
    const auto home = TemporaryFolder::create(fs::temp_directory_path(), "d-").value();
    fs::create_directory(home.path() / "real");
    ::chmod((home.path() / "real").c_str(), 0700);
    fs::create_directory_symlink(home.path() / "real", home.path() / "link");
    CHECK(Door::open(home.path() / "link").error().id == ErrorId::kFileUnwritable);
    ::chmod((home.path() / "real").c_str(), 0750);
    CHECK(Door::open(home.path() / "real").error().id == ErrorId::kFileUnwritable);
  }
}
