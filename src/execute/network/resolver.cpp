#include "execute/network/resolver.h"

#include <chrono>
#include <optional>
#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "execute/network/lookups.h"

namespace mcpac::execute {
namespace asio = boost::asio;
namespace {

class SystemResolver final : public Resolver {
 public:
  explicit SystemResolver(const asio::any_io_executor& executor)
      : executor_(executor),
        lookups_(executor, [](const std::string& name) { return look_up(name); }) {}

  asio::awaitable<Result<Addresses>> resolve(std::string host) override {
    // The answer may come when the one who waits is gone.
    auto waiter = std::make_shared<Waiter>(executor_);
    auto asked =
        lookups_.ask(std::move(host), [weak = std::weak_ptr(waiter)](Result<Addresses> found) {
          const auto waits = weak.lock();
          if (!waits) return;
          waits->found = std::move(found);
          waits->wake.cancel();
        });
    if (!asked) co_return pass_on(asked);
    std::ignore = co_await waiter->wake.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!waiter->found) co_return fail(ErrorId::kNetworkName, "the look-up was given up");
    co_return std::move(*waiter->found);
  }
  void close() override { lookups_.close(); }

 private:
  struct Waiter {
    explicit Waiter(const asio::any_io_executor& executor)
        : wake(executor, asio::steady_timer::time_point::max()) {}
    asio::steady_timer wake;
    std::optional<Result<Addresses>> found;
  };
  asio::any_io_executor executor_;
  Lookups lookups_;
};

}  // namespace

std::shared_ptr<Resolver> system_resolver(asio::any_io_executor executor) {
  return std::make_shared<SystemResolver>(executor);
}

}  // namespace mcpac::execute
