// SPDX-License-Identifier: Apache-2.0

// WriteAll: all of the bytes, however many calls that takes.
#pragma once

#include <string_view>

namespace mcpac {

// To a descriptor that blocks. 0 or errno; what was written before an error stays.
[[nodiscard]] int write_all(int fd, std::string_view bytes);

}  // namespace mcpac
