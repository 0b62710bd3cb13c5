#include "hostile/support_victim.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>

namespace mcpac::hostile {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& path, std::string_view text, unsigned mode) {
  std::ofstream(path, std::ios::binary) << text;
  REQUIRE(::chmod(path.c_str(), mode) == 0);
}

UniqueFd listen_on(int family, const void* address, std::size_t size) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(fd.get(), static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)) ==
          0);
  REQUIRE(::listen(fd.get(), 64) == 0);
  return fd;
}

UniqueFd listen_on_unix(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(name.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, name.data(), name.size());
  return listen_on(AF_UNIX, &address, offsetof(sockaddr_un, sun_path) + name.size());
}

std::string whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Victim::Victim() {
  auto folder = TemporaryFolder::create("/tmp", "mcpac-hostile");
  REQUIRE(folder);
  folder_.emplace(std::move(*folder));
  auto granted = TemporaryFolder::create("/tmp", "mcpac-granted");
  REQUIRE(granted);
  granted_.emplace(std::move(*granted));
  restore();
  restore_place();
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listeners_.push_back(listen_on(AF_INET, &loopback, sizeof loopback));
  socklen_t size = sizeof loopback;
  REQUIRE(::getsockname(listeners_.back().get(), reinterpret_cast<sockaddr*>(&loopback), &size) ==
          0);
  port_ = ntohs(loopback.sin_port);
  listeners_.push_back(
      listen_on_unix(std::string(1, '\0') + "mcpac-hostile-" + std::to_string(::getpid())));
  listeners_.push_back(listen_on_unix((this->folder() / "socket").native()));
  REQUIRE(::chmod((this->folder() / "socket").c_str(), 0777) == 0);
}

std::string Victim::state() const {
  std::vector<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(folder())) {
    struct stat info {};
    if (::lstat(entry.path().c_str(), &info) != 0) continue;
    std::string line = entry.path().native() + " " + std::to_string(info.st_mode) + " " +
                       std::to_string(info.st_uid) + " " + std::to_string(info.st_nlink) + " " +
                       std::to_string(info.st_mtim.tv_sec) + "." +
                       std::to_string(info.st_mtim.tv_nsec);
    if (S_ISREG(info.st_mode)) line += " " + whole(entry.path());
    lines.push_back(std::move(line));
  }
  std::ranges::sort(lines);
  std::string text = whole("/proc/self/mounts");
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void Victim::restore() const {
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().filename() != "socket") fs::remove_all(entry.path());
  }
  REQUIRE(::chmod(folder().c_str(), 0777) == 0);
  put(folder() / "secret.txt", "canary-8731\n", 0644);
  put(folder() / "own.txt", "mine\n", 0666);
  fs::create_symlink("secret.txt", folder() / "link");
  fs::create_directory(folder() / "folder");
  REQUIRE(::chmod((folder() / "folder").c_str(), 0777) == 0);
}

void Victim::restore_place() const {
  for (const auto& entry : fs::directory_iterator(granted_->path())) fs::remove_all(entry.path());
  REQUIRE(::chmod(granted_->path().c_str(), 0777) == 0);
  fs::create_directory(place());
  REQUIRE(::chmod(place().c_str(), 0777) == 0);
  put(place() / "given.txt", "given\n", 0666);
  fs::create_symlink(folder() / "own.txt", place() / "out");
  fs::create_symlink("/etc/passwd", place() / "passwd");
  fs::create_symlink(".envrc", place() / "dangling");
  put(place() / "called.sh", "called\n", 0666);
  fs::create_symlink("called.sh", place() / "to_called");
  REQUIRE(::mkfifo((place() / "pipe").c_str(), 0666) == 0);
  REQUIRE(::chmod((place() / "pipe").c_str(), 0666) == 0);
  for (const char* name : {"empty", "sub", "sub/.git"}) {
    fs::create_directory(place() / name);
    REQUIRE(::chmod((place() / name).c_str(), 0777) == 0);
  }
  put(place() / "sub/.git/config", "[core]\n", 0666);
}

fs::path Victim::new_changes() const {
  std::string name = (granted_->path() / "changes-XXXXXX").native();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  fs::create_directory(fs::path(name) / "upper");
  fs::create_directory(fs::path(name) / "work");
  return name;
}

int Victim::channel() {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  ours_ = UniqueFd(ends[0]);
  theirs_ = UniqueFd(ends[1]);
  return theirs_.get();
}

int Victim::terminal() {
  if (its_end_) return its_end_.get();
  terminal_ = UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(::grantpt(terminal_.get()) == 0);
  REQUIRE(::unlockpt(terminal_.get()) == 0);
  its_end_ = UniqueFd(::open(::ptsname(terminal_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(its_end_);
  return its_end_.get();
}

}  // namespace mcpac::hostile
