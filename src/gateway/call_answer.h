// Call answers: what a client hears of a call that has no result of its server.
//
// A model can act on a refusal, a bad argument or a server that died, so these come as a result
// with isError, which clients show to it; `_meta` says the same to programs. A tool that is not
// there, and a fault of ours, are errors of the protocol. The words are ours: of a refusal nothing
// was sent to the server, and nothing of what a server says stands in it.
#pragma once

#include <string>
#include <string_view>

#include "core/json.h"
#include "gate/answer.h"
#include "ipc/json_rpc.h"

namespace mcpac::gateway {

// {"kind": …, "code": …, "required": …, "reason": …}: as an agent gets it in an error's data.
inline constexpr std::string_view kMetaError = "mcpac/error";

// Whether the client gets this as an error of the protocol.
[[nodiscard]] bool is_protocol_error(const gate::CallError& error);
[[nodiscard]] Json error_result(const gate::CallError& error);
// The same for a tool that nobody has and for one that nobody granted.
[[nodiscard]] ipc::ErrorObject unknown_tool(std::string_view name);

}  // namespace mcpac::gateway
