// Agreement: headers that repeat what the body says must say the same.
//
// Proxies and firewalls decide by Mcp-Method and Mcp-Name without reading bodies; a request whose
// headers say another thing than its body would be decided by one and carried out by the other
// (revision 2026-07-28). Pure.
#pragma once

#include <optional>
#include <string>

#include "gateway/http/head.h"
#include "gateway/request_context.h"
#include "ipc/json_rpc.h"

namespace mcpac::gateway::http {

enum class HttpEra : std::uint8_t { kInitialize, kStateless };

// By the body's `_meta`, or else by the header MCP-Protocol-Version.
[[nodiscard]] HttpEra era_of(const Head& head, const ipc::Message& message);

// What of a stateless request is not so, and the number of that error; nothing: all agrees, and
// `_meta` has what it must have.
struct Disagreement {
  std::int64_t code = kHeaderMismatch;
  std::string why;
};
[[nodiscard]] std::optional<Disagreement> disagreement(const Head& head,
                                                       const ipc::Message& message);

// "=?base64?…?=" as text; plain text as it is; nothing for what is neither.
[[nodiscard]] std::optional<std::string> decode_header_value(std::string_view value);

}  // namespace mcpac::gateway::http
