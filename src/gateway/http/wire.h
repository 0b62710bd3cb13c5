// Wire: the bytes of one connection, as they are or within TLS.
//
// One type for both, so that what reads and writes requests is there once. Time limits are those of
// the TCP stream below: a handshake that is begun and not ended runs into them like a head.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

namespace mcpac::gateway::http {

class Wire {
 public:
  using executor_type = boost::beast::tcp_stream::executor_type;

  // `tls` null: plain.
  Wire(boost::asio::ip::tcp::socket socket, std::shared_ptr<boost::asio::ssl::context> tls)
      : context_(std::move(tls)), tcp_(std::move(socket)) {}

  [[nodiscard]] executor_type get_executor() { return tcp_.get_executor(); }
  [[nodiscard]] bool is_tls() const { return context_ != nullptr; }
  // Below TLS: for time limits, options and the end.
  [[nodiscard]] boost::beast::tcp_stream& tcp() { return tcp_; }
  // Of TLS; false: there is none. Nothing may be read or written before.
  boost::asio::awaitable<bool> shake_hands();
  // Says that nothing follows (close_notify), where that can be said.
  boost::asio::awaitable<void> say_end();
  // The other side has ended its direction, whatever it sent before.
  [[nodiscard]] bool has_hung_up();

  template <class Buffers, class Handler>
  typename boost::asio::async_result<std::decay_t<Handler>,
                                     void(boost::system::error_code, std::size_t)>::return_type
  async_read_some(const Buffers& buffers, Handler&& handler) {
    if (tls_) return tls_->async_read_some(buffers, std::forward<Handler>(handler));
    return tcp_.async_read_some(buffers, std::forward<Handler>(handler));
  }
  template <class Buffers, class Handler>
  typename boost::asio::async_result<std::decay_t<Handler>,
                                     void(boost::system::error_code, std::size_t)>::return_type
  async_write_some(const Buffers& buffers, Handler&& handler) {
    if (tls_) return tls_->async_write_some(buffers, std::forward<Handler>(handler));
    return tcp_.async_write_some(buffers, std::forward<Handler>(handler));
  }

 private:
  std::shared_ptr<boost::asio::ssl::context> context_;
  boost::beast::tcp_stream tcp_;
  std::optional<boost::beast::ssl_stream<boost::beast::tcp_stream&>> tls_;  // once it is begun
};

}  // namespace mcpac::gateway::http
