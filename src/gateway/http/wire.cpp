#include "gateway/http/wire.h"

#include <poll.h>

#include <tuple>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_suffix.hpp>

namespace mcpac::gateway::http {
namespace asio = boost::asio;
namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

}  // namespace

Wire::Wire(Socket socket, std::shared_ptr<asio::ssl::context> tls)
    : context_(std::move(tls)),
      socket_(std::move(socket)),
      clock_(socket_.get_executor(), [this] { close(); }) {
  boost::system::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
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

std::size_t Wire::write_now(const Two& parts, boost::system::error_code& error) {
  if (tls_) return 0;
  const std::size_t written = socket_.write_some(parts, error);
  if (error == asio::error::would_block || error == asio::error::try_again) error = {};
  return written;
}

asio::awaitable<bool> Wire::write(std::string_view first, std::string_view second) {
  const Two parts{asio::buffer(first), asio::buffer(second)};
  const std::size_t whole = first.size() + second.size();
  boost::system::error_code error;
  std::size_t written = write_now(parts, error);
  if (error || written == whole) co_return !error;
  boost::beast::buffers_suffix<Two> left(parts);
  for (left.consume(written); written < whole;) {
    std::size_t size = 0;
    if (tls_)
      std::tie(error, size) = co_await tls_->async_write_some(left, kAwait);
    else
      std::tie(error, size) = co_await socket_.async_write_some(left, kAwait);
    if (error) co_return false;
    left.consume(size);
    written += size;
  }
  co_return true;
}

}  // namespace mcpac::gateway::http
