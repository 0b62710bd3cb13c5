// SPDX-License-Identifier: Apache-2.0

// Call answers: answers to a call that has no result of its server.
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
// The same for an unknown tool and for one that was not granted.
[[nodiscard]] ipc::ErrorObject unknown_tool(std::string_view name);
[[nodiscard]] ipc::ErrorObject unknown_prompt(std::string_view name);
// As SEP-2164 has it: no resource, or none that this client may read.
[[nodiscard]] ipc::ErrorObject resource_not_found(std::string_view uri);

// Kinds of requests: a refusal has a form of its own in each.
enum class CallForm : std::uint8_t { kTool, kResource, kPrompt };
// Of resources and prompts, whose results have no isError; `asked` is the URI or the prompt's name.
// In `_meta`'s place is `data`: the same member there.
[[nodiscard]] ipc::ErrorObject error_of(CallForm form, const std::string& asked,
                                        const gate::CallError& error);
// Only mcpac refuses in the name of mcpac: what a server says of that is left out.
[[nodiscard]] Json without_our_name(Json result);
[[nodiscard]] ipc::ErrorObject without_our_name(ipc::ErrorObject error);

}  // namespace mcpac::gateway
