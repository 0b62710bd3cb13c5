// SPDX-License-Identifier: Apache-2.0

// Proxy protocols of a confined server: CONNECT and absolute requests of HTTP/1.1 (RFC 9110,
// sections 7.6 and 9.3.6; RFC 9112, section 3.2.2), SOCKS5 (RFC 1928, no authentication, CONNECT)
// and SOCKS4 with names (SOCKS4a).
//
// Whatever comes is hostile: its size is bounded, what has two readings is refused, and nothing
// that was read is sent on as it came: requests are written anew, one a connection. Which
// destinations may be reached is decided elsewhere. On the thread of the socket.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "core/file.h"
#include "gate/answer.h"

namespace mcpac::servers {

// Why nothing is asked for that could be decided. `reply` is what its writer is told; empty for
// nothing, as of one that left.
// A constructor, since g++ 12 destroys an aggregate twice that is made inside a co_await.
struct NotAsked {
  explicit NotAsked(std::string the_reply = {}) : reply(std::move(the_reply)) {}
  std::string reply;
};

// A request that is made in its writer's name: its head, written anew, and the rest of it.
class ForwardedRequest {
 public:
  ForwardedRequest() = default;
  ForwardedRequest(const ForwardedRequest&) = delete;
  ForwardedRequest& operator=(const ForwardedRequest&) = delete;
  virtual ~ForwardedRequest() = default;
  // Sends head and body to `to` (a stream socket), and brings back what comes there to its writer,
  // until that side ends. Closes both.
  virtual boost::asio::awaitable<void> relay(UniqueFd to) = 0;
};

struct ProxyAsked {
  std::string host;  // as it was written
  std::uint16_t port = 0;
  std::string granted;  // said when the connection is there
  std::string early;    // came behind the request: for the other side
  // Of an absolute request; null: bytes go both ways from here on.
  std::unique_ptr<ForwardedRequest> forwarded;
  enum class Protocol : std::uint8_t { kHttp, kSocks5, kSocks4 } protocol = Protocol::kHttp;
  // Answer to the client for a connection that is not made.
  [[nodiscard]] std::string refusal(const gate::CallError& error) const;
};

// Reads what is asked for. `client` is borrowed, and outlives the answer; the waiter bounds the
// time by closing that.
[[nodiscard]] boost::asio::awaitable<std::expected<std::unique_ptr<ProxyAsked>, NotAsked>>
read_asked(boost::asio::ip::tcp::socket& client);

}  // namespace mcpac::servers
