// SPDX-License-Identifier: Apache-2.0

#include "resident/request.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "core/hash.h"
#include "resident/sealed_memory.h"

namespace mcpac::resident {
namespace {

constexpr std::string_view kStart = "mcpac request 1\n";

void put_number(std::string& bytes, std::size_t number) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(static_cast<unsigned char>(number >> shift));
}

void put_text(std::string& bytes, std::string_view text) {
  put_number(bytes, text.size());
  bytes += text;
}

void put_list(std::string& bytes, const std::vector<std::string>& list) {
  put_number(bytes, list.size());
  for (const std::string& text : list) put_text(bytes, text);
}

// Takes one thing after the other; nothing once something did not fit.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::optional<std::uint32_t> number() {
    if (rest_.size() < 4) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
    rest_.remove_prefix(4);
    return value;
  }
  // What becomes a C string cannot have a NUL in it.
  std::optional<std::string> text() {
    const auto size = number();
    if (!size || *size > rest_.size()) return std::nullopt;
    std::string value(rest_.substr(0, *size));
    if (value.find('\0') != std::string::npos) return std::nullopt;
    rest_.remove_prefix(*size);
    return value;
  }
  bool list(std::vector<std::string>& into) {
    const auto count = number();
    if (!count || *count > kMaxWords) return false;
    for (std::uint32_t i = 0; i < *count; ++i) {
      auto one = text();
      if (!one) return false;
      into.push_back(std::move(*one));
    }
    return true;
  }
  [[nodiscard]] bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// Of the shell, from one command to the next; the worker gets their new values like all others.
bool is_passing(std::string_view variable) {
  constexpr std::array<std::string_view, 5> kNames = {
      "_=", "SHLVL=", "OLDPWD=", "COLUMNS=", "LINES="};
  return std::ranges::any_of(kNames,
                             [&](std::string_view name) { return variable.starts_with(name); });
}

}  // namespace

std::string encode(const Request& request) {
  std::string bytes(kStart);
  put_number(bytes, request.umask);
  put_text(bytes, request.config_file);
  put_list(bytes, request.arguments);
  put_list(bytes, request.environment);
  return bytes;
}

Result<Request> decode(std::string_view bytes) {
  if (!bytes.starts_with(kStart)) return unreadable_request("it has another form");
  Reader reader(bytes.substr(kStart.size()));
  const auto umask = reader.number();
  auto config_file = reader.text();
  Request request;
  if (!umask || *umask > 0777 || !config_file || !reader.list(request.arguments) ||
      !reader.list(request.environment) || !reader.is_at_end())
    return unreadable_request("its parts do not fit");
  if (request.arguments.empty() || !config_file->starts_with('/'))
    return unreadable_request("it has no command, or no project");
  request.umask = *umask;
  request.config_file = std::move(*config_file);
  return request;
}

Result<UniqueFd> to_memory(const Request& request) {
  const std::string bytes = encode(request);
  if (bytes.size() > kMaxRequest || request.arguments.size() > kMaxWords ||
      request.environment.size() > kMaxWords)
    return unreadable_request("it is too long");
  return seal(bytes);
}

Result<Request> from_memory(int fd) {
  auto bytes = read_sealed(fd, kMaxRequest);
  if (!bytes) return pass_on(bytes);
  return decode(*bytes);
}

Result<std::string> key_of(const Request& request, int folder) {
  // What the kernel knows already: a file system of a user (FUSE) would be asked otherwise, and
  // might never answer.
  struct statx info {};
  constexpr int kFlags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  if (::statx(folder, "", kFlags, STATX_TYPE | STATX_INO, &info) != 0 || !S_ISDIR(info.stx_mode))
    return unreadable_request("its working folder is none");
  Request same = request;
  same.arguments = {fmt::format("{}:{}:{}", info.stx_dev_major, info.stx_dev_minor, info.stx_ino)};
  std::erase_if(same.environment, is_passing);
  std::ranges::sort(same.environment);
  return sha256_hex(encode(same));
}

}  // namespace mcpac::resident
