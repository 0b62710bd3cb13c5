#include "mcp/oauth/redirect_listener.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/v6_only.hpp>
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

constexpr std::chrono::milliseconds kLookForAnswer{100};  // whether a person brought the answer

Result<std::shared_ptr<tcp::acceptor>> listen_at(const asio::any_io_executor& executor,
                                                 const asio::ip::address& address,
                                                 std::uint16_t port) {
  auto acceptor = std::make_shared<tcp::acceptor>(executor);
  const tcp::endpoint place(address, port);
  boost::system::error_code error;
  acceptor->open(place.protocol(), error);
  if (!error && address.is_v6()) acceptor->set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor->bind(place, error);
  if (!error) acceptor->listen(8, error);
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

// In the same time wherever they differ: any process on this machine may try as often as it likes.
bool is_same(std::string_view one, std::string_view other) {
  return one.size() == other.size() && sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

// The parameters of a query, when they are those of our login.
Result<Parameters> answer_of(std::string_view query, const std::string& state) {
  auto parameters = form_decode(query);
  if (parameters && !is_same(value_of(*parameters, "state"), state)) {
    return fail(ErrorId::kServerHttp, "another login");
  }
  return parameters;
}

// Of GET /callback?…
Result<Parameters> answer_in(std::string_view target, const std::string& state) {
  constexpr std::string_view kPath = "/callback?";
  if (!target.starts_with(kPath)) return fail(ErrorId::kServerHttp, "another page");
  return answer_of(target.substr(kPath.size()), state);
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

// The wait for an answer, shared with its senders: it may be gone when one comes.
struct Waiting {
  explicit Waiting(const asio::any_io_executor& executor) : look(executor) {}
  asio::steady_timer look;
  std::optional<Parameters> answer{};
};

asio::awaitable<void> take_visits(std::shared_ptr<tcp::acceptor> acceptor, std::string state,
                                  std::shared_ptr<Waiting> waiting) {
  while (!waiting->answer) {
    auto [error, socket] = co_await acceptor->async_accept(kAwait);
    if (error) co_return;
    auto answer = co_await serve(std::move(socket), state);
    if (!answer || waiting->answer) continue;
    waiting->answer = std::move(*answer);
    waiting->look.cancel();
  }
}

}  // namespace

std::string PastedAnswer::hand_in(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '"')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '"' || text.back() == '\r'))
    text.remove_suffix(1);
  if (text.empty()) return "";
  text.remove_prefix(std::min(text.size(), text.find('?') + 1));  // npos + 1 is 0
  text = text.substr(0, text.find('#'));
  const auto answer = answer_of(text, state_);
  if (!answer) {
    return "that is not the answer to this login: paste the whole address that the browser ended "
           "at, "
           "with code= and state= in it";
  }
  const std::scoped_lock alone(turn_);
  answer_ = *answer;
  return "";
}

std::optional<Parameters> PastedAnswer::take() {
  const std::scoped_lock alone(turn_);
  return std::exchange(answer_, std::nullopt);
}

Result<RedirectListener> RedirectListener::open(asio::any_io_executor executor, std::uint16_t port,
                                                std::uint16_t wished) {
  const asio::ip::address here = asio::ip::address_v4::loopback();
  auto acceptor = listen_at(executor, here, port != 0 ? port : wished);
  if (!acceptor && port == 0) acceptor = listen_at(executor, here, 0);
  if (!acceptor) return pass_on(acceptor);
  const auto bound = (*acceptor)->local_endpoint().port();
  return RedirectListener(std::move(*acceptor), bound);
}

RedirectListener::~RedirectListener() {
  boost::system::error_code ignored;
  for (const auto& acceptor : acceptors_) acceptor->close(ignored);
}

void RedirectListener::listen_at_both() {
  auto other =
      listen_at(acceptors_.front()->get_executor(), asio::ip::address_v6::loopback(), port_);
  if (other) acceptors_.push_back(std::move(*other));
}

asio::awaitable<Result<Parameters>> RedirectListener::wait(std::string state,
                                                           std::chrono::milliseconds patience,
                                                           std::shared_ptr<PastedAnswer> pasted) {
  const auto until = std::chrono::steady_clock::now() + patience;
  const auto waiting = std::make_shared<Waiting>(acceptors_.front()->get_executor());
  for (const auto& acceptor : acceptors_)
    asio::co_spawn(acceptor->get_executor(), take_visits(acceptor, state, waiting), asio::detached);
  while (!waiting->answer && std::chrono::steady_clock::now() < until) {
    waiting->look.expires_after(kLookForAnswer);
    co_await waiting->look.async_wait(kAwait);
    if (pasted && !waiting->answer) waiting->answer = pasted->take();
  }
  if (waiting->answer) co_return std::move(*waiting->answer);
  co_return fail(ErrorId::kServerHttp, kNobodyLoggedIn,
                 {.why = "the login page did not answer in time"});
}

}  // namespace mcpac::mcp::oauth
