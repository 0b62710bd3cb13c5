// SPDX-License-Identifier: Apache-2.0

// Readers of a program's messages for the door: pure, over decoded, untrusted values.
#pragma once

#include <expected>
#include <optional>
#include <string_view>

#include "core/json.h"
#include "gate/answer.h"
#include "gate/gate.h"
#include "ipc/json_rpc.h"

namespace mcpac::gate {

// As ipc::decode, but a number beyond double makes a call that is decided, not a text that is none.
[[nodiscard]] std::expected<ipc::Message, ipc::RpcError> decode_message(
    std::string_view text, const JsonLimits& limits = {});

// {"name": "server.tool", "arguments": {…}}; absent arguments mean {}. Members that it does not
// know are ignored, `grantedPermissions` above all.
[[nodiscard]] std::expected<CallRequest, CallError> read_tool_call(Json params);

// {"host": …, "port": …, "tls": …} of network/connect; absent `tls` means true.
[[nodiscard]] std::expected<ConnectRequest, CallError> read_connect(const Json& params);

// Whether the text of a frame has a member "grantedPermissions" anywhere: an attempt to bring its
// own authority, worth a record and nothing else. (One spelled with \u escapes passes unrecorded,
// and as ineffective.)
[[nodiscard]] bool claims_authority(std::string_view line);

// MCP's eight levels, "debug" to "emergency", as a text that lives for ever.
[[nodiscard]] std::optional<std::string_view> log_level(std::string_view text);

// The requestId of notifications/cancelled.
[[nodiscard]] std::optional<ipc::Id> request_id(const Json& params);

}  // namespace mcpac::gate
