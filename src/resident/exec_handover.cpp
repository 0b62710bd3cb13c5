// SPDX-License-Identifier: Apache-2.0

// A visit that goes on in another program: bin/mcpac has asked the host, and becomes all of mcpac
// where no worker did the work. The connection stays open over exec(): as long as it is, the host
// prepares nothing in the project. A sealed memory file says what came of it; its number is in the
// environment of the new program, which takes both away before it starts anything.
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "core/printable.h"
#include "resident/client.h"
#include "resident/sealed_memory.h"

namespace mcpac::resident {
namespace {

constexpr const char* kVariable = "MCPAC_VISIT";
constexpr std::size_t kMaxBytes = 4'096;

// False: there is no such descriptor.
bool keep_over_exec(int fd, bool keep) {
  return ::fcntl(fd, F_SETFD, keep ? 0 : FD_CLOEXEC) == 0;
}

// What the variable says, taken away with the memory that it stands in; no object where it says
// nothing of ours. Whatever else has that number stays as it is.
Json take_words() {
  const char* said = std::getenv(kVariable);
  if (said == nullptr) return {};
  int fd = -1;
  const char* const end = said + std::strlen(said);
  const auto [rest, error] = std::from_chars(said, end, fd);
  const bool is_number = error == std::errc() && rest == end && fd > STDERR_FILENO;
  ::unsetenv(kVariable);
  const auto text = is_number ? read_sealed(fd, kMaxBytes) : Result<std::string>("");
  if (!is_number || !text) return {};
  const UniqueFd memory(fd);
  return parse_json(*text).value_or(Json());
}

// The connection that was left open under this number.
std::optional<Connection> take_connection(const Json& said) {
  const Json* number = find_member(said, "socket");
  if (number == nullptr || !number->is_number_unsigned()) return std::nullopt;
  const int fd = number->get<int>();
  if (fd <= STDERR_FILENO || !keep_over_exec(fd, false)) return std::nullopt;
  UniqueFd socket(fd);  // closed where the host has ended meanwhile
  auto host = Process::peer_of(fd);
  if (!host) return std::nullopt;
  return Connection{std::move(socket), std::move(*host), string_member(said, "nonce")};
}

}  // namespace

void Visit::hand_over() {
  const bool is_lost = outcome_ && !*outcome_;
  if (!connection_ && why_alone_.empty() && !is_lost) return;  // no host is up: as if never asked
  Json said{{"why", printable(why_alone_, 400)}, {"lost", is_lost}};
  if (connection_) {
    said["socket"] = connection_->socket.get();
    said["nonce"] = connection_->nonce;
  }
  auto memory = seal(to_text(said));
  // Without it the other program asks once more.
  if (!memory || !keep_over_exec(memory->get(), true)) return;
  if (connection_ && !keep_over_exec(connection_->socket.get(), true)) return;
  ::setenv(kVariable, std::to_string(memory->release()).c_str(), 1);
  if (connection_) std::ignore = connection_->socket.release();  // the other program's
}

void Visit::forget_handover() {
  ::unsetenv(kVariable);
}

std::unique_ptr<Visit> Visit::taken_over() {
  const Json said = take_words();
  if (!said.is_object()) return nullptr;
  std::unique_ptr<Visit> visit(new Visit);
  visit->why_alone_ = string_member(said, "why");
  const Json* lost = find_member(said, "lost");
  if (lost != nullptr && *lost == true) visit->outcome_ = lost_in_a_run();
  visit->connection_ = take_connection(said);
  return visit;
}

}  // namespace mcpac::resident
