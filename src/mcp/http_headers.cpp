// SPDX-License-Identifier: Apache-2.0

#include "mcp/http_headers.h"

#include <sodium.h>

#include <algorithm>
#include <utility>

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>

#include "mcp/protocol.h"

namespace mcpac::mcp {
namespace http = boost::beast::http;
namespace {

constexpr unsigned kHttp11 = 11;

HttpRequest make_request(const HttpState& state, http::verb verb) {
  HttpRequest request(verb, state.url.target, kHttp11);
  request.set(http::field::host, state.url.authority());
  request.set(http::field::user_agent, "mcpac/" MCPAC_VERSION);
  for (const auto& [name, value] : state.headers) request.set(name, value);
  if (!state.session_id.empty()) request.set("Mcp-Session-Id", state.session_id);
  if (!state.version.empty()) request.set("MCP-Protocol-Version", state.version);
  return request;
}

}  // namespace

HttpRequest make_post(const HttpState& state, const Outgoing& message, std::string body) {
  HttpRequest request = make_request(state, http::verb::post);
  request.set(http::field::content_type, "application/json");
  request.set(http::field::accept, "application/json, text/event-stream");
  // Before the era is known the probe travels as the revision that it asks for.
  const bool probe = state.era == Era::kProbe && message.method == "server/discover";
  if (probe) request.set("MCP-Protocol-Version", kStatelessVersion);
  if ((probe || state.era == Era::kStateless) && !message.method.empty()) {
    request.set("Mcp-Method", encode_header_value(message.method));
    if (!message.name.empty()) request.set("Mcp-Name", encode_header_value(message.name));
    for (const auto& [name, value] : message.headers) request.set(name, value);
  }
  request.body() = std::move(body);
  request.prepare_payload();
  return request;
}

HttpRequest make_get(const HttpState& state, std::string_view last_event) {
  HttpRequest request = make_request(state, http::verb::get);
  request.set(http::field::accept, "text/event-stream");
  if (!last_event.empty()) request.set("Last-Event-ID", last_event);
  return request;
}

HttpRequest make_delete(const HttpState& state) {
  return make_request(state, http::verb::delete_);
}

std::string encode_header_value(std::string_view text) {
  const bool plain = !text.empty() &&
                     std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; }) &&
                     !text.starts_with(' ') && !text.ends_with(' ') &&
                     !(text.starts_with("=?base64?") && text.ends_with("?="));
  if (plain) return std::string(text);
  std::string encoded(sodium_base64_encoded_len(text.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(encoded.data(), encoded.size(),
                    reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  encoded.pop_back();  // the terminating NUL
  return "=?base64?" + encoded + "?=";
}

bool is_session_id(std::string_view text) {
  constexpr std::size_t kMaxSessionId = 1'024;
  return !text.empty() && text.size() <= kMaxSessionId &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace mcpac::mcp
