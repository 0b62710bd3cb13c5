#include "execute/network/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace mcpac::execute {
namespace asio = boost::asio;
namespace {

class SystemResolver final : public Resolver {
 public:
  explicit SystemResolver(asio::any_io_executor executor) : executor_(std::move(executor)) {}

  asio::awaitable<Result<std::vector<asio::ip::address>>> resolve(std::string host) override {
    // One a name: cancelling the wait for one must not cancel another.
    asio::ip::tcp::resolver resolver(executor_);
    const auto [error, found] =
        co_await resolver.async_resolve(host, std::string(), asio::as_tuple(asio::use_awaitable));
    if (error) {
      co_return fail(ErrorId::kNetworkName,
                     fmt::format("cannot find the host {}: {}", host, error.message()));
    }
    std::vector<asio::ip::address> addresses;
    for (const auto& entry : found) {
      const auto address = entry.endpoint().address();
      if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
    }
    if (addresses.empty())
      co_return fail(ErrorId::kNetworkName, fmt::format("the host {} has no address", host));
    co_return addresses;
  }

 private:
  asio::any_io_executor executor_;
};

}  // namespace

std::shared_ptr<Resolver> system_resolver(asio::any_io_executor executor) {
  return std::make_shared<SystemResolver>(std::move(executor));
}

}  // namespace mcpac::execute
