// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/web.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>

#include "core/ascii.h"
#include "core/printable.h"
#include "mcp/address.h"
#include "mcp/url_addresses.h"

namespace mcpac::mcp::oauth {
namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace {

constexpr std::size_t kMaxBody = std::size_t{256}
                                 << 10U;  // metadata of real servers stays under 16
constexpr std::chrono::seconds kTimeLimit{20};
constexpr unsigned kHttp11 = 11;

HttpRequest make_request(const Url& url, const WebRequest& from) {
  HttpRequest request(from.body.empty() ? http::verb::get : http::verb::post, url.target, kHttp11);
  request.set(http::field::host, url.authority());
  request.set(http::field::user_agent, "mcpac/" MCPAC_VERSION);
  request.set(http::field::accept, "application/json");
  request.set("MCP-Protocol-Version", "2025-11-25");
  if (!from.authorization.empty()) request.set(http::field::authorization, from.authorization);
  if (!from.body.empty()) {
    request.set(http::field::content_type, from.content_type);
    request.body() = from.body;
    request.prepare_payload();
  }
  return request;
}

asio::awaitable<Result<WebAnswer>> exchange(HttpConnection& connection, HttpRequest request) {
  auto opened = co_await connection.open();
  if (!opened) co_return pass_on(opened);
  auto head = co_await connection.exchange(std::move(request));
  if (!head) co_return pass_on(head);
  WebAnswer answer{.status = head->status, .location = head->location};
  while (true) {
    auto piece = co_await connection.read_body();
    if (!piece) co_return pass_on(piece);
    if (piece->empty()) co_return answer;
    if (answer.body.size() + piece->size() > kMaxBody) {
      co_return fail(ErrorId::kServerLimit, fmt::format("longer than {} bytes", kMaxBody));
    }
    answer.body += *piece;
  }
}

// "localhost", "LOCALHOST.", "x.localhost" (RFC 6761, section 6.3).
bool is_local_name(std::string_view host) {
  constexpr std::string_view kLocal = ".localhost";
  std::string name = "." + std::string(host.substr(0, host.size() - (host.ends_with('.') ? 1 : 0)));
  return lowered(name).ends_with(kLocal);
}

// Hosts that browsers take for an IPv4 address although they are none to us: "2130706433", "127.1",
// "0x7f.1" (URL Standard of the WHATWG, "ends in a number checker").
bool ends_in_number(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const auto label = host.substr(host.rfind('.') + 1);  // npos + 1 is 0
  return !label.empty() && (label.find_first_not_of("0123456789") == std::string_view::npos ||
                            label.starts_with("0x") || label.starts_with("0X"));
}

}  // namespace

asio::awaitable<Reach> reach_of(asio::any_io_executor executor, Url url) {
  asio::steady_timer patience(executor);
  const auto found = co_await addresses_of(url, patience);
  Reach widest = Reach::kPublic;
  if (!found) co_return widest;
  for (const auto& address : *found) widest = std::max(widest, reach_at(address));
  co_return widest;
}

bool is_loopback(const Url& url) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(url.host, error);
  return url.host == "localhost" || (!error && address.is_loopback());
}

Result<Url> safe_url(std::string_view text) {
  auto url = parse_url(text);
  if (!url || (!url->tls && !is_loopback(*url))) {
    return fail(ErrorId::kServerHttp,
                fmt::format("\"{}\" is not called", printable(text.substr(0, 200))),
                {.why = "only https, and http on this machine, is safe for a login"});
  }
  return url;
}

Result<Web> Web::make(asio::any_io_executor executor, Reach reach) {
  auto tls = make_tls_context();
  if (!tls) return pass_on(tls);
  return Web(std::move(executor), std::move(*tls), reach);
}

bool Web::may_show(const Url& page) const {
  if (reach_ == Reach::kAnywhere) return true;
  boost::system::error_code error;
  const auto address = asio::ip::make_address(page.host, error);
  if (!error) return reach_at(address) <= reach_;
  return !is_local_name(page.host) && !ends_in_number(page.host);
}

asio::awaitable<Result<WebAnswer>> Web::fetch(WebRequest request) const {
  auto url = safe_url(request.url);
  if (!url) co_return pass_on(url);
  const auto connection = HttpConnection::make(executor_, *url, tls_, reach_);
  asio::steady_timer limit(executor_, kTimeLimit);
  limit.async_wait([connection](const boost::system::error_code& error) {
    if (!error) connection->close();
  });
  HttpRequest message = make_request(*url, request);
  auto answer = co_await exchange(*connection, std::move(message));
  connection->close();
  if (answer) co_return answer;
  co_return fail(answer.error().id,
                 fmt::format("{} cannot be used: {}", url->authority(), answer.error().what),
                 {.why = answer.error().why, .fix = answer.error().fix});
}

asio::awaitable<Result<Json>> Web::fetch_object(std::string url) const {
  WebRequest request;
  request.url = url;
  auto answer = co_await fetch(std::move(request));
  if (!answer) co_return pass_on(answer);
  if (answer->status != 200) {
    co_return fail(ErrorId::kServerHttp, fmt::format("{} answered with HTTP status {}",
                                                     printable(url, 200), answer->status));
  }
  const JsonLimits limits{.max_bytes = kMaxBody, .max_depth = 16, .max_values = 10'000};
  auto object = parse_json(answer->body, url, limits);
  if (!object || !object->is_object()) {
    co_return fail(ErrorId::kServerHttp,
                   fmt::format("{} holds no JSON object", printable(url, 200)));
  }
  co_return object;
}

}  // namespace mcpac::mcp::oauth
