// SPDX-License-Identifier: Apache-2.0

#include "servers/confine/proxy_talk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/verb.hpp>

#include "core/ascii.h"
#include "ipc/http_pieces.h"

namespace mcpac::servers {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Local = asio::local::stream_protocol;
using Parser = ipc::UnfoldedRequestParser<http::buffer_body>;
using Asked = std::expected<std::unique_ptr<ProxyAsked>, NotAsked>;

constexpr auto kProxyAwait = asio::as_tuple(asio::use_awaitable);
// Of a request's head, as common servers have it, and of what is read at once.
constexpr std::size_t kMostHead = std::size_t{16} << 10U;
constexpr std::size_t kProxyPiece = std::size_t{16} << 10U;

std::string http_answer(unsigned status, std::string_view text, std::string_view why) {
  std::string body = fmt::format("mcpac: {}\n", why);
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      status, text, body.size(), body);
}

NotAsked bad_request_to_proxy(std::string_view why) {
  return NotAsked(http_answer(400, "Bad Request", why));
}

struct Authority {
  std::string host;
  std::uint16_t port = 0;
};

// "HOST:PORT", "[v6]:PORT"; `usual` stands for a port that is not there, 0 for none.
std::optional<Authority> read_authority(std::string_view text, std::uint16_t usual) {
  Authority authority;
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  authority.host = text.substr(0, has_port ? colon : text.size());
  authority.port = usual;
  if (has_port) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [rest, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), authority.port);
    if (error != std::errc{} || rest != digits.data() + digits.size()) return std::nullopt;
  }
  if (authority.host.empty() || authority.port == 0 ||
      authority.host.find('@') != std::string::npos)
    return std::nullopt;
  return authority;
}

bool is_same(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

// Of the connection between the server and its proxy, and not of the request (RFC 9110, 7.6.1).
bool is_of_hop(std::string_view name, const std::set<std::string>& named) {
  static constexpr std::array<std::string_view, 10> kOfHop = {
      "connection",          "proxy-connection",   "keep-alive", "te",   "trailer",
      "proxy-authorization", "proxy-authenticate", "upgrade",    "host", "transfer-encoding"};
  std::string low(name);
  std::ranges::transform(low, low.begin(), to_lower);
  return std::ranges::find(kOfHop, low) != kOfHop.end() || named.contains(low);
}

class Forwarded final : public ForwardedRequest {
 public:
  Forwarded(Tcp::socket& client, std::unique_ptr<Parser> parser, beast::flat_buffer buffer,
            std::string head)
      : client_(client),
        upstream_(client.get_executor()),
        parser_(std::move(parser)),
        buffer_(std::move(buffer)),
        head_(std::move(head)) {}

  asio::awaitable<void> relay(UniqueFd to) override {
    boost::system::error_code error;
    upstream_.assign(Local(), to.get(), error);
    if (error) co_return;
    std::ignore = to.release();
    // The answer may begin before the body has ended ("100 Continue", an early refusal).
    sending_ = true;
    asio::co_spawn(client_.get_executor(), send(), asio::detached);
    co_await bring_back();
    upstream_.close(error);
    // What is still read of the body ends with the socket that it is read from.
    client_.shutdown(Tcp::socket::shutdown_send, error);
    if (sending_) client_.cancel(error);
    while (sending_) {
      ended_.expires_after(std::chrono::hours(1));
      std::ignore = co_await ended_.async_wait(kProxyAwait);
    }
  }

 private:
  // Its own members alone, which relay() waits for.
  asio::awaitable<void> send() {
    co_await send_all();
    sending_ = false;
    ended_.cancel();
  }

  asio::awaitable<void> send_all() {
    boost::system::error_code error;
    if (!co_await write(head_)) co_return;
    std::array<char, kProxyPiece> piece{};
    while (!parser_->is_done()) {
      auto& body = parser_->get().body();
      body.data = piece.data();
      body.size = piece.size();
      const auto [failed, read] =
          co_await http::async_read_some(client_, buffer_, *parser_, kProxyAwait);
      if (failed && failed != http::error::need_buffer) {
        // Half a request must not look like a whole one.
        upstream_.close(error);
        co_return;
      }
      const std::string_view bytes(piece.data(), piece.size() - body.size);
      if (bytes.empty()) continue;
      const bool is_chunked = parser_->chunked();
      if (is_chunked && !co_await write(fmt::format("{:x}\r\n", bytes.size()))) co_return;
      if (!co_await write(bytes)) co_return;
      if (is_chunked && !co_await write("\r\n")) co_return;
    }
    if (parser_->chunked()) co_await write("0\r\n\r\n");
  }

  asio::awaitable<bool> write(std::string_view bytes) {
    const auto [failed, written] =
        co_await asio::async_write(upstream_, asio::buffer(bytes), kProxyAwait);
    co_return !failed;
  }
  asio::awaitable<bool> write(std::string bytes) {
    const auto [failed, written] =
        co_await asio::async_write(upstream_, asio::buffer(bytes), kProxyAwait);
    co_return !failed;
  }
  asio::awaitable<bool> write(const char* bytes) { co_return co_await write(std::string(bytes)); }

  asio::awaitable<void> bring_back() {
    std::array<char, kProxyPiece> piece{};
    for (;;) {
      const auto [ended, size] =
          co_await upstream_.async_read_some(asio::buffer(piece), kProxyAwait);
      if (ended) co_return;
      const auto [failed, written] =
          co_await asio::async_write(client_, asio::buffer(piece, size), kProxyAwait);
      if (failed) co_return;
    }
  }

  Tcp::socket& client_;
  Local::socket upstream_;
  asio::steady_timer ended_{client_.get_executor()};
  std::unique_ptr<Parser> parser_;
  beast::flat_buffer buffer_;
  std::string head_;
  bool sending_ = false;
};

std::string rest_of(const beast::flat_buffer& buffer) {
  const auto data = buffer.data();
  return {static_cast<const char*>(data.data()), data.size()};
}

// The head as the other side gets it. `rest` is the target there: path and query.
std::string written_anew(const Parser& parser, std::string_view authority, std::string_view rest) {
  const auto& request = parser.get();
  std::set<std::string> named;
  for (const auto& field : request) {
    if (field.name() != http::field::connection) continue;
    for (const auto& name : http::token_list(field.value())) {
      std::string low(name);
      std::ranges::transform(low, low.begin(), to_lower);
      named.insert(std::move(low));
    }
  }
  named.erase("content-length");  // or the other side would see another end of the body
  std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n",
                                 std::string_view(request.method_string()), rest, authority);
  for (const auto& field : request) {
    const std::string_view name(field.name_string());
    if (is_of_hop(name, named)) continue;
    head += fmt::format("{}: {}\r\n", name, std::string_view(field.value()));
  }
  if (parser.chunked()) head += "Transfer-Encoding: chunked\r\n";
  return head + "Connection: close\r\n\r\n";
}

