#include "history/changes/apply_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "core/printable.h"
#include "history/changes/folder_access.h"

namespace mcpac::history {
namespace {

std::unexpected<Error> cannot_write(const std::string& name, int error) {
  return fail(ErrorId::kFileUnwritable,
              fmt::format("{}: {}", printable(name), std::system_category().message(error)));
}

// At most `size` bytes and one: more than was recorded shows in the digest, and needs no room.
int copy(int from, int to, std::uint64_t size) {
  std::array<char, std::size_t{1} << 16U> piece{};
  std::uint64_t copied = 0;
  while (copied <= size) {
    const ssize_t got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    for (ssize_t at = 0; at < got;) {
      const ssize_t put = ::write(to, piece.data() + at, static_cast<std::size_t>(got - at));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return errno;
      at += put;
    }
    copied += static_cast<std::uint64_t>(got);
  }
  return 0;
}

// Root keeps the owner of a file; for any other user that is the user.
int give_back(int file, int parent, const std::string& name) {
  struct stat before {};
  if (::geteuid() != 0 || ::fstatat(parent, name.c_str(), &before, AT_SYMLINK_NOFOLLOW) != 0)
    return 0;
  return ::fchown(file, before.st_uid, before.st_gid) == 0 ? 0 : errno;
}

// Without a name until it is whole, where the file system has such files: a process that is killed
// meanwhile leaves nothing.
struct Temporary {
  UniqueFd file;
  std::string name;  // empty: none yet
};

Temporary make_temporary(const UniqueFd& parent, const std::string& name) {
  UniqueFd nameless(::openat(parent.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (nameless) return {std::move(nameless), ""};
  constexpr int kNew = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  return {UniqueFd(::openat(parent.get(), name.c_str(), kNew, 0600)), name};
}

// Gives it the name; 0 or errno.
int link_as(const UniqueFd& parent, const Temporary& made, const std::string& name) {
  const std::string self = fmt::format("/proc/self/fd/{}", made.file.get());
  return ::linkat(AT_FDCWD, self.c_str(), parent.get(), name.c_str(), AT_SYMLINK_FOLLOW) == 0
             ? 0
             : errno;
}

// A new file replaces none; another replaces the one that it changes, at once.
int settle(const UniqueFd& parent, Temporary& made, const std::string& aside,
           const std::string& name, bool replaces) {
  if (made.name.empty()) {
    if (!replaces) return link_as(parent, made, name);
    if (const int error = link_as(parent, made, aside)) return error;
    made.name = aside;
  }
  const unsigned flags = replaces ? 0 : RENAME_NOREPLACE;
  if (::renameat2(parent.get(), aside.c_str(), parent.get(), name.c_str(), flags) != 0)
    return errno;
  made.name.clear();
  return 0;
}

}  // namespace

Result<void> put_file(const UniqueFd& source, const UniqueFd& parent, const std::string& name,
                      const Change& change) {
  struct stat info {};
  if (!source || ::fstat(source.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return fail(ErrorId::kChangesDamaged,
                fmt::format("what the program wrote to {} is gone", printable(change.path)),
                {.fix = "discard the changes, and run the program again"});
  }
  const std::string aside = fmt::format(".mcpac-apply-{}-{}", ::getpid(), info.st_ino);
  Temporary made = make_temporary(parent, aside);
  if (!made.file) return cannot_write(change.path, errno);
  const auto give_up = [&](std::unexpected<Error> error) {
    if (!made.name.empty()) ::unlinkat(parent.get(), made.name.c_str(), 0);
    return error;
  };
  if (const int error = copy(source.get(), made.file.get(), change.size))
    return give_up(cannot_write(change.path, error));
  if (digest_of_file(made.file.get()) != change.digest) {
    return give_up(
        fail(ErrorId::kChangesDamaged,
             fmt::format("what the program wrote to {} was changed since", printable(change.path)),
             {.fix = "discard the changes, and run the program again"}));
  }
  const bool modifies = change.kind == Change::Kind::kModified;
  int error = modifies ? give_back(made.file.get(), parent.get(), name) : 0;
  if (error == 0 && ::fchmod(made.file.get(), change.mode & 0777U) != 0) error = errno;
  if (error == 0 && ::fsync(made.file.get()) != 0) error = errno;
  if (error == 0) error = settle(parent, made, aside, name, modifies);
  if (error != 0) return give_up(cannot_write(change.path, error));
  return {};
}

}  // namespace mcpac::history
