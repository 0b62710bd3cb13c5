// SPDX-License-Identifier: Apache-2.0

// HostDialer: the connections of one run, made and relayed by the host on its loop.
//
// For each: the name is looked up, every address is asked about and then dialled itself, TLS is
// spoken where it was asked for, and bytes go between that stream and a socket pair whose other end
// is the program's. Buffers are fixed: a side that does not read is not written to,
// and soon not read from.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ssl/context.hpp>

#include "gate/dialer.h"
#include "network/resolver.h"

namespace mcpac::network {

class Connection;

struct RelayLimits {
  // From the request to a connection that carries bytes: name, TCP and TLS together.
  std::chrono::milliseconds connect{30'000};
  // One address that does not answer must leave time for the next.
  std::chrono::milliseconds one_address{10'000};
  // Without a byte either way: an unused connection must not stay open for a long run.
  std::chrono::milliseconds idle{300'000};
  // Of all connections of a run together, both ways.
  std::uint64_t bytes = std::uint64_t{16} << 30U;
};

using TlsContext = Result<std::shared_ptr<boost::asio::ssl::context>>;

class HostDialer final : public gate::Dialer {
 public:
  // `tls`: null for what `make_tls` makes when it is first needed, and that, when null, of the
  // system's certificates. Everything is on the executor's one thread.
  HostDialer(boost::asio::any_io_executor executor, std::shared_ptr<Resolver> resolver,
             std::shared_ptr<boost::asio::ssl::context> tls = nullptr, RelayLimits limits = {},
             std::function<TlsContext()> make_tls = nullptr);
  // Ends every connection, and closes the resolver.
  ~HostDialer() override;
  HostDialer(const HostDialer&) = delete;
  HostDialer& operator=(const HostDialer&) = delete;

  Token dial(gate::DialPlan plan) override;
  [[nodiscard]] bool is_own(const policy::IpAddress& address) const override;
  gate::Traffic close(Token token) override;
  [[nodiscard]] std::size_t open() const { return connections_->size(); }

 private:
  using Connections = std::map<Token, std::shared_ptr<Connection>>;
  boost::asio::any_io_executor executor_;
  std::shared_ptr<Resolver> resolver_;
  std::shared_ptr<boost::asio::ssl::context> tls_;
  RelayLimits limits_;
  std::function<TlsContext()> make_tls_;
  // Shared with the ends of connections, which come when this may be gone.
  std::shared_ptr<Connections> connections_ = std::make_shared<Connections>();
  std::shared_ptr<std::uint64_t> bytes_left_;
  Token last_ = 0;
};

}  // namespace mcpac::network
