// SPDX-License-Identifier: Apache-2.0

#include "resident/door.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "core/file_stamp.h"
#include "core/printable.h"
#include "core/socket_folder.h"
#include "resident/patience.h"
#include "resident/wire.h"

namespace mcpac::resident {
namespace {

constexpr const char* kSocket = "host.sock";
constexpr const char* kLock = "host.lock";
constexpr const char* kWhat = "the place where the resident host is reached";
constexpr int kWaiting = 32;  // clients whose connections were not taken yet

std::unexpected<Error> unusable(const std::filesystem::path& folder, int error) {
  return fail(ErrorId::kFileUnwritable, fmt::format("{} cannot be used", kWhat),
              {.where = folder.string(), .why = std::system_category().message(error)});
}

std::unexpected<Error> distrusted(std::string why) {
  return fail(ErrorId::kRunUnreachable, "the resident host cannot be used",
              {.why = std::move(why)});
}

std::string stamp_line_of(const std::filesystem::path& file) {
  const auto stamp = stamp_of(file);
  return fmt::format("{}: {}\n", file.native(), stamp ? stamp->text() : "absent");
}

}  // namespace

std::filesystem::path door_folder(const project::Folders& folders) {
  return (folders.runtime.empty() ? folders.state : folders.runtime) / "resident";
}

std::string installation_stamp(const project::Folders& folders) {
  return stamp_line_of(folders.front()) + stamp_line_of(folders.whole()) +
         stamp_line_of(folders.warden()) + stamp_line_of(folders.analyzer());
}

Result<Door> Door::open(const std::filesystem::path& folder) {
  Door door;
  auto opened = open_socket_folder(folder, kWhat);
  if (!opened) return pass_on(opened);
  door.folder_ = std::move(*opened);
  door.lock_ = UniqueFd(
      ::openat(door.folder_.get(), kLock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!door.lock_) return unusable(folder, errno);
  if (::flock(door.lock_.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorId::kRunUnreachable, "another resident host of this user is up",
                {.where = folder.string(), .fix = "mcpac down"});
  ::unlinkat(door.folder_.get(), kSocket, 0);
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto address = socket_address(door.folder_, kSocket);
  if (!socket || !address) return unusable(folder, socket ? ENAMETOOLONG : errno);
  const mode_t before = ::umask(0177);
  const bool bound =
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0;
  const int error = errno;
  ::umask(before);
  if (!bound) return unusable(folder, error);
  if (!tell_senders(socket.get())) return unusable(folder, errno);
  door.socket_ = std::move(socket);
  return door;
}

Door::~Door() {
  close();
}

Result<void> Door::listen() {
  if (::listen(socket_.get(), kWaiting) == 0) return {};
  return fail(ErrorId::kFileUnwritable, "the resident host cannot listen",
              {.why = std::system_category().message(errno)});
}

void Door::leave() {
  socket_.reset();
  lock_.reset();
}

void Door::close() {
  if (!socket_) return;
  ::unlinkat(folder_.get(), kSocket, 0);
  socket_.reset();
}

namespace {

// Nothing where there is no listener.
Result<std::optional<UniqueFd>> connect_socket(const std::filesystem::path& folder,
                                               std::chrono::milliseconds answer_within) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / kSocket, ignored)) return std::nullopt;
  auto opened = open_socket_folder(folder, kWhat);
  if (!opened) return pass_on(opened);
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const auto address = socket_address(*opened, kSocket);
  if (!socket || !address) return unusable(folder, socket ? ENAMETOOLONG : errno);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(patient(answer_within)).count();
  const timeval limit{seconds, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (!tell_senders(socket.get())) return unusable(folder, errno);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0)
    return socket;
  if (errno == ECONNREFUSED || errno == ENOENT) return std::nullopt;  // left by one that was killed
  return distrusted(errno == EAGAIN ? "it takes no connection"
                                    : std::system_category().message(errno));
}

}  // namespace

Result<std::optional<Process>> find_host(const std::filesystem::path& folder) {
  auto socket = connect_socket(folder, kUntilItAnswers);
  if (!socket) return pass_on(socket);
  if (!*socket) return std::nullopt;
  auto host = Process::peer_of((*socket)->get());
  // Where the kernel knew only its number: it was that process if it listens on.
  pollfd gone{(*socket)->get(), 0, 0};
  const bool listens = ::poll(&gone, 1, 0) >= 0 && (gone.revents & POLLHUP) == 0;
  if (host && listens) return std::move(*host);
  // It hangs up on a peer of another standing, maybe before we looked. A process that listens
  // still, under that number, is it all the same.
  auto once_more = connect_socket(folder, kUntilItAnswers);
  if (!once_more) return pass_on(once_more);
  if (!*once_more) return std::nullopt;
  const auto listener = Process::peer_of((*once_more)->get());
  if (host && listener && listener->number() == host->number()) return std::move(*host);
  return distrusted("it belongs to another user, or has ended");
}

Result<std::optional<Connection>> connect_to_host(const std::filesystem::path& folder,
                                                  std::chrono::milliseconds limit) {
  auto connected = connect_socket(folder, limit);
  if (!connected) return pass_on(connected);
  if (!*connected) return std::nullopt;
  UniqueFd& socket = **connected;
  auto host = Process::peer_of(socket.get());
  if (!host) return distrusted("it belongs to another user, or has ended");
  // While it looks at us.
  const auto apart = why_apart_from_us(*host);
  const auto hello = receive_message(socket.get());
  if (hello.arrival != Arrival::kMessage || hello.message.process != host->number())
    return distrusted("it does not answer");
  if (const std::string why = string_member(hello.message.body, "alone"); !why.empty())
    return distrusted(printable(why, 200));
  if (apart) return distrusted(*apart);
  return Connection{std::move(socket), std::move(*host),
                    string_member(hello.message.body, "nonce")};
}

}  // namespace mcpac::resident
