#include "network/host_dialer.h"

#include <utility>

#include "mcp/http_connection.h"
#include "network/connection.h"
#include "network/own_addresses.h"

namespace mcpac::network {
namespace asio = boost::asio;

HostDialer::HostDialer(asio::any_io_executor executor, std::shared_ptr<Resolver> resolver,
                       std::shared_ptr<asio::ssl::context> tls, RelayLimits limits,
                       std::function<TlsContext()> make_tls)
    : executor_(std::move(executor)),
      resolver_(std::move(resolver)),
      tls_(std::move(tls)),
      limits_(limits),
      make_tls_(make_tls ? std::move(make_tls) : mcp::make_tls_context),
      bytes_left_(std::make_shared<std::uint64_t>(limits.bytes)) {}

HostDialer::~HostDialer() {
  for (const auto& [token, connection] : std::exchange(*connections_, {})) connection->close();
  resolver_->close();
}

gate::Dialer::Token HostDialer::dial(gate::DialPlan plan) {
  const Token token = ++last_;
  std::string why_no_tls;
  if (plan.tls == gate::Tls::kYes && !tls_) {
    auto made = make_tls_();
    if (made) {
      tls_ = std::move(*made);
    } else {
      why_no_tls = made.error().what;
    }
  }
  auto connection = Connection::make(executor_, std::move(plan),
                                     {resolver_, tls_, limits_, bytes_left_, std::move(why_no_tls)},
                                     [weak = std::weak_ptr(connections_), token] {
                                       if (const auto all = weak.lock()) all->erase(token);
                                     });
  connections_->emplace(token, connection);
  connection->start();
  return token;
}

bool HostDialer::is_own(const policy::IpAddress& address) const {
  return is_own_address(address);
}

gate::Traffic HostDialer::close(Token token) {
  const auto node = connections_->extract(token);
  if (node.empty()) return {};
  node.mapped()->close();
  return node.mapped()->traffic();
}

}  // namespace mcpac::network
