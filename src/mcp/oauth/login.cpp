// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/login.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
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

#include "core/error.h"
#include "core/json.h"
#include "core/printable.h"
#include "mcp/oauth/form.h"
#include "mcp/oauth/login_page.h"
#include "mcp/oauth/pkce.h"
#include "mcp/oauth/registration.h"
#include "mcp/oauth/token_request.h"

namespace mcpac::mcp::oauth {
namespace {

// RedirectListener: the door on this machine through which a login page hands over its answer
// (RFC 8252, section 7.3).
//
// It listens on 127.0.0.1, and where the redirect says "localhost" on ::1 too, for one login.
// Any process on this machine can connect: what does not carry the login's `state` is turned away
// and the wait goes on. Requests are bounded in size and time. Where the browser is on another
// machine the person brings the address that it was sent to: a PastedAnswer, held against the same
// `state`.
class RedirectListener {
 public:
  // `port` 0 takes any free one. `wished`: taken when it is free, else another.
  [[nodiscard]] static Result<RedirectListener> open(boost::asio::any_io_executor executor,
                                                     std::uint16_t port, std::uint16_t wished);
  ~RedirectListener();
  RedirectListener(RedirectListener&&) noexcept = default;
  RedirectListener& operator=(RedirectListener&&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  // On ::1 as well, where this machine has that and the port is free there: "localhost" is either.
  void listen_at_both();

  // The parameters of the redirect that carries `state`, or of what a person brought.
  boost::asio::awaitable<Result<Parameters>> wait(std::string state,
                                                  std::chrono::milliseconds patience,
                                                  std::shared_ptr<PastedAnswer> pasted);

 private:
  using Acceptor = std::shared_ptr<boost::asio::ip::tcp::acceptor>;  // of its visitors, too
  RedirectListener(Acceptor acceptor, std::uint16_t port)
      : acceptors_{std::move(acceptor)}, port_(port) {}

  std::vector<Acceptor> acceptors_;
  std::uint16_t port_;
};

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
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

// Enough time for a person to find a password.
constexpr std::chrono::minutes kPatience{10};

struct Attempt {
  std::string state = random_word();
  std::string verifier = random_word();
  std::string redirect{};
};

// Parameters of a login page. RFC 6749, section 3.1: each of them once; of two it is unknown which
// one a server believes.
constexpr std::array<std::string_view, 8> kOurs = {
    "response_type",         "client_id", "redirect_uri", "state", "code_challenge",
    "code_challenge_method", "resource",  "scope"};

bool asks_for_us(std::string_view page) {
  const auto query = page.substr(std::min(page.find('?'), page.size()));
  const auto parameters = form_decode(query.empty() ? query : query.substr(1));
  return !parameters || std::ranges::any_of(*parameters, [](const auto& one) {
    return std::ranges::find(kOurs, one.first) != kOurs.end();
  });
}

Result<void> can_log_in(const Web& web, const AuthorizationServer& server) {
  const auto refuse = [&server](std::string what, std::string why) {
    return fail(ErrorId::kServerHttp,
                fmt::format("the authorization server {} {}", printable(server.issuer, 200), what),
                {.why = std::move(why)});
  };
  if (server.authorization_endpoint.empty()) {
    return refuse("has no login page", "its metadata name no authorization endpoint");
  }
  const auto page = safe_url(server.authorization_endpoint);
  if (!page || !web.may_show(*page)) {
    return refuse("has no login page that can be used",
                  "a server leads nobody to an address that is nearer than its own");
  }
  if (asks_for_us(server.authorization_endpoint)) {
    return refuse("has no login page that can be used",
                  "the address of the page holds what mcpac itself must say there");
  }
  if (!server.pkce) {
    return refuse("does not protect logins",
                  "its metadata do not say that it does PKCE with S256, which MCP demands");
  }
  return {};
}

std::string login_page(const Discovered& at, const ClientId& client, const Attempt& attempt,
                       const std::string& scope) {
  Parameters parameters = {{"response_type", "code"},
                           {"client_id", client.id},
                           {"redirect_uri", attempt.redirect},
                           {"state", attempt.state},
                           {"code_challenge", code_challenge(attempt.verifier)},
                           {"code_challenge_method", "S256"}};
  add_resource(parameters, at);
  if (!scope.empty()) parameters.emplace_back("scope", scope);
  return with_query(at.server.authorization_endpoint, parameters);
}

// The code in the answer, when the answer comes from whom we asked.
Result<std::string> code_in(const Parameters& answer, const AuthorizationServer& server) {
  const auto issuer = value_of(answer, "iss");
  // Letter by letter with what its metadata say (RFC 9207, section 2.4), however the user spells
  // it.
  const bool other = issuer.empty() ? server.sends_issuer : issuer != server.issuer;
  if (other) {
    return fail(ErrorId::kServerHttp, "the answer to the login is not believed",
                {.why = issuer.empty() ? "it does not say who gave it, though it must"
                                       : fmt::format("\"{}\" gave it", printable(issuer, 200))});
  }
  if (const auto error = value_of(answer, "error"); !error.empty()) {
    return fail(ErrorId::kServerHttp, "the login was refused", {.why = printable(error, 60)});
  }
  auto code = value_of(answer, "code");
  if (code.empty()) return fail(ErrorId::kServerHttp, "the answer to the login holds no code");
  return code;
}

Parameters exchange_of(const std::string& code, const Attempt& attempt, const Discovered& at) {
  Parameters parameters = {{"grant_type", "authorization_code"},
                           {"code", code},
                           {"redirect_uri", attempt.redirect},
                           {"code_verifier", attempt.verifier}};
  add_resource(parameters, at);
  return parameters;
}

asio::awaitable<Result<LoggedIn>> log_in_at_page(const Web& web, Discovered at, Settings settings,
                                                 Kept kept, std::string scope, ShowLogin show) {
  auto possible = can_log_in(web, at.server);
  if (!possible) co_return pass_on(possible);
  auto listener =
      RedirectListener::open(web.executor(), settings.redirect_port, kept.client.redirect_port);
  if (!listener) co_return pass_on(listener);
  Attempt attempt;
  LoggedIn out;
  auto client = co_await choose_client(web, at.server, settings, kept.client, listener->port());
  if (!client) co_return pass_on(client);
  out.client = std::move(*client);
  attempt.redirect = redirect_uri(out.client.redirect_host, listener->port());
  if (out.client.redirect_host == "localhost") listener->listen_at_both();
  LoginPage page;
  page.url = login_page(at, out.client, attempt, scope);
  page.pasted = std::make_shared<PastedAnswer>(attempt.state);
  show(page);
  auto answer = co_await listener->wait(attempt.state, kPatience, page.pasted);
  if (!answer) co_return pass_on(answer);
  auto code = code_in(*answer, at.server);
  if (!code) co_return pass_on(code);
  Parameters exchange = exchange_of(*code, attempt, at);
  auto tokens = co_await request_tokens(web, at.server, out.client, settings, std::move(exchange));
  if (!tokens) co_return pass_on(tokens);
  out.tokens = std::move(*tokens);
  co_return out;
}

struct DeviceCode {
  DeviceCode() {}  // NOLINT(modernize-use-equals-default): no aggregate (g++ 12 and co_await)
  ClientId client{};
  std::string device{};
  LoginPage page{};
  std::chrono::seconds interval{5};
  std::chrono::seconds lasts{600};
};

std::chrono::seconds seconds_in(const Json& json, const char* name, std::int64_t otherwise,
                                std::int64_t most) {
  const Json* value = find_member(json, name);
  const bool is_given = value != nullptr && value->is_number_integer();
  return std::chrono::seconds(
      std::clamp<std::int64_t>(is_given ? value->get<std::int64_t>() : otherwise, 1, most));
}

// RFC 8628, section 3.2. Its words are untrusted, and a person is led to its address.
Result<DeviceCode> read_device_code(const Web& web, const AuthorizationServer& server,
                                    const WebAnswer& answer) {
  constexpr std::size_t kLongestCode = 64;
  constexpr std::size_t kLongestDevice = 4'096;
  const auto refuse = [&](std::string why) {
    return fail(ErrorId::kServerHttp,
                fmt::format("{} gave no code (HTTP status {})",
                            printable(server.device_endpoint, 200), answer.status),
                {.why = std::move(why)});
  };
  const auto json = parse_json(answer.body);
  if (!answer.is_good() || !json || !json->is_object())
    return refuse(json ? printable(string_member(*json, "error"), 60) : std::string());
  DeviceCode code;
  code.device = string_member(*json, "device_code");
  code.page.code = string_member(*json, "user_code");
  const std::string plain = string_member(*json, "verification_uri");
  code.page.url = string_member(*json, "verification_uri_complete", plain);
  code.interval = seconds_in(*json, "interval", 5, 60);
  code.lasts = seconds_in(*json, "expires_in", 600, kPatience.count() * 60);
  for (const std::string& address : {plain, code.page.url}) {
    const auto url = safe_url(address);
    if (!url || !is_plain_url(address) || !web.may_show(*url))
      return refuse("it leads to no page that can be used");
  }
  if (code.device.empty() || code.device.size() > kLongestDevice || code.page.code.empty() ||
      printable(code.page.code, kLongestCode) != code.page.code)
    return refuse("its answer holds no code that can be used");
  return code;
}

Parameters question_with(const std::string& device, const Discovered& at) {
  Parameters parameters = {{"grant_type", kDeviceGrant}, {"device_code", device}};
  add_resource(parameters, at);
  return parameters;
}

asio::awaitable<Result<DeviceCode>> ask_for_code(const Web& web, const Discovered& at,
                                                 const Settings& settings, const Kept& kept,
                                                 std::string scope) {
  auto client = co_await choose_client(web, at.server, settings, kept.client, 0);
  if (!client) co_return pass_on(client);
  Parameters parameters;
  add_resource(parameters, at);
  if (!scope.empty()) parameters.emplace_back("scope", std::move(scope));
  WebRequest request;
  request.url = at.server.device_endpoint;
  request.content_type = "application/x-www-form-urlencoded";
  auto proven = prove(request, parameters, at.server, *client, settings);
  if (!proven) co_return pass_on(proven);
  request.body = form_encode(parameters);
  auto answer = co_await web.fetch(std::move(request));
  if (!answer) co_return pass_on(answer);
  auto code = read_device_code(web, at.server, *answer);
  if (code) code->client = std::move(*client);
  co_return code;
}

// RFC 8628, section 3.5: asks until the person has said yes or no, or the code is over.
asio::awaitable<Result<Tokens>> wait_for_person(const Web& web, const Discovered& at,
                                                const Settings& settings, DeviceCode code) {
  constexpr std::chrono::seconds kSlower{5};
  asio::steady_timer timer(web.executor());
  const auto until = std::chrono::steady_clock::now() + code.lasts;
  while (std::chrono::steady_clock::now() < until) {
    timer.expires_after(code.interval);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    Parameters parameters = question_with(code.device, at);
    auto tokens =
        co_await request_tokens(web, at.server, code.client, settings, std::move(parameters));
    if (tokens) co_return tokens;
    const Error& error = tokens.error();
    if (is_refused_with(error, "access_denied"))
      co_return fail(ErrorId::kServerHttp, "the login was refused", {.why = error.why});
    if (is_refused_with(error, "expired_token")) break;
    const bool is_lost = error.id != ErrorId::kServerHttp;  // the network: asked again, later
    if (is_refused_with(error, "slow_down") || is_lost) code.interval += kSlower;
    if (!is_lost && !is_refused_with(error, "slow_down") &&
        !is_refused_with(error, "authorization_pending"))
      co_return tokens;
  }
  co_return fail(ErrorId::kServerHttp, kNobodyLoggedIn, {.why = "the code is over"});
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

asio::awaitable<Result<LoggedIn>> log_in(const Web& web, Discovered at, Settings settings,
                                         Kept kept, std::string scope, ShowLogin show) {
  const bool is_offered = !at.server.device_endpoint.empty();
  const bool is_demanded = settings.grant == Grant::kDeviceCode;
  const bool is_only_way = is_demanded || at.server.authorization_endpoint.empty();
  const bool is_wanted = is_demanded || settings.prefers_code;
  if (is_demanded && !is_offered) {
    co_return fail(ErrorId::kServerHttp,
                   fmt::format("the authorization server {} gives no codes for a login",
                               printable(at.server.issuer, 200)),
                   {.why = "its metadata name no device authorization endpoint",
                    .fix = "without --device, and without \"grant\" in its \"auth\""});
  }
  if (is_offered && is_only_way && !is_wanted) {
    co_return fail(ErrorId::kServerHttp,
                   fmt::format("the authorization server {} has no login page",
                               printable(at.server.issuer, 200)),
                   {.why = kCodesAlone});
  }
  if (is_offered && is_wanted) {
    auto code = co_await ask_for_code(web, at, settings, kept, scope);
    if (code) {
      show(code->page);
      LoggedIn out;
      out.client = code->client;
      auto tokens = co_await wait_for_person(web, at, settings, std::move(*code));
      if (!tokens) co_return pass_on(tokens);
      out.tokens = std::move(*tokens);
      co_return out;
    }
    if (is_only_way) co_return pass_on(code);
  }
  co_return co_await log_in_at_page(web, std::move(at), std::move(settings), std::move(kept),
                                    std::move(scope), std::move(show));
}

}  // namespace mcpac::mcp::oauth
