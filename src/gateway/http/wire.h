// SPDX-License-Identifier: Apache-2.0

// Wire: the bytes of one connection, as they are or within TLS.
//
// One type for both, so that what reads and writes requests is there once. A handshake, a read or a
// write has no time of its own: its caller sets it, and stops it when that has ended, for
// it runs on beside whatever is waited for next. When it is up the owner is called, who closes the
// connection, and what was begun ends with an error.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "ipc/coarse_timer.h"

namespace mcpac::gateway::http {

// An error is an answer, too.
inline constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

class Wire {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using executor_type = Socket::executor_type;

  // `tls` null: plain. `late` is called from the loop, and closes this.
  Wire(Socket socket, std::shared_ptr<boost::asio::ssl::context> tls, std::function<void()> late);

  [[nodiscard]] executor_type get_executor() { return socket_.get_executor(); }
  [[nodiscard]] bool is_tls() const { return context_ != nullptr; }
  // Below TLS.
  [[nodiscard]] Socket& socket() { return socket_; }
  // Of all that is waited for from here on, until another time is set, or none.
  void expires_after(std::chrono::milliseconds time) {
    clock_.set(std::chrono::steady_clock::now() + time);
  }
  void expires_never() { clock_.set_never(); }
  void close();
  // Of TLS; false: there is none. Nothing may be read or written before.
  boost::asio::awaitable<bool> shake_hands();
  // Says that nothing follows (close_notify), where that can be said.
  boost::asio::awaitable<void> say_end();
  // The other side has ended its direction, whatever it sent before.
  [[nodiscard]] bool has_hung_up();
  // The one behind the other, without a copy of either. False: not all of it could be written.
  boost::asio::awaitable<bool> write(std::string_view first, std::string_view second = {});

  template <class Buffers, class Handler>
  typename boost::asio::async_result<std::decay_t<Handler>,
                                     void(boost::system::error_code, std::size_t)>::return_type
  async_read_some(const Buffers& buffers, Handler&& handler) {
    if (tls_) return tls_->async_read_some(buffers, std::forward<Handler>(handler));
    return socket_.async_read_some(buffers, std::forward<Handler>(handler));
  }

 private:
  std::shared_ptr<boost::asio::ssl::context> context_;
  Socket socket_;
  std::optional<boost::beast::ssl_stream<Socket&>> tls_;  // once it is begun
  ipc::CoarseTimer clock_;
};

}  // namespace mcpac::gateway::http
