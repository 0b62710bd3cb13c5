// SPDX-License-Identifier: Apache-2.0

// SealedMemory: immutable bytes for another process, in a memory file (memfd).
//
// Only such a file has seals, so reading one never waits for another process, and what was read
// once is what it is.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/file.h"

namespace mcpac::resident {

// kUsage: what is to be read of a request, or was to be written of it.
[[nodiscard]] std::unexpected<Error> unreadable_request(std::string why);
// kUsage where there is no memory for it.
[[nodiscard]] Result<UniqueFd> seal(std::string_view bytes);
// kUsage where it is no sealed memory, or longer.
[[nodiscard]] Result<std::string> read_sealed(int fd, std::size_t max_bytes);

}  // namespace mcpac::resident
