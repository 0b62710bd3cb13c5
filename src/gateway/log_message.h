// SPDX-License-Identifier: Apache-2.0

// Log messages of servers, as clients get them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"
#include "gateway/log_level.h"

namespace mcpac::gateway {

// The params of notifications/message: level and data as the server sent them, and who logs, which
// begins with the server's name: behind a gateway all speak through one connection. Nothing for
// what is no log message, or is too large (64 KiB).
[[nodiscard]] std::optional<Json> log_message(const std::string& server, const Json& params);
[[nodiscard]] bool is_wanted(const Json& message, std::string_view least);

}  // namespace mcpac::gateway
