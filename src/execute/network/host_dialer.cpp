#include "execute/network/host_dialer.h"

#include <utility>

#include <boost/asio/post.hpp>

#include "execute/network/connection.h"
#include "mcp/http_connection.h"

namespace mcpac::execute {
namespace asio = boost::asio;

HostDialer::HostDialer(asio::any_io_executor executor, std::shared_ptr<Resolver> resolver,
                       std::shared_ptr<asio::ssl::context> tls, RelayLimits limits)
    : executor_(std::move(executor)),
      resolver_(std::move(resolver)),
      tls_(std::move(tls)),
      limits_(limits),
      bytes_left_(std::make_shared<std::uint64_t>(limits.bytes)) {}

HostDialer::~HostDialer() {
  for (const auto& [token, connection] : std::exchange(*connections_, {})) connection->close();
}

gate::Dialer::Token HostDialer::dial(gate::DialPlan plan) {
  const Token token = ++last_;
  if (plan.tls == gate::Tls::kYes && !tls_) {
    auto context = mcp::make_tls_context();
    if (!context) {
      asio::post(executor_, [done = std::move(plan.done), error = context.error()] {
        done(std::unexpected(error));
      });
      return token;
    }
    tls_ = std::move(*context);
  }
  auto connection =
      Connection::make(executor_, std::move(plan), {resolver_, tls_, limits_, bytes_left_},
                       [weak = std::weak_ptr(connections_), token] {
                         if (const auto all = weak.lock()) all->erase(token);
                       });
  connections_->emplace(token, connection);
  connection->start();
  return token;
}

gate::Traffic HostDialer::close(Token token) {
  const auto node = connections_->extract(token);
  if (node.empty()) return {};
  node.mapped()->close();
  return node.mapped()->traffic();
}

}  // namespace mcpac::execute
