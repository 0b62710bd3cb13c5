#include "mcp/oauth/redirect_listener.h"

#include <fmt/format.h>
#include <sodium.h>

#include <memory>
#include <utility>
#include <variant>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

namespace mcpac::mcp::oauth {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::uint32_t kMaxHead = std::uint32_t{16} << 10U;
constexpr std::chrono::seconds kVisit{5};  // one visitor's time: others wait behind it

Result<tcp::acceptor> listen_at(const asio::any_io_executor& executor, std::uint16_t port) {
  tcp::acceptor acceptor(executor);
  const tcp::endpoint place(asio::ip::address_v4::loopback(), port);
  boost::system::error_code error;
  acceptor.open(place.protocol(), error);
  if (!error) acceptor.bind(place, error);
  if (!error) acceptor.listen(8, error);
  if (!error) return acceptor;
  return fail(ErrorId::kServerHttp,
              fmt::format("cannot wait for the login at 127.0.0.1:{}: {}", port, error.message()));
}

http::response<http::string_body> page(http::status status, std::string text) {
  http::response<http::string_body> answer(status, 11);
  answer.set(http::field::content_type, "text/plain; charset=utf-8");
  answer.set(http::field::cache_control, "no-store");
  answer.set("Referrer-Policy", "no-referrer");  // the code stands in this page's address
  answer.body() = std::move(text);
  answer.keep_alive(false);
  answer.prepare_payload();
  return answer;
}

// In the same time wherever they differ: anybody on this machine may try as often as they like.
bool is_same(std::string_view one, std::string_view other) {
  return one.size() == other.size() && sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

// The parameters of GET /callback?…, when they are those of our login.
Result<Parameters> answer_in(std::string_view target, const std::string& state) {
  constexpr std::string_view kPath = "/callback?";
  if (!target.starts_with(kPath)) return fail(ErrorId::kServerHttp, "another page");
  auto parameters = form_decode(target.substr(kPath.size()));
  if (parameters && !is_same(value_of(*parameters, "state"), state)) {
    return fail(ErrorId::kServerHttp, "another login");
  }
  return parameters;
}

asio::awaitable<Result<Parameters>> serve(tcp::socket socket, std::string state) {
  beast::tcp_stream stream(std::move(socket));
  stream.expires_after(kVisit);
  beast::flat_buffer buffer(2 * kMaxHead);
  http::request_parser<http::empty_body> parser;
  parser.header_limit(kMaxHead);
  auto [error, size] = co_await http::async_read_header(stream, buffer, parser, kAwait);
  if (error) co_return fail(ErrorId::kServerHttp, "no request");
  auto found = answer_in(std::string(parser.get().target()), state);
  const bool ours = parser.get().method() == http::verb::get && found.has_value();
  auto answer = ours ? page(http::status::ok, "mcpac has the answer. You can close this page.\n")
                     : page(http::status::not_found, "Nothing is here.\n");
  co_await http::async_write(stream, answer, kAwait);
  beast::error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  if (!ours) co_return fail(ErrorId::kServerHttp, "not the answer");
  co_return found;
}

}  // namespace

Result<RedirectListener> RedirectListener::open(asio::any_io_executor executor, std::uint16_t port,
                                                std::uint16_t wished) {
  auto acceptor = listen_at(executor, port != 0 ? port : wished);
  if (!acceptor && port == 0) acceptor = listen_at(executor, 0);
  if (!acceptor) return pass_on(acceptor);
  const auto bound = acceptor->local_endpoint().port();
  return RedirectListener(std::move(*acceptor), bound);
}

asio::awaitable<Result<Parameters>> RedirectListener::wait(std::string state,
                                                           std::chrono::milliseconds patience) {
  asio::steady_timer limit(acceptor_.get_executor(), patience);
  // The time may be over in the very moment in which the answer is there: then this listener is
  // gone when it is told.
  const auto waiting = std::make_shared<const std::monostate>();
  limit.async_wait(
      [this, watched = std::weak_ptr(waiting)](const boost::system::error_code& error) {
        boost::system::error_code ignored;
        if (!error && !watched.expired()) acceptor_.close(ignored);
      });
  while (true) {
    auto [error, socket] = co_await acceptor_.async_accept(kAwait);
    if (error) break;
    auto answer = co_await serve(std::move(socket), state);
    if (answer) co_return answer;
  }
  co_return fail(ErrorId::kServerHttp, "nobody logged in",
                 {.why = "the login page did not answer in time"});
}

}  // namespace mcpac::mcp::oauth
