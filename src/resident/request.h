// SPDX-License-Identifier: Apache-2.0

// Request: a client's command, as its worker takes it over.
//
// It travels in a sealed memory file: no process can change it after it was read, nor make its
// reader wait. The key says which preparations fit it: a worker is started with the environment,
// folder and umask of the request before, and so are its servers; so all of these are part of the
// key, but for a few variables that change from one command to the next and mean nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/file.h"

namespace mcpac::resident {

// The kernel passes 2 MiB to a program by default (a quarter of the stack limit).
inline constexpr std::size_t kMaxRequest = std::size_t{8} << 20U;
inline constexpr std::size_t kMaxWords = 65'536;

// Descriptors beside it: the memory that it is in, the working folder, and one end of a socket
// (handshake.h).
inline constexpr std::size_t kRequestAt = 0;
inline constexpr std::size_t kFolderAt = 1;
inline constexpr std::size_t kChannelAt = 2;
inline constexpr std::size_t kPassed = 3;

struct Request {
  std::vector<std::string> arguments;    // argv, with argv[0]
  std::vector<std::string> environment;  // "NAME=value"
  std::string config_file;               // absolute
  std::uint32_t umask = 0;
  friend bool operator==(const Request&, const Request&) = default;
};

// kUsage where it is beyond the limits.
[[nodiscard]] Result<UniqueFd> to_memory(const Request& request);
// From an untrusted sender: kUsage for all that to_memory() does not make.
[[nodiscard]] Result<Request> from_memory(int fd);

[[nodiscard]] std::string encode(const Request& request);
[[nodiscard]] Result<Request> decode(std::string_view bytes);

// `folder` is a descriptor of the working folder.
[[nodiscard]] Result<std::string> key_of(const Request& request, int folder);

}  // namespace mcpac::resident
