// SPDX-License-Identifier: Apache-2.0

#include "run/live/live_runs.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <system_error>

#include "audit/limits.h"
#include "core/abandoned.h"
#include "core/printable.h"
#include "core/socket_folder.h"

namespace mcpac::run {
namespace {

constexpr std::string_view kEnding = ".sock";
constexpr std::size_t kMaxListed = 1'000;
constexpr int kAnswerSeconds = 5;

std::string reason(int error) {
  return std::system_category().message(error);
}

std::unexpected<Error> unreachable(std::string_view id, std::string_view why) {
  return fail(ErrorId::kRunUnreachable,
              fmt::format("the run {} does not answer", printable(id, 64)),
              {.why = std::string(why), .fix = "mcpac runs list"});
}

// A connection, or the errno that says why there is none.
struct Connection {
  UniqueFd socket;
  int error = 0;
};

enum class Wait : std::uint8_t { kNo, kYes };

Connection connect_to(const UniqueFd& folder, std::string_view name, Wait wait = Wait::kYes) {
  const int kind = SOCK_STREAM | SOCK_CLOEXEC | (wait == Wait::kNo ? SOCK_NONBLOCK : 0);
  UniqueFd socket(::socket(AF_UNIX, kind, 0));
  if (!socket) return {UniqueFd(), errno};
  const timeval limit{kAnswerSeconds, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const auto address = socket_address(folder, name);
  if (!address) return {UniqueFd(), ENAMETOOLONG};
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    return {UniqueFd(), errno};
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool is_ours = ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                       peer.uid == ::geteuid();
  if (!is_ours) return {UniqueFd(), EACCES};
  return {std::move(socket), 0};
}

std::optional<std::string> exchange(const UniqueFd& socket, std::string request) {
  request += '\n';
  std::string_view rest = request;
  while (!rest.empty()) {
    const ssize_t n = ::send(socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  std::string answer;
  std::array<char, 65536> piece{};
  while (answer.size() <= kMaxControlLine) {
    const ssize_t n = ::recv(socket.get(), piece.data(), piece.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    answer.append(piece.data(), static_cast<std::size_t>(n));
    if (const auto end = answer.find('\n'); end != std::string::npos) return answer.substr(0, end);
  }
  return std::nullopt;
}

bool is_run_name(std::string_view name, std::string_view ending) {
  return name.ends_with(ending) && audit::is_run_id(name.substr(0, name.size() - ending.size()));
}

// Sorted, so the oldest first: a run's id begins with its time.
Result<std::vector<std::string>> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) return fail(ErrorId::kFileUnreadable, reason(errno), {.where = folder.string()});
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (is_run_name(name, kEnding) && names.size() < kMaxListed) names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

Result<UniqueFd> open_runs_folder(const std::filesystem::path& folder) {
  return open_socket_folder(folder, "the folder of live runs");
}

Result<std::vector<std::string>> live_runs(const std::filesystem::path& folder) {
  auto fd = open_runs_folder(folder);
  if (!fd) return pass_on(fd);
  sweep_abandoned(folder);
  auto names = names_in(folder);
  if (!names) return pass_on(names);
  std::vector<std::string> live;
  for (const std::string& name : *names) {
    const auto connection = connect_to(*fd, name);
    // No listener: its run died without taking it away.
    if (connection.error == ECONNREFUSED) ::unlinkat(fd->get(), name.c_str(), 0);
    if (connection.error == 0) live.push_back(name.substr(0, name.size() - kEnding.size()));
  }
  return live;
}

void sweep_dead_runs(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) return;
  const auto fd = open_runs_folder(folder);
  const auto names = fd ? names_in(folder) : Result<std::vector<std::string>>();
  if (!fd || !names) return;
  sweep_abandoned(folder);
  for (const std::string& name : *names) {
    if (connect_to(*fd, name, Wait::kNo).error == ECONNREFUSED)
      ::unlinkat(fd->get(), name.c_str(), 0);
  }
}

Result<std::string> find_live_run(const std::filesystem::path& folder, std::string_view start) {
  auto live = live_runs(folder);
  if (!live) return pass_on(live);
  std::vector<std::string> found;
  std::ranges::copy_if(*live, std::back_inserter(found),
                       [&](const std::string& id) { return id.starts_with(start); });
  if (found.size() == 1 && !start.empty()) return found.front();
  return fail(ErrorId::kUnknownRun,
              found.empty() ? fmt::format("no live run's id starts with '{}'", printable(start, 64))
                            : fmt::format("'{}' is the start of the ids of {} live runs",
                                          printable(start, 64), found.size()),
              {.fix = "mcpac runs list shows the live runs; mcpac audit list --run ID what an "
                      "ended one did, and "
                      "what a confined server connected to"});
}

Result<Json> ask_live_run(const std::filesystem::path& folder, std::string_view id,
                          const Json& request) {
  auto fd = open_runs_folder(folder);
  if (!fd) return pass_on(fd);
  const auto connection = connect_to(*fd, std::string(id) + std::string(kEnding));
  if (connection.error != 0) return unreachable(id, reason(connection.error));
  const auto answer = exchange(connection.socket, to_text(request));
  if (!answer) return unreachable(id, "the connection ended without an answer");
  auto json = parse_json(*answer, "the run's answer");
  if (!json) return pass_on(json);
  if (const std::string error = string_member(*json, "error"); !error.empty()) {
    const bool unknown = string_member(*json, "id") == to_string(ErrorId::kUnknownTool);
    return fail(unknown ? ErrorId::kUnknownTool : ErrorId::kRunUnreachable, printable(error, 400),
                {.fix = unknown ? fmt::format("mcpac runs show {}", id.substr(0, 13)) : ""});
  }
  return json;
}

}  // namespace mcpac::run
