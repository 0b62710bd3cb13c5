#include "gateway/http/wire.h"

#include <poll.h>

#include <tuple>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace mcpac::gateway::http {
namespace asio = boost::asio;
namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

}  // namespace

asio::awaitable<bool> Wire::shake_hands() {
  tls_.emplace(tcp_, *context_);
  auto [error] = co_await tls_->async_handshake(asio::ssl::stream_base::server, kAwait);
  co_return !error;
}

asio::awaitable<void> Wire::say_end() {
  if (!tls_) co_return;
  // Whether the other side says the same is its own affair.
  std::ignore = co_await tls_->async_shutdown(kAwait);
}

bool Wire::has_hung_up() {
  pollfd watched{tcp_.socket().native_handle(), POLLRDHUP, 0};
  return ::poll(&watched, 1, 0) != 0;
}

}  // namespace mcpac::gateway::http
