// The socket of a live run: what it answers, what it survives, and what is swept.
#include "run/live/run_control.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include <boost/asio/io_context.hpp>

#include "core/abandoned.h"
#include "core/socket_folder.h"
#include "run/live/live_runs.h"

using namespace mcpac;
using namespace mcpac::run;

namespace {

const std::string kRun = "01890000-0000-7000-8000-00000000000a";
const std::string kOther = "01890000-0000-7000-8000-00000000000b";

struct Runs {
  TemporaryFolder home =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "r-").value();
  std::filesystem::path folder = home.path() / "m/r";  // a socket address has 108 bytes
};

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.native().size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.native().size());
  return address;
}

// As a run leaves it that was killed before it listened, or while it did.
void leave_socket(const std::filesystem::path& path) {
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto folder = open_runs_folder(path.parent_path()).value();
  const auto address = socket_address(folder, path.filename().native()).value();
  REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

RunControls controls() {
  return {.show =
              [] {
                return Json{{"program", "a.cpp"}};
              },
          .revoke = [](const std::string&) -> Result<Json> { return Json::object(); },
          .kill = [] { return Json::object(); }};
}

// Takes every number that a new descriptor could have, until it goes.
class NoDescriptors {
 public:
  NoDescriptors() {
    const UniqueFd next(::dup(0));
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next.get());
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_SUITE("execute/run_control") {
  TEST_CASE("a run that has no descriptor left waits for one instead of turning in circles") {
    const Runs runs;
    boost::asio::io_context loop;
    const auto control =
        RunControl::open(loop.get_executor(), runs.folder, kRun, controls()).value();
    const UniqueFd peer(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = address_of(runs.folder / (kRun + ".sock"));
    {
      const NoDescriptors none;
      REQUIRE(::connect(peer.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
              0);
      CHECK(loop.run_for(std::chrono::milliseconds(350)) < 20);
    }
    REQUIRE(::send(peer.get(), "{\"do\":\"show\"}\n", 14, MSG_NOSIGNAL) == 14);
    std::string answer(1000, '\0');
    ssize_t size = -1;
    for (int i = 0; i < 15'000 && size <= 0; ++i) {
      loop.restart();
      loop.run_for(std::chrono::milliseconds(20));
      size = ::recv(peer.get(), answer.data(), answer.size(), MSG_DONTWAIT);
    }
    REQUIRE(size > 0);
    CHECK(answer.find("\"program\":\"a.cpp\"") != std::string::npos);
    CHECK(answer.find(kRun) != std::string::npos);
  }

  TEST_CASE("peers that say nothing do not keep out one that has a request") {
    const Runs runs;
    boost::asio::io_context loop;
    const auto control =
        RunControl::open(loop.get_executor(), runs.folder, kRun, controls()).value();
    const auto address = address_of(runs.folder / (kRun + ".sock"));
    std::vector<UniqueFd> peers;
    for (int i = 0; i < 40; ++i) {
      peers.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      REQUIRE(::connect(peers.back().get(), reinterpret_cast<const sockaddr*>(&address),
                        sizeof address) == 0);
      loop.restart();
      loop.run_for(std::chrono::milliseconds(2));
    }
    REQUIRE(::send(peers.back().get(), "{\"do\":\"show\"}\n", 14, MSG_NOSIGNAL) == 14);
    std::string answer(1000, '\0');
    ssize_t size = -1;
    for (int i = 0; i < 15'000 && size <= 0; ++i) {
      loop.restart();
      loop.run_for(std::chrono::milliseconds(20));
      size = ::recv(peers.back().get(), answer.data(), answer.size(), MSG_DONTWAIT);
    }
    REQUIRE(size > 0);
    CHECK(answer.find("\"program\":\"a.cpp\"") != std::string::npos);
  }

  TEST_CASE("sockets of runs that were killed are swept, and those of runs that begin are not") {
    const Runs runs;
    REQUIRE(open_runs_folder(runs.folder));
    const auto dead = runs.folder / (kRun + ".sock");
    const std::string ours = own_mark();
    const std::string of_the_dead = ours.substr(0, ours.rfind('-')) + "-1";  // our number, earlier
    const auto unready = runs.folder / (kRun + "." + of_the_dead + ".new");
    const auto begins = runs.folder / (kOther + "." + ours + ".new");
    const auto file =
        runs.folder / ("01890000-0000-7000-8000-00000000000c." + of_the_dead + ".new");
    for (const auto& path : {dead, unready, begins}) leave_socket(path);
    REQUIRE(write_file_atomic(file, "not a socket"));
    CHECK(live_runs(runs.folder).value().empty());
    CHECK_FALSE(std::filesystem::exists(dead));
    CHECK_FALSE(std::filesystem::exists(unready));
    CHECK(std::filesystem::exists(begins));
    CHECK(std::filesystem::exists(file));
    // A run that begins sweeps without asking anybody, and makes no folder for it.
    leave_socket(dead);
    sweep_dead_runs(runs.folder);
    CHECK_FALSE(std::filesystem::exists(dead));
    CHECK(std::filesystem::exists(begins));
    sweep_dead_runs(runs.folder / "absent");
    CHECK_FALSE(std::filesystem::exists(runs.folder / "absent"));
  }
}