// Heads that Beast admits and two readers may read in two ways.
std::optional<std::string> two_readings(const Parser& parser) {
  const auto& request = parser.get();
  if (request.count(http::field::transfer_encoding) > 1)
    return "Transfer-Encoding stands more than once";
  const auto coding = request[http::field::transfer_encoding];
  if (!coding.empty() && (!is_same(coding, "chunked") || request.version() != 11))
    return "of transfer codings only chunked is taken, in HTTP/1.1";
  if (request.count(http::field::content_length) > 1) return "Content-Length stands more than once";
  if (!coding.empty() && request.count(http::field::content_length) > 0)
    return "the end of the body is said in two ways";
  if (request.count(http::field::host) > 1) return "Host stands more than once";
  return std::nullopt;
}

Asked connect_asked(const Parser& parser, beast::flat_buffer& buffer) {
  const auto& request = parser.get();
  if (parser.chunked() || request.count(http::field::content_length) > 0)
    return std::unexpected(bad_request_to_proxy("CONNECT has no body"));
  auto authority = read_authority(request.target(), 0);
  if (!authority) return std::unexpected(bad_request_to_proxy("CONNECT names HOST:PORT"));
  auto asked = std::make_unique<ProxyAsked>();
  asked->host = std::move(authority->host);
  asked->port = authority->port;
  asked->granted = "HTTP/1.1 200 Connection established\r\n\r\n";
  asked->early = rest_of(buffer);
  return asked;
}

