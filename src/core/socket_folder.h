// SPDX-License-Identifier: Apache-2.0

// SocketFolder: a folder that is its user's alone, held by a descriptor, and sockets in it.
//
// A process that can put something there can do all that its user can, so it is made with the mode
// 0700 and refused where it is anything else. What lies in it is reached through the descriptor: a
// path may lead elsewhere by the time it is used.
#pragma once

#include <sys/un.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/file.h"

namespace mcpac {

// Makes the folder where there is none, and those above it. kFileUnwritable where it is not the
// user's alone, or a link; `what` stands in the error: "the folder of live runs".
[[nodiscard]] Result<UniqueFd> open_socket_folder(const std::filesystem::path& folder,
                                                  std::string_view what);

// The address of a socket in it: through the descriptor, for an address has 107 bytes, and folders
// may lie deep. Nothing where even so the name does not fit.
[[nodiscard]] std::optional<sockaddr_un> socket_address(const UniqueFd& folder,
                                                        std::string_view name);

}  // namespace mcpac
