// SPDX-License-Identifier: Apache-2.0

#include "gateway/http/wire.h"

#include <poll.h>

#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "ipc/dead_peer.h"
#include "ipc/http_pieces.h"

namespace mcpac::gateway::http {
namespace asio = boost::asio;

Wire::Wire(Socket socket, std::shared_ptr<asio::ssl::context> tls, std::function<void()> late)
    : context_(std::move(tls)),
      socket_(std::move(socket)),
      clock_(socket_.get_executor(), std::move(late)) {
  boost::system::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  ipc::notice_dead_peer(socket_);
  socket_.non_blocking(true, ignored);
}

void Wire::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  clock_.stop();
}

asio::awaitable<bool> Wire::shake_hands() {
  tls_.emplace(socket_, *context_);
  auto [error] = co_await tls_->async_handshake(asio::ssl::stream_base::server, kAwait);
  co_return !error;
}

asio::awaitable<void> Wire::say_end() {
  if (!tls_) co_return;
  // Whether the other side says the same is its own affair.
  std::ignore = co_await tls_->async_shutdown(kAwait);
}

bool Wire::has_hung_up() {
  pollfd watched{socket_.native_handle(), POLLRDHUP, 0};
  return ::poll(&watched, 1, 0) != 0;
}

asio::awaitable<bool> Wire::write(std::string_view first, std::string_view second) {
  const ipc::TwoBuffers parts{asio::buffer(first), asio::buffer(second)};
  boost::system::error_code error;
  if (tls_) {
    error = co_await ipc::write_rest(*tls_, parts, 0);
    co_return !error;
  }
  const std::size_t written = ipc::write_now(socket_, parts, error);
  if (!error && written < first.size() + second.size())
    error = co_await ipc::write_rest(socket_, parts, written);
  co_return !error;
}

}  // namespace mcpac::gateway::http