asio::awaitable<Asked> read_http(Tcp::socket& client, beast::flat_buffer buffer) {
  auto parser = std::make_unique<Parser>();
  parser->header_limit(kMostHead);
  parser->body_limit(boost::none);
  while (!parser->is_header_done()) {
    const auto error = co_await ipc::read_piece(client, buffer, *parser, kProxyPiece);
    if (!error) continue;
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      co_return std::unexpected(NotAsked(http_answer(431, "Request Header Fields Too Large",
                                                     "the head of a request has at most 16 KiB")));
    const bool has_ended =
        error == http::error::end_of_stream || error == http::error::partial_message ||
        error.category() != http::make_error_code(http::error::end_of_stream).category();
    co_return std::unexpected(has_ended ? NotAsked() : bad_request_to_proxy(error.message()));
  }
  if (auto why = two_readings(*parser)) co_return std::unexpected(bad_request_to_proxy(*why));
  const auto& request = parser->get();
  if (request.method() == http::verb::connect) co_return connect_asked(*parser, buffer);
  const std::string_view target(request.target());
  constexpr std::string_view kScheme = "http://";
  if (!is_same(target.substr(0, kScheme.size()), kScheme)) {
    co_return std::unexpected(bad_request_to_proxy(
        "this is a proxy: it takes CONNECT HOST:PORT, and requests for http://HOST/…"));
  }
  const std::string_view behind = target.substr(kScheme.size());
  const std::size_t end = std::min(behind.find_first_of("/?#"), behind.size());
  const std::string_view named = behind.substr(0, end);
  std::string rest(behind.substr(end));
  if (!rest.starts_with('/')) rest.insert(0, "/");
  auto authority = read_authority(named, 80);
  if (!authority || rest.find('#') != std::string::npos)
    co_return std::unexpected(bad_request_to_proxy("the request names no host"));
  auto asked = std::make_unique<ProxyAsked>();
  asked->host = std::move(authority->host);
  asked->port = authority->port;
  std::string head = written_anew(*parser, named, rest);
  asked->forwarded =
      std::make_unique<Forwarded>(client, std::move(parser), std::move(buffer), std::move(head));
  co_return asked;
}

// Bytes of SOCKS, from the buffer first.
class SocksBytes {
 public:
  SocksBytes(Tcp::socket& client, beast::flat_buffer buffer)
      : client_(client), buffer_(std::move(buffer)) {}

  // Empty: the other side has ended.
  asio::awaitable<std::string> take(std::size_t count) {
    while (buffer_.size() < count) {
      const auto [error, size] =
          co_await client_.async_read_some(buffer_.prepare(kMostSocks), kProxyAwait);
      if (error) co_return std::string();
      buffer_.commit(size);
    }
    std::string taken = rest_of(buffer_).substr(0, count);
    buffer_.consume(count);
    co_return taken;
  }
  // Up to a NUL, of at most 255 bytes; nothing: it has none there.
  asio::awaitable<std::optional<std::string>> take_text() {
    constexpr std::size_t kMostText = 255;
    std::string text;
    while (text.size() <= kMostText) {
      const std::string next = co_await take(1);
      if (next.empty()) co_return std::nullopt;
      if (next[0] == '\0') co_return text;
      text += next;
    }
    co_return std::nullopt;
  }
  asio::awaitable<bool> say(std::string text) {
    const auto [error, size] = co_await asio::async_write(client_, asio::buffer(text), kProxyAwait);
    co_return !error;
  }
  [[nodiscard]] std::string rest() const { return rest_of(buffer_); }

 private:
  static constexpr std::size_t kMostSocks = 512;
  Tcp::socket& client_;
  beast::flat_buffer buffer_;
};

std::uint16_t port_in(std::string_view two) {
  return static_cast<std::uint16_t>((static_cast<unsigned char>(two[0]) << 8U) |
                                    static_cast<unsigned char>(two[1]));
}

std::string v4_text(std::string_view four) {
  asio::ip::address_v4::bytes_type bytes{};
  std::memcpy(bytes.data(), four.data(), bytes.size());
  return asio::ip::address_v4(bytes).to_string();
}

std::string v6_text(std::string_view sixteen) {
  asio::ip::address_v6::bytes_type bytes{};
  std::memcpy(bytes.data(), sixteen.data(), bytes.size());
  return asio::ip::address_v6(bytes).to_string();
}

// RFC 1928, section 6: a reply with an address that says nothing.
std::string socks5_reply(char code) {
  return std::string("\x05", 1) + code + std::string("\0\x01\0\0\0\0\0\0", 8);
}
std::string socks4_reply(char code) {
  return std::string("\0", 1) + code + std::string(6, '\0');
}

