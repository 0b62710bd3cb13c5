// SPDX-License-Identifier: Apache-2.0

// The headers of one request of the Streamable HTTP transport, for each protocol era.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "mcp/http_connection.h"
#include "mcp/server_config.h"
#include "mcp/transport.h"
#include "mcp/url.h"

namespace mcpac::mcp {

// What the headers of every request depend on.
struct HttpState {
  Url url;
  std::map<std::string, std::string> headers;  // configured, expanded
  Era era = Era::kProbe;
  std::string version;     // negotiated; empty before
  std::string session_id;  // empty when the server gave none
};

// `body`: the line of the message, which may have it no more.
[[nodiscard]] HttpRequest make_post(const HttpState& state, const Outgoing& message,
                                    std::string body);
// A GET for the stream of server messages; `last_event` resumes one.
[[nodiscard]] HttpRequest make_get(const HttpState& state, std::string_view last_event);
[[nodiscard]] HttpRequest make_delete(const HttpState& state);

// The value of Mcp-Name and Mcp-Param-*: as it is when it is plain printable ASCII, else
// "=?base64?…?=".
[[nodiscard]] std::string encode_header_value(std::string_view text);
// 1 to 1024 visible ASCII characters, as the specification asks.
[[nodiscard]] bool is_session_id(std::string_view text);

}  // namespace mcpac::mcp
