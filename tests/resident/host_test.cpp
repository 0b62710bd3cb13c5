// The resident host under load, and its end: nobody keeps others out or waits for ever.
#include "resident/host.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <functional>

#include "resident/support_host.h"

using namespace resident_test;
namespace fs = std::filesystem;

namespace {

// What is said to a client that wants something run, with this umask; `meanwhile` is after the host
// let it in.
Json asked_to_run(
    const Host& host, std::uint32_t umask, const std::function<void()>& meanwhile = [] {}) {
  const auto memory = to_memory(
      {.arguments = {"mcpac"},
       .environment = {"PATH=/usr/bin:/bin", "TOLD=" + (host.home.path() / "told").string()},
       .config_file = host.home.path() / "mcpac.json",
       .umask = umask});
  const UniqueFd folder(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto pair = make_socket_pair();
  const UniqueFd socket = connect_raw(host.folder);
  const std::string nonce = nonce_of(socket);
  meanwhile();
  const std::array<int, kPassed> parts{memory->get(), folder.get(), pair->theirs.get()};
  REQUIRE(send_message(
      socket.get(),
      {{"do", "run"}, {"nonce", nonce}, {"installation", installation_stamp(host.options.folders)}},
      parts));
  return receive_message(socket.get()).message.body;
}

// A worker that waits, and hears nothing.
void prepare_deaf_worker(Host& host, const std::string& first = "") {
  host.end();  // the stamp of the installation is taken when a host begins
  fs::create_directories(host.options.folders.libexec);
  REQUIRE(write_file_atomic(host.options.folders.whole(),
                            "#!/bin/sh\ntrap '' TERM\n" + first +
                                "echo $$ > \"$TOLD\"\n"
                                "while :; do sleep 1; done\n",
                            0700));
  host.start();
  CHECK(find_member(asked_to_run(host, 077), "alone") != nullptr);
  const fs::path told = host.home.path() / "told";
  for (int i = 0; i < 1'200 && !fs::exists(told); ++i) ::usleep(50'000);
  REQUIRE(fs::exists(told));
}

}  // namespace

TEST_SUITE("resident/host") {
  TEST_CASE("who says nothing keeps nobody out, and neither does who works alone") {
    if (stands_alone_here()) return;
    const Host host;
    std::vector<UniqueFd> silent;
    for (int i = 0; i < 100; ++i) {
      silent.push_back(connect_raw(host.folder));
      REQUIRE(!nonce_of(silent.back()).empty());
    }
    CHECK(is_shown(host.folder));
    // The oldest went, the newest may still speak.
    CHECK(receive_message(silent.front().get()).arrival == Arrival::kClosed);
    std::vector<UniqueFd> alone;
    for (int i = 0; i < 100; ++i) {
      alone.push_back(connect_raw(host.folder));
      const std::string nonce = nonce_of(alone.back());
      CHECK(asked(alone.back(), {{"do", "alone"}, {"nonce", nonce}, {"config", "/mcpac.json"}})
                .find("\"alone\"") != std::string::npos);
    }
    CHECK(is_shown(host.folder));
  }

  TEST_CASE("a host without a descriptor left waits for one, and does not run in circles") {
    if (stands_alone_here()) return;
    Host host;
    CHECK(holds_in_child([&] {
      rlimit few{};
      ::getrlimit(RLIMIT_NOFILE, &few);
      few.rlim_cur = 60;
      if (::prlimit(host.process, RLIMIT_NOFILE, &few, nullptr) != 0 ||
          ::setrlimit(RLIMIT_NOFILE, &few) != 0)
        return false;
      {
        std::vector<UniqueFd> all;
        for (int i = 0; i < 40; ++i) all.push_back(connect_raw(host.folder));
        ::sleep(2);
      }
      return is_shown(host.folder);
    }));
    CHECK(host.end() < std::chrono::seconds(1));
  }

  TEST_CASE("a host that waits for a worker's end does not run in circles") {
    if (stands_alone_here()) return;
    set_patience(4);  // a worker that waits has four seconds
    {
      Host host;
      prepare_deaf_worker(host);
      CHECK(host.end() < std::chrono::seconds(2));
    }
    set_patience(1);
  }

  TEST_CASE("a host does not run in circles for a worker that hung up and has not ended") {
    if (stands_alone_here()) return;
    Host host;
    prepare_deaf_worker(host, "exec </dev/null\n");
    ::sleep(3);
    CHECK(is_shown(host.folder));
    // Of the processor's time, of which one in circles has its share on the busiest machine.
    CHECK(host.end() < std::chrono::milliseconds(400));
  }

  TEST_CASE("a client waits about a second for the end of what was prepared for somebody else") {
    if (stands_alone_here()) return;
    Host host;
    prepare_deaf_worker(host);
    const auto start = std::chrono::steady_clock::now();
    CHECK(find_member(asked_to_run(host, 022), "ended") != nullptr);
    CHECK(std::chrono::steady_clock::now() - start < kUntilARunEnds / 2);
  }

  TEST_CASE("who is confined by the time it asks has nothing run, and nothing prepared") {
    if (stands_alone_here()) return;
    const Host host;
    CHECK(holds_in_child([&] {
      const auto said = asked_to_run(host, 077, [] { ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); });
      return string_member(said, "alone").find("NoNewPrivs") != std::string::npos;
    }));
    const UniqueFd socket = connect_raw(host.folder);
    const auto shown = asked(socket, {{"do", "show"}, {"nonce", nonce_of(socket)}});
    CHECK(shown.find("\"workers\":[]") != std::string::npos);
  }

  TEST_CASE("who stands otherwise can end what is its own, also a host that does not hear") {
    {
      const Host host;
      CHECK(holds_in_child([&] {
        return resident_test::change_limit() && end_host(host.folder).value_or(false) &&
               !end_host(host.folder).value_or(true);
      }));
    }
    // One that ignores what it is told.
    const auto home = TemporaryFolder::create(fs::temp_directory_path(), "d-").value();
    auto door = Door::open(home.path() / "resident");
    REQUIRE(door.has_value());
    const resident_test::Waiting deaf([&] {
      ::signal(SIGTERM, SIG_IGN);
      return door->listen().has_value();
    });
    REQUIRE(deaf.went_well());
    door->leave();
    CHECK(end_host(home.path() / "resident", std::chrono::milliseconds(300)).value());
  }

  TEST_CASE("a host that is told to end is gone when that is said") {
    const Host host;
    CHECK(end_host(host.folder).value());
    CHECK(!fs::exists(host.folder / "host.sock"));
    CHECK(!end_host(host.folder).value());
  }
}
