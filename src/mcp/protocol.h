// SPDX-License-Identifier: Apache-2.0

// Names and numbers of the MCP revisions that we speak.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/json.h"

namespace mcpac::mcp {

inline constexpr std::string_view kStatelessVersion = "2026-07-28";
inline constexpr std::string_view kInitializeVersion = "2025-11-25";  // what we ask for
inline constexpr std::array<std::string_view, 4> kInitializeVersions = {"2025-11-25", "2025-06-18",
                                                                        "2025-03-26", "2024-11-05"};

inline constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kMetaClientInfo = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kMetaSubscription = "io.modelcontextprotocol/subscriptionId";
inline constexpr std::string_view kMetaLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kMetaServerInfo = "io.modelcontextprotocol/serverInfo";

// UnsupportedProtocolVersionError of revision 2026-07-28; its data lists the `supported` ones.
inline constexpr std::int64_t kUnsupportedVersion = -32022;

[[nodiscard]] Json client_info();
// The `_meta` of every request of revision 2026-07-28, with the capabilities that we declare.
[[nodiscard]] Json stateless_meta(const Json& capabilities);
[[nodiscard]] bool is_initialize_version(std::string_view version);

}  // namespace mcpac::mcp
