// RedirectListener: the door on this machine through which a login page hands over its answer
// (RFC 8252, section 7.3).
//
// It listens on 127.0.0.1 alone, for one login. Whoever is on this machine can knock: what does not
// carry the login's `state` is turned away and the wait goes on. Requests are bounded in size and
// time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "core/error.h"
#include "mcp/oauth/form.h"

namespace mcpac::mcp::oauth {

class RedirectListener {
 public:
  // `port` 0 takes any free one. `wished`: taken when it is free, else another.
  [[nodiscard]] static Result<RedirectListener> open(boost::asio::any_io_executor executor,
                                                     std::uint16_t port, std::uint16_t wished);
  [[nodiscard]] std::uint16_t port() const { return port_; }

  // The parameters of the redirect that carries `state`.
  boost::asio::awaitable<Result<Parameters>> wait(std::string state,
                                                  std::chrono::milliseconds patience);

 private:
  RedirectListener(boost::asio::ip::tcp::acceptor acceptor, std::uint16_t port)
      : acceptor_(std::move(acceptor)), port_(port) {}

  boost::asio::ip::tcp::acceptor acceptor_;
  std::uint16_t port_;
};

}  // namespace mcpac::mcp::oauth