asio::awaitable<Asked> read_socks5(Tcp::socket& client, beast::flat_buffer buffer) {
  constexpr char kNoCommand = 7;
  constexpr char kNoAddress = 8;
  SocksBytes bytes(client, std::move(buffer));
  const std::string greeting = co_await bytes.take(2);
  if (greeting.empty()) co_return std::unexpected(NotAsked());
  const auto count = static_cast<unsigned char>(greeting[1]);
  std::string methods;  // no conditional expression: g++ 12 destroys what is awaited in one twice
  if (count > 0) methods = co_await bytes.take(count);
  if (methods.find('\0') == std::string::npos)
    co_return std::unexpected(NotAsked(std::string("\x05\xff", 2)));
  if (!co_await bytes.say(std::string("\x05\0", 2))) co_return std::unexpected(NotAsked());
  const std::string head = co_await bytes.take(4);
  if (head.empty() || head[0] != 5) co_return std::unexpected(NotAsked());
  if (head[1] != 1) co_return std::unexpected(NotAsked(socks5_reply(kNoCommand)));
  auto asked = std::make_unique<ProxyAsked>();
  asked->protocol = ProxyAsked::Protocol::kSocks5;
  std::string address;
  if (head[3] == 1) {
    address = co_await bytes.take(4);
    if (!address.empty()) asked->host = v4_text(address);
  } else if (head[3] == 4) {
    address = co_await bytes.take(16);
    if (!address.empty()) asked->host = v6_text(address);
  } else if (head[3] == 3) {
    const std::string size = co_await bytes.take(1);
    if (size.empty() || size[0] == 0) co_return std::unexpected(NotAsked(socks5_reply(kNoAddress)));
    asked->host = co_await bytes.take(static_cast<unsigned char>(size[0]));
  } else {
    co_return std::unexpected(NotAsked(socks5_reply(kNoAddress)));
  }
  const std::string port = co_await bytes.take(2);
  if (asked->host.empty() || port.empty()) co_return std::unexpected(NotAsked());
  asked->port = port_in(port);
  asked->granted = socks5_reply(0);
  asked->early = bytes.rest();
  co_return asked;
}

asio::awaitable<Asked> read_socks4(Tcp::socket& client, beast::flat_buffer buffer) {
  constexpr char kGranted = 90;
  constexpr char kRejected = 91;
  SocksBytes bytes(client, std::move(buffer));
  const std::string head = co_await bytes.take(8);
  if (head.empty()) co_return std::unexpected(NotAsked());
  const auto user = co_await bytes.take_text();
  if (!user || head[1] != 1) co_return std::unexpected(NotAsked(socks4_reply(kRejected)));
  auto asked = std::make_unique<ProxyAsked>();
  asked->protocol = ProxyAsked::Protocol::kSocks4;
  asked->port = port_in(std::string_view(head).substr(2, 2));
  const std::string_view address = std::string_view(head).substr(4, 4);
  if (address.substr(0, 3) == std::string_view("\0\0\0", 3) && address[3] != 0) {
    const auto name = co_await bytes.take_text();
    if (!name || name->empty()) co_return std::unexpected(NotAsked(socks4_reply(kRejected)));
    asked->host = *name;
  } else {
    asked->host = v4_text(address);
  }
  asked->granted = socks4_reply(kGranted);
  asked->early = bytes.rest();
  co_return asked;
}

}  // namespace

std::string ProxyAsked::refusal(const gate::CallError& error) const {
  using Kind = gate::ErrorKind;
  const bool is_refused = error.kind == Kind::kDenied || error.kind == Kind::kRevoked;
  const bool is_network = error.kind == Kind::kTransport || error.kind == Kind::kTimeout;
  if (protocol == Protocol::kSocks5)
    return socks5_reply(static_cast<char>(is_refused ? 2 : is_network ? 4 : 1));
  if (protocol == Protocol::kSocks4) return socks4_reply(91);
  if (is_refused) return http_answer(403, "Forbidden", error.message);
  if (error.kind == Kind::kTimeout) return http_answer(504, "Gateway Timeout", error.message);
  if (is_network) return http_answer(502, "Bad Gateway", error.message);
  return http_answer(503, "Service Unavailable", error.message);
}

asio::awaitable<Asked> read_asked(Tcp::socket& client) {
  beast::flat_buffer buffer(kMostHead + kProxyPiece);
  const auto [error, size] =
      co_await client.async_read_some(buffer.prepare(kProxyPiece), kProxyAwait);
  if (error) co_return std::unexpected(NotAsked());
  buffer.commit(size);
  const char first = *static_cast<const char*>(buffer.data().data());
  if (first == 5) co_return co_await read_socks5(client, std::move(buffer));
  if (first == 4) co_return co_await read_socks4(client, std::move(buffer));
  co_return co_await read_http(client, std::move(buffer));
}

}  // namespace mcpac::servers
