// SPDX-License-Identifier: Apache-2.0

// Head: checks of the head of an HTTP request, before its body is looked at.
//
// A browser that was led here by a name that resolves to this machine (DNS rebinding) says that
// name in Host and its page in Origin: both must be ours. Where the body ends must be said in one
// way only, and headers that we decide by stand once, so that no proxy before us reads another
// request than we do. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/ip/address.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>

namespace mcpac::gateway::http {

using Fields = boost::beast::http::fields;
using Head = boost::beast::http::request_header<Fields>;
using Field = boost::beast::http::field;

inline constexpr std::string_view kEndpoint = "/mcp";
inline constexpr std::string_view kHealth = "/healthz";

// Why a request is not looked at any further.
// A constructor, since g++ 12 destroys an aggregate twice that is made inside a co_await.
struct Refusal {
  Refusal(unsigned the_status, std::string reason) : status(the_status), why(std::move(reason)) {}
  unsigned status;
  std::string why;
  std::string challenge{};  // of WWW-Authenticate, behind what is always said there
};

// Of a token that was one, and is no more (RFC 6750, section 3.1).
[[nodiscard]] Refusal token_is_over();

// A URL by which clients come, through a proxy that is before us and may end their TLS.
struct PublicUrl {
  bool tls = true;
  std::string host;  // in lower case, an IPv6 address in brackets
  std::uint16_t port = 443;
};

// Our names for clients: in Host, and as an origin in Origin. Those that come by a public URL send
// its host in Host, with or without its port (proxies write both), and its origin in Origin; a
// proxy may say our own address in Host instead.
struct OurNames {
  std::vector<std::string> hosts;  // in lower case, an IPv6 address in brackets
  std::uint16_t port = 0;
  bool tls = false;
  std::vector<PublicUrl> urls{};
};
// In lower case, as ASCII.
[[nodiscard]] std::string lower(std::string_view text);

// Of a door at this address: the address, and "localhost" where that leads to it. Empty for the
// address of no interface in particular (0.0.0.0, ::).
[[nodiscard]] std::vector<std::string> names_of(const boost::asio::ip::address& address);

// Of a request that passes, the body may be read.
[[nodiscard]] std::optional<Refusal> refuse_head(const Head& head, const OurNames& names);
// Of a request that passed: whether a body follows.
[[nodiscard]] bool has_body(const Head& head);
// Of a POST to the endpoint: what it brings, and what it takes for an answer.
[[nodiscard]] std::optional<Refusal> refuse_post(const Head& head);
// What a request takes for an answer (RFC 9110, 12.5.1): anything where it has no Accept. The
// specification of MCP wants both named; one that takes JSON alone is answered so.
struct Accepted {
  bool json = false;
  bool events = false;
};
[[nodiscard]] Accepted accepted_by(const Head& head);
// Whether the request is for the endpoint, with or without a slash at its end.
[[nodiscard]] bool is_for_endpoint(const Head& head);

// The value of a header, or empty.
[[nodiscard]] std::string_view field(const Head& head, Field name);
// Of one that the parser has no number for, as it has none of MCP's own.
[[nodiscard]] std::string_view field(const Head& head, std::string_view name);
// The token of "Authorization: Bearer …"; nothing where there is none, or another scheme.
[[nodiscard]] std::optional<std::string_view> bearer(const Head& head);

}  // namespace mcpac::gateway::http
