// SPDX-License-Identifier: Apache-2.0

#include "mcp/url_addresses.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "ipc/lookups.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace {

constexpr std::chrono::seconds kAtMost{30};

}  // namespace

asio::awaitable<Result<ipc::Addresses>> addresses_of(const Url& url, asio::steady_timer& patience) {
  boost::system::error_code is_name;
  const auto literal = asio::ip::make_address(url.host, is_name);
  if (!is_name) co_return ipc::Addresses{literal};
  auto lookups = ipc::system_lookups(patience.get_executor());
  auto found = co_await ipc::look_up(std::move(lookups), url.host, patience, kAtMost);
  const bool none = found && found->empty();
  if (found && !none) co_return found;
  co_return fail(ErrorId::kServerHttp,
                 fmt::format("cannot find the host: {}",
                             none ? std::string("it has no address") : found.error().what),
                 {.where = url.authority()});
}

}  // namespace mcpac::mcp
