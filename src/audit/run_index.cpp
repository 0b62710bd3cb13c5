// SPDX-License-Identifier: Apache-2.0

#include "audit/run_index.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "audit/write_support.h"
#include "core/file.h"
#include "core/rfc3339.h"

namespace mcpac::audit {
namespace {

// Lines of the index are shorter: the last one lies within this tail of the file.
constexpr std::size_t kMaxLine = 2048;
constexpr auto kPatience = std::chrono::seconds(5);

// Others hold the lock for the time of one line; a process that holds it for longer hangs, and must
// not take every later run with it.
bool lock_file(int fd) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || std::chrono::steady_clock::now() > give_up)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

struct Tail {
  std::uint64_t next = 0;  // the number of the line to write
  Digest head{};
  std::string torn;  // behind the last whole line
  off_t whole = 0;   // where that one ends
};

Result<Tail> read_tail(int fd, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return unwritable(path, errno);
  if (!S_ISREG(info.st_mode)) return unwritable(path, "it is not a file");
  const auto length = std::min<off_t>(info.st_size, 2 * kMaxLine);
  std::string text(static_cast<std::size_t>(length), '\0');
  if (::pread(fd, text.data(), text.size(), info.st_size - length) != length)
    return unwritable(path, errno);
  Tail tail{.next = 0, .head = chain_start("runs", ""), .torn = {}, .whole = 0};
  const auto end = text.rfind('\n');
  tail.torn = text.substr(end == std::string::npos ? 0 : end + 1);
  tail.whole = info.st_size - static_cast<off_t>(tail.torn.size());
  if (end == std::string::npos) {
    if (tail.whole != 0) return unwritable(path, "its end is not a line of the index");
    return tail;
  }
  const auto before = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const auto start = before == std::string::npos ? 0 : before + 1;
  const auto line = open_line(std::string_view(text).substr(start, end - start));
  auto json = line ? parse_json(std::string(line->body) + "}") : Result<Json>(Json());
  const Json* number = json ? find_member(*json, "seq") : nullptr;
  if (number == nullptr || !number->is_number_unsigned())
    return unwritable(path, "its last line is not one of the index");
  tail.next = number->get<std::uint64_t>() + 1;
  tail.head = line->hash;
  return tail;
}

}  // namespace

Result<void> RunIndex::began(const std::string& run_id, const Digest& first) const {
  return append({{"event", "began"}, {"run_id", run_id}, {"first", hex(first)}});
}

Result<void> RunIndex::ended(const std::string& run_id, const Digest& head,
                             std::uint64_t records) const {
  return append(
      {{"event", "ended"}, {"run_id", run_id}, {"head", hex(head)}, {"records", records}});
}

Result<void> RunIndex::accepted(const std::string& run_id, const Digest& head,
                                std::uint64_t records) const {
  return append(
      {{"event", "accepted"}, {"run_id", run_id}, {"head", hex(head)}, {"records", records}});
}

Result<void> RunIndex::sync() const {
  const UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY));
  if (!fd || ::fdatasync(fd.get()) != 0) return unwritable(path_, errno);
  return {};
}

Result<void> RunIndex::append(Json entry) const {
  UniqueFd fd(
      ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600));
  if (!fd) return unwritable(path_, errno);
  if (!lock_file(fd.get())) return unwritable(path_, "another process holds its lock");
  auto tail = read_tail(fd.get(), path_);
  if (!tail) return pass_on(tail);
  const auto write_line = [&](Json json) -> Result<void> {
    json["seq"] = tail->next;
    json["time"] = rfc3339_utc(clock_.wall_now());
    std::string body = to_text(json);
    body.pop_back();
    const Digest hash = chain_next(tail->head, body);
    const std::string line = closed_line(std::move(body), hash, key_.sign(kRunsDomain, hash));
    if (::write(fd.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      const std::string why = reason_of(errno);
      if (::ftruncate(fd.get(), tail->whole) != 0) return unwritable(path_, "half a line is left");
      return unwritable(path_, why);
    }
    tail->whole += static_cast<off_t>(line.size());
    tail->head = hash;
    ++tail->next;
    return {};
  };
  if (!tail->torn.empty()) {
    // Its writer died in it, and never heard that it was written. Said, not forgotten.
    if (::ftruncate(fd.get(), tail->whole) != 0) return unwritable(path_, errno);
    auto noted = write_line({{"event", "recovered"},
                             {"bytes", tail->torn.size()},
                             {"digest", hex(blake2b(tail->torn))}});
    if (!noted) return noted;
  }
  return write_line(std::move(entry));
}

}  // namespace mcpac::audit
