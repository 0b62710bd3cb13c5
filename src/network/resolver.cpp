// SPDX-License-Identifier: Apache-2.0

#include "network/resolver.h"

#include <chrono>
#include <memory>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "ipc/lookups.h"
#include "network/names.h"

namespace mcpac::network {
namespace asio = boost::asio;
namespace {

// Of one that does not answer at all. The caller may be given less (HostDialer::Limits).
constexpr std::chrono::seconds kAtMost{30};

class SystemResolver final : public Resolver {
 public:
  explicit SystemResolver(const asio::any_io_executor& executor)
      : executor_(executor),
        lookups_(std::make_shared<ipc::Lookups>(
            executor, [](const std::string& name) { return look_up(name); })) {}

  asio::awaitable<Result<Addresses>> resolve(std::string host) override {
    asio::steady_timer patience(executor_);
    co_return co_await ipc::look_up(lookups_, std::move(host), patience, kAtMost);
  }
  void close() override { lookups_->close(); }

 private:
  asio::any_io_executor executor_;
  std::shared_ptr<ipc::Lookups> lookups_;
};

}  // namespace

std::shared_ptr<Resolver> system_resolver(asio::any_io_executor executor) {
  return std::make_shared<SystemResolver>(executor);
}

}  // namespace mcpac::network
