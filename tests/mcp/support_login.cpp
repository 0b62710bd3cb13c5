#include "mcp/support_login.h"

#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "mcp/oauth/web.h"

namespace mcpac::test {
namespace asio = boost::asio;
namespace {

asio::awaitable<void> visit(asio::any_io_executor executor, std::string page) {
  auto web = mcp::oauth::Web::make(executor, mcp::Reach::kAnywhere);
  if (!web) co_return;
  mcp::oauth::WebRequest request;
  request.url = std::move(page);
  auto answer = co_await web->fetch(request);
  if (!answer || answer->location.empty()) co_return;
  request.url = answer->location;
  co_await web->fetch(request);
}

}  // namespace

mcp::oauth::ShowLogin browser(asio::any_io_executor executor, std::string* seen) {
  return [executor, seen](const std::string& page) {
    if (seen != nullptr) *seen = page;
    asio::co_spawn(executor, visit(executor, page), asio::detached);
  };
}

}  // namespace mcpac::test
