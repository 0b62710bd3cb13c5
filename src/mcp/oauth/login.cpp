#include "mcp/oauth/login.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/printable.h"
#include "mcp/oauth/pkce.h"
#include "mcp/oauth/redirect_listener.h"
#include "mcp/oauth/registration.h"
#include "mcp/oauth/token_request.h"

namespace mcpac::mcp::oauth {
namespace asio = boost::asio;
namespace {

// As long as somebody may need to find a password.
constexpr std::chrono::minutes kPatience{10};

struct Attempt {
  std::string state = random_word();
  std::string verifier = random_word();
  std::string redirect{};
};

// What a login page is asked. RFC 6749, section 3.1: each of them once; of a second one nobody
// knows which of both a server believes.
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
                           {"code_challenge_method", "S256"},
                           {"resource", at.resource.resource}};
  if (!scope.empty()) parameters.emplace_back("scope", scope);
  return with_query(at.server.authorization_endpoint, parameters);
}

// The code in the answer, when the answer comes from whom we asked.
Result<std::string> code_in(const Parameters& answer, const AuthorizationServer& server) {
  const auto issuer = value_of(answer, "iss");
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
  return {{"grant_type", "authorization_code"},
          {"code", code},
          {"redirect_uri", attempt.redirect},
          {"code_verifier", attempt.verifier},
          {"resource", at.resource.resource}};
}

}  // namespace

asio::awaitable<Result<LoggedIn>> log_in(const Web& web, Discovered at, Settings settings,
                                         Kept kept, std::string scope, ShowLogin show) {
  auto possible = can_log_in(web, at.server);
  if (!possible) co_return pass_on(possible);
  auto listener =
      RedirectListener::open(web.executor(), settings.redirect_port, kept.client.redirect_port);
  if (!listener) co_return pass_on(listener);
  Attempt attempt;
  attempt.redirect = redirect_uri(listener->port());
  LoggedIn out;
  auto client = co_await choose_client(web, at.server, settings, kept.client, listener->port());
  if (!client) co_return pass_on(client);
  out.client = std::move(*client);
  show(login_page(at, out.client, attempt, scope));
  auto answer = co_await listener->wait(attempt.state, kPatience);
  if (!answer) co_return pass_on(answer);
  auto code = code_in(*answer, at.server);
  if (!code) co_return pass_on(code);
  Parameters exchange = exchange_of(*code, attempt, at);
  auto tokens = co_await request_tokens(web, at.server, out.client, settings, std::move(exchange));
  if (!tokens) co_return pass_on(tokens);
  out.tokens = std::move(*tokens);
  co_return out;
}

}  // namespace mcpac::mcp::oauth
