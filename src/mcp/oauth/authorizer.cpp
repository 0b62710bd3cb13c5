// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/authorizer.h"

#include <fmt/format.h>

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "mcp/oauth/belonging.h"
#include "mcp/oauth/registration.h"
#include "mcp/oauth/scopes.h"
#include "mcp/oauth/token_request.h"

namespace mcpac::mcp::oauth {
namespace asio = boost::asio;
namespace {

constexpr std::size_t kMaxScope = std::size_t{8} << 10U;
constexpr std::chrono::minutes kRest{1};        // after a way that failed
constexpr std::chrono::milliseconds kTurn{20};  // between two looks whether a login has ended
constexpr const char* kCheckClient =
    R"(check "clientId" and its secret or key in the "auth" of the server in mcpac.json)";
constexpr int kMaxPages = 5;  // a server may not have one window after the other opened

// Scopes to ask for: the challenge's, else the resource's; never less than before.
std::string scope_for(const Challenge& challenge, const Discovered& at, const Kept& kept,
                      const Settings& settings) {
  std::string scope = challenge.scope.empty() ? join_scopes(at.resource.scopes) : challenge.scope;
  scope = unite_scopes(join_scopes(settings.scopes), scope);
  scope = unite_scopes(kept.tokens.scope, scope);
  scope = unite_scopes(scope, kept.wanted_scope);
  // By itself it would ask for nothing but a refresh token.
  const bool refreshes = contains_scopes(join_scopes(at.server.scopes), "offline_access");
  if (refreshes && !scope.empty() && settings.grant != Grant::kClientCredentials) {
    scope = unite_scopes(scope, "offline_access");
  }
  return scope;
}

// The authorization server does not know the client (any more), or does not let it do this.
bool is_about_client(const Error& error) {
  return is_refused_with(error, "invalid_client") || is_refused_with(error, "unauthorized_client");
}

Parameters refresh_with(const std::string& token, const Discovered& at) {
  Parameters parameters = {{"grant_type", "refresh_token"}, {"refresh_token", token}};
  add_resource(parameters, at);
  return parameters;
}

Parameters own_credentials(const std::string& scope, const Discovered& at) {
  Parameters parameters = {{"grant_type", "client_credentials"}};
  add_resource(parameters, at);
  if (!scope.empty()) parameters.emplace_back("scope", scope);
  return parameters;
}

}  // namespace

Authorizer::Authorizer(asio::any_io_executor executor, AuthorizerOptions options)
    : executor_(std::move(executor)),
      options_(std::move(options)),
      store_(options_.folder, options_.server, options_.identity) {}

Result<std::shared_ptr<Authorizer>> Authorizer::make(asio::any_io_executor executor,
                                                     AuthorizerOptions options) {
  if (options.settings.has_secret() && options.settings.issuer.empty()) {
    return fail(ErrorId::kConfigInvalid, "a secret or key belongs to one authorization server",
                {.where = fmt::format("mcpServers.{}.auth", options.server),
                 .why = "else the MCP server could name any, which would get it",
                 .fix = R"(add "issuer": "https://…", where that client is registered)"});
  }
  const std::shared_ptr<Authorizer> made(new Authorizer(std::move(executor), std::move(options)));
  auto kept = made->load();
  if (!kept) return pass_on(kept);
  made->access_ = kept->tokens.access;
  made->hide(*kept);
  return made;
}

std::string Authorizer::authorization() const {
  return access_.empty() ? std::string() : "Bearer " + access_;
}

Error Authorizer::named(Error error) const {
  error.what = fmt::format("server {}: {}", options_.server, error.what);
  if (error.where.empty()) error.where = "server " + options_.server;
  return error;
}

asio::awaitable<void> Authorizer::take_turn() {
  asio::steady_timer timer(executor_);
  while (busy_) {
    timer.expires_after(kTurn);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  busy_ = true;
}

asio::awaitable<Result<void>> Authorizer::challenged(HttpHead head, std::string used) {
  const auto self = shared_from_this();
  const Challenge challenge = parse_challenge(head.www_authenticate);
  const bool step_up = head.status == 403 && challenge.error == "insufficient_scope";
  if (head.status != 401 && !step_up) {
    co_return fail(ErrorId::kServerHttp, "the server refuses");  // whatever token comes
  }
  co_await take_turn();
  const std::shared_ptr<void> turn(nullptr, [this](void*) { busy_ = false; });
  Result<void> done;
  const bool rests = failed_ && std::chrono::steady_clock::now() < rest_ends_;
  if (authorization() == used && !take_fresher()) {
    if (!rests) done = co_await get_token(step_up, challenge, head.reach);
    if (!rests && !done) failed_ = named(std::move(done.error()));
    if (!rests) rest_ends_ = std::chrono::steady_clock::now() + kRest;
    if (rests || !done) done = std::unexpected(*failed_);
  }
  if (done) failed_.reset();
  co_return done;
}

asio::awaitable<Result<void>> Authorizer::get_token(bool step_up, Challenge challenge,
                                                    Reach reach) {
  auto web = Web::make(executor_, reach);
  if (!web) co_return pass_on(web);
  auto bound = binding();
  if (!bound) co_return pass_on(bound);
  auto at = co_await discover(*web, options_.url, challenge, std::move(*bound));
  if (!at) co_return pass_on(at);
  const Settings& settings = options_.settings;
  if (!settings.resource.empty()) at->resource.resource = settings.resource;
  if (!settings.names_resource) at->resource.resource.clear();
  auto kept = login_at(at->server.issuer);
  if (!kept) co_return pass_on(kept);
  const std::string scope = scope_for(challenge, *at, *kept, options_.settings);
  if (scope.size() > kMaxScope) {
    co_return fail(ErrorId::kServerLimit, "the server asks for more scopes than anybody reads");
  }
  if (options_.settings.grant == Grant::kClientCredentials) {
    co_return co_await use_credentials(*web, std::move(*at), std::move(*kept), scope);
  }
  if (!step_up && !kept->tokens.refresh.empty()) {
    auto refreshed = co_await refresh(*web, *at, scope);
    if (refreshed) co_return refreshed;
    kept = login_at(at->server.issuer);  // without what was refused
    if (!kept) co_return pass_on(kept);
  }
  // Where a lock reaches only one machine, another may have been first.
  if (!step_up && take_fresher()) co_return Result<void>();
  co_return co_await ask_person(*web, std::move(*at), std::move(*kept), scope);
}

asio::awaitable<Result<void>> Authorizer::use_credentials(const Web& web, Discovered at, Kept kept,
                                                          std::string scope) {
  kept.client = configured_client(at.server, options_.settings);
  Parameters parameters = own_credentials(scope, at);
  auto tokens = co_await request_tokens(web, at.server, kept.client, options_.settings,
                                        std::move(parameters));
  if (!tokens) {
    if (tokens.error().fix.empty()) tokens.error().fix = kCheckClient;
    co_return pass_on(tokens);
  }
  tokens->refresh.clear();  // RFC 6749, section 4.4.3: the credentials are as good
  co_return take(std::move(kept), std::move(*tokens), scope);
}

asio::awaitable<Result<void>> Authorizer::refresh(const Web& web, Discovered at,
                                                  std::string scope) {
  auto turn = co_await turn_at_store();
  if (!turn) co_return pass_on(turn);
  if (take_fresher()) co_return Result<void>();
  auto kept = load();
  if (!kept) co_return pass_on(kept);
  const std::string used = kept->tokens.refresh;
  if (used.empty() || !is_same_issuer(kept->issuer, at.server.issuer)) {
    co_return fail(ErrorId::kServerHttp, "there is nothing to refresh");
  }
  auto client = configured_client(at.server, options_.settings);
  if (client.id.empty()) client = kept->client;
  Parameters parameters = refresh_with(used, at);
  auto tokens =
      co_await request_tokens(web, at.server, client, options_.settings, std::move(parameters));
  // A logout meanwhile was meant.
  auto now = load();
  if (!tokens && now && now->tokens.refresh == used) {
    if (auto forgotten = forget_refused(std::move(*now), tokens.error()); !forgotten)
      co_return pass_on(forgotten);
  }
  if (!tokens) co_return pass_on(tokens);
  if (!now || now->tokens.refresh != used) {
    co_return fail(ErrorId::kServerHttp, "the login was given up meanwhile");
  }
  if (tokens->refresh.empty()) tokens->refresh = used;
  if (tokens->scope.empty()) tokens->scope = kept->tokens.scope;
  co_return take(std::move(*kept), std::move(*tokens), scope);
}

// What would be refused again is not tried again: not by this process, nor by the next.
Result<void> Authorizer::forget_refused(Kept kept, const Error& why) {
  const bool is_over = is_refused_with(why, "invalid_grant");
  if (!is_over && !is_about_client(why)) return {};
  if (kept.wanted_scope.empty()) kept.wanted_scope = kept.tokens.scope;
  kept.tokens = {};
  if (is_about_client(why) && options_.settings.client_id.empty()) kept.client = {};
  return save(std::move(kept));
}

Result<void> Authorizer::forget_client(Kept kept) {
  if (kept.client.id.empty() || !options_.settings.client_id.empty()) return {};
  auto now = load();
  if (!now || now->client.id != kept.client.id) return {};
  now->client = {};
  return save(std::move(*now));
}

// Only what another try would do otherwise: a login that was refused for what the authorization
// server is, or by the person, would be refused again.
std::string Authorizer::advice_after(const Error& why, const Kept& kept) const {
  const bool is_configured = !options_.settings.client_id.empty();
  if (is_about_client(why))
    return is_configured ? std::string(kCheckClient) : "mcpac login " + options_.server;
  if (why.why == kCodesAlone) return "mcpac login --device " + options_.server;
  if (why.what != kNobodyLoggedIn) return "";
  // Its page may say that it does not know the client: only the person sees that.
  const bool may_have_ended = !is_configured && !kept.client.id.empty();
  return may_have_ended ? login_again(options_.server) : "mcpac login " + options_.server;
}

asio::awaitable<Result<void>> Authorizer::ask_person(const Web& web, Discovered at, Kept kept,
                                                     std::string scope) {
  if (!options_.show) co_return co_await note_down(kept.issuer, scope);
  if (++pages_ > kMaxPages) {
    co_return fail(ErrorId::kServerLimit, "the server wants one login after the other",
                   {.why = fmt::format("{} pages were shown", kMaxPages)});
  }
  auto logged_in =
      co_await log_in(web, std::move(at), options_.settings, kept, scope, options_.show);
  if (!logged_in) {
    auto forgotten = Result<void>();
    if (is_about_client(logged_in.error())) forgotten = forget_client(kept);
    if (!forgotten) co_return pass_on(forgotten);
    auto& fix = logged_in.error().fix;
    if (fix.empty()) fix = advice_after(logged_in.error(), kept);
    co_return pass_on(logged_in);
  }
  auto turn = co_await turn_at_store();
  if (!turn) co_return pass_on(turn);
  kept.client = std::move(logged_in->client);
  kept.wanted_scope.clear();
  co_return take(std::move(kept), std::move(logged_in->tokens), scope);
}

}  // namespace mcpac::mcp::oauth
