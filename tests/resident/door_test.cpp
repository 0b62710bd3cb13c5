// The door of the resident host: who gets in, with what, and who finds it.
#include "resident/door.h"

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

using namespace mcpac;
using namespace mcpac::resident;
using resident_test::holds_in_child;
namespace fs = std::filesystem;

namespace {

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

  TemporaryFolder home = TemporaryFolder::create(fs::temp_directory_path(), "d-").value();
  fs::path folder = home.path() / "resident";
  HostOptions options;
  pid_t process = -1;
};

UniqueFd connect_raw(const fs::path& folder) {
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
std::string asked(const UniqueFd& socket, const Json& question) {
  if (!send_message(socket.get(), question)) return "";
  const auto answer = receive_message(socket.get());
  return answer.arrival == Arrival::kMessage ? to_text(answer.message.body) : "";
}

std::string nonce_of(const UniqueFd& socket) {
  const auto hello = receive_message(socket.get());
  return hello.arrival == Arrival::kMessage ? string_member(hello.message.body, "nonce") : "";
}

bool is_shown(const fs::path& folder) {
  const UniqueFd socket = connect_raw(folder);
  const std::string nonce = nonce_of(socket);
  return asked(socket, {{"do", "show"}, {"nonce", nonce}}).find("\"workers\"") != std::string::npos;
}

// It is told so before it could say or hand over anything.
bool is_refused(const fs::path& folder) {
  const UniqueFd socket = connect_raw(folder);
  const auto hello = receive_message(socket.get());
  return hello.arrival == Arrival::kMessage && find_member(hello.message.body, "alone") &&
         !find_member(hello.message.body, "nonce") &&
         receive_message(socket.get()).arrival == Arrival::kClosed;
}

// What is said to a client that wants something run, with this umask.
Json asked_to_run(const Host& host, std::uint32_t umask) {
  const auto memory = to_memory(
      {.arguments = {"mcpac"},
       .environment = {"PATH=/usr/bin:/bin", "TOLD=" + (host.home.path() / "told").string()},
       .config_file = host.home.path() / "mcpac.json",
       .umask = umask});
  const UniqueFd folder(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto pair = make_socket_pair();
  const UniqueFd socket = connect_raw(host.folder);
  const std::string nonce = nonce_of(socket);
  const std::array<int, kPassed> parts{memory->get(), folder.get(), pair->theirs.get()};
  REQUIRE(send_message(
      socket.get(),
      {{"do", "run"}, {"nonce", nonce}, {"installation", installation_stamp(host.options.folders)}},
      parts));
  return receive_message(socket.get()).message.body;
}

// A worker that waits, and hears nothing.
void prepare_deaf_worker(Host& host) {
  host.end();  // the stamp of the installation is taken when a host begins
  fs::create_directory(host.home.path() / "bin");
  REQUIRE(write_file_atomic(host.home.path() / "bin" / "mcpac",
                            "#!/bin/sh\ntrap '' TERM\necho $$ > \"$TOLD\"\n"
                            "while :; do sleep 1; done\n",
                            0700));
  host.start();
  CHECK(find_member(asked_to_run(host, 077), "alone") != nullptr);
  const fs::path told = host.home.path() / "told";
  for (int i = 0; i < 1'200 && !fs::exists(told); ++i) ::usleep(50'000);
  REQUIRE(fs::exists(told));
}

bool stands_alone_here() {
  if (resident_test::may_use_new_privileges()) return false;
  MESSAGE("skipped: under no_new_privs everybody stands alone");
  return true;
}

}  // namespace

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

  TEST_CASE("a client waits about a second for the end of what was prepared for somebody else") {
    if (stands_alone_here()) return;
    Host host;
    prepare_deaf_worker(host);
    const auto start = std::chrono::steady_clock::now();
    CHECK(find_member(asked_to_run(host, 022), "ended") != nullptr);
    CHECK(std::chrono::steady_clock::now() - start < kUntilARunEnds / 2);
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
