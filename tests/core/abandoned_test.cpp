// Abandoned: what is swept, and above all what is not.
#include "core/abandoned.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "core/file.h"

namespace mcpac {
namespace {

namespace fs = std::filesystem;

struct Place {
  TemporaryFolder folder = TemporaryFolder::create(fs::temp_directory_path(), "abandoned-").value();
  [[nodiscard]] fs::path operator/(const std::string& name) const { return folder.path() / name; }
  [[nodiscard]] std::size_t sweep() const { return sweep_abandoned(folder.path()); }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
  }
};

// The mark of a process that had our number before us.
std::string mark_of_the_dead() {
  const std::string ours = own_mark();
  REQUIRE_FALSE(ours.empty());
  return ours.substr(0, ours.rfind('-')) + "-1";
}

void write(const fs::path& file) {
  std::ofstream(file) << "x";
}

// Another process that does something, and ends or waits without cleaning up.
class Other {
 public:
  explicit Other(const std::function<void()>& work) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      work();
      [[maybe_unused]] const auto told = ::write(ready[1], "x", 1);
      for (;;) ::pause();
    }
    char byte = 0;
    ::close(ready[1]);
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    ::close(ready[0]);
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  ~Other() {
    kill();
    if (!reaped_) ::waitpid(pid_, nullptr, 0);
  }
  // A dead process that nobody has asked after is dead, too.
  void kill() const {
    ::kill(pid_, SIGKILL);
    siginfo_t info{};
    if (!reaped_) ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void reap() {
    kill();
    ::waitpid(pid_, nullptr, 0);
    reaped_ = true;
  }

 private:
  pid_t pid_ = -1;
  bool reaped_ = false;
};

TEST_SUITE("core/abandoned") {
  TEST_CASE(
      "a folder stays as long as its process, and goes with everything when that was killed") {
    const Place place;
    Other other([&] {
      auto folder = TemporaryFolder::create(place.folder.path(), "work-");
      fs::create_directories(folder->path() / "a" / "b");
      write(folder->path() / "a" / "b" / "f");
      new TemporaryFolder(std::move(*folder));  // as if it never came to its end
    });
    CHECK(place.entries() == 1);
    CHECK(place.sweep() == 0);
    SUBCASE("dead, and not yet waited for") {
      other.kill();
      CHECK(place.sweep() == 1);
    }
    SUBCASE("gone") {
      other.reap();
      CHECK(place.sweep() == 1);
    }
    CHECK(place.entries() == 0);
  }

  TEST_CASE("what was written beside a file goes, the file stays") {
    const Place place;
    const fs::path half = place / ("lock." + mark_of_the_dead() + ".1f2e3d4c.tmp");
    write(place / "lock");
    write(half);
    write(name_beside(place / "lock"));  // of this process
    CHECK(place.sweep() == 1);
    CHECK_FALSE(fs::exists(half));
    CHECK(place.entries() == 2);
  }

  TEST_CASE("what is of another boot, another container, or nobody's is left alone") {
    const Place place;
    std::string elsewhere = mark_of_the_dead();
    elsewhere[4] = elsewhere[4] == '0' ? '1' : '0';
    fs::create_directory(place / ("work-" + elsewhere + ".abcdef"));
    fs::create_directory(place / "work-abcdef");
    fs::create_directory(place / "at-");
    fs::create_directory(place / "at-0123abcd-x-y.abcdef");
    write(place / "at-0123abcd.tmp");
    write(place / ("notes." + mark_of_the_dead() + ".txt"));
    CHECK(place.sweep() == 0);
    CHECK(place.entries() == 6);
  }

  TEST_CASE("a link goes nowhere, and nothing behind one is touched") {
    const Place place;
    const Place treasure;
    write(treasure / "gold");
    fs::create_symlink(treasure.folder.path(), place / ("work-" + mark_of_the_dead() + ".abcdef"));
    CHECK(place.sweep() == 0);
    const fs::path dead = place / ("work-" + mark_of_the_dead() + ".ghijkl");
    fs::create_directory(dead);
    fs::create_symlink(treasure.folder.path(), dead / "inside");
    CHECK(place.sweep() == 1);
    CHECK(treasure.entries() == 1);
  }

  TEST_CASE("where others may exchange names, nothing is removed, unless the folder is sticky") {
    const Place place;
    const fs::path open = place / "open";
    fs::create_directory(open);
    fs::create_directory(open / ("work-" + mark_of_the_dead() + ".abcdef"));
    REQUIRE(::chmod(open.c_str(), 0777) == 0);
    CHECK(sweep_abandoned(open) == 0);
    REQUIRE(::chmod(open.c_str(), 01777) == 0);
    CHECK(sweep_abandoned(open) == 1);
  }

  TEST_CASE("a folder goes whole: deeper than a path may be, closed to its user, with links out") {
    const auto done_as_user = [] {
      if (::geteuid() == 0 && (::setgid(4242) != 0 || ::setuid(4242) != 0)) return 1;
      const Place place;
      const fs::path outside = place / "outside";
      fs::create_directory(outside);
      fs::permissions(outside, fs::perms(0500));
      const std::string left = "work-" + mark_of_the_dead() + ".abcdef";
      for (const bool by_sweep : {true, false}) {
        const fs::path root = by_sweep ? place / left : place / "own";
        fs::create_directory(root);
        fs::create_symlink(outside, root / "link");
        fs::create_directories(root / "closed" / "inner");
        write(root / "closed" / "inner" / "file");
        fs::permissions(root / "closed" / "inner", fs::perms(0));
        fs::permissions(root / "closed", fs::perms(0));
        UniqueFd at(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        const std::string name(200, 'd');
        for (int depth = 0; depth < 60; ++depth) {
          if (::mkdirat(at.get(), name.c_str(), 0700) != 0) return 2;
          UniqueFd inner(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
          if (!inner) return 3;
          if (depth % 7 == 0 && ::fchmod(at.get(), 0) != 0) return 4;
          at = std::move(inner);
        }
        if (by_sweep ? place.sweep() != 1 : !remove_tree(AT_FDCWD, root.string())) return 5;
        if (fs::exists(fs::symlink_status(root))) return 6;
      }
      struct stat info {};
      return ::stat(outside.c_str(), &info) == 0 && (info.st_mode & 0777) == 0500 ? 0 : 7;
    };
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(done_as_user());
    int status = -1;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
  }

  TEST_CASE("what another user owns stays, also for root") {
    if (::geteuid() != 0) return;  // only root can make such a thing
    const Place place;
    const fs::path theirs = place / ("work-" + mark_of_the_dead() + ".abcdef");
    fs::create_directory(theirs);
    REQUIRE(::chown(theirs.c_str(), 65534, 65534) == 0);
    CHECK(place.sweep() == 0);
  }

  TEST_CASE("a socket that was never given its name goes, a file in its place does not") {
    const Place place;
    const std::string name = "r." + mark_of_the_dead() + ".new";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = (place / name).string();
    REQUIRE(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size());
    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    write(place / ("file." + mark_of_the_dead() + ".new"));
    CHECK(place.sweep() == 1);
    CHECK(place.entries() == 1);
  }
}

}  // namespace
}  // namespace mcpac
