// RedirectListener: the door on this machine through which a login page hands over its answer
// (RFC 8252, section 7.3).
//
// It listens on 127.0.0.1, and where the redirect says "localhost" on ::1 too, for one login.
// Any process on this machine can connect: what does not carry the login's `state` is turned away
// and the wait goes on. Requests are bounded in size and time. Where the browser is on another
// machine the person brings the address that it was sent to: a PastedAnswer, held against the same
// `state`.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "core/error.h"
#include "mcp/oauth/form.h"
#include "mcp/oauth/login_page.h"

namespace mcpac::mcp::oauth {

class RedirectListener {
 public:
  // `port` 0 takes any free one. `wished`: taken when it is free, else another.
  [[nodiscard]] static Result<RedirectListener> open(boost::asio::any_io_executor executor,
                                                     std::uint16_t port, std::uint16_t wished);
  ~RedirectListener();
  RedirectListener(RedirectListener&&) noexcept = default;
  RedirectListener& operator=(RedirectListener&&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  // On ::1 as well, where this machine has that and the port is free there: "localhost" is either.
  void listen_at_both();

  // The parameters of the redirect that carries `state`, or of what a person brought.
  boost::asio::awaitable<Result<Parameters>> wait(std::string state,
                                                  std::chrono::milliseconds patience,
                                                  std::shared_ptr<PastedAnswer> pasted);

 private:
  using Acceptor = std::shared_ptr<boost::asio::ip::tcp::acceptor>;  // of its visitors, too
  RedirectListener(Acceptor acceptor, std::uint16_t port)
      : acceptors_{std::move(acceptor)}, port_(port) {}

  std::vector<Acceptor> acceptors_;
  std::uint16_t port_;
};

}  // namespace mcpac::mcp::oauth
