#include "mcp/oauth/authorizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "core/printable.h"
#include "mcp/oauth/registration.h"
#include "mcp/oauth/scopes.h"
#include "mcp/oauth/token_request.h"

namespace mcpac::mcp::oauth {
namespace asio = boost::asio;
namespace {

constexpr std::size_t kMaxScope = std::size_t{8} << 10U;
constexpr std::size_t kLeastSecret = 16;
constexpr std::chrono::minutes kRest{1};        // after a way that failed
constexpr std::chrono::milliseconds kTurn{20};  // between two looks whether a login has ended

// What to ask for: the challenge's scopes, else the resource's; never less than before.
std::string scope_for(const Challenge& challenge, const Discovered& at, const Kept& kept,
                      const Settings& settings) {
  std::string scope = challenge.scope.empty() ? join_scopes(at.resource.scopes) : challenge.scope;
  scope = unite_scopes(join_scopes(settings.scopes), scope);
  scope = unite_scopes(kept.tokens.scope, scope);
  scope = unite_scopes(scope, kept.wanted_scope);
  // By itself it would ask for nothing but a refresh token.
  const bool refreshes = contains_scopes(join_scopes(at.server.scopes), "offline_access");
  if (refreshes && !scope.empty() && settings.grant == Grant::kPerson) {
    scope = unite_scopes(scope, "offline_access");
  }
  return scope;
}

Parameters refresh_with(const Kept& kept, const Discovered& at) {
  return {{"grant_type", "refresh_token"},
          {"refresh_token", kept.tokens.refresh},
          {"resource", at.resource.resource}};
}

Parameters own_credentials(const std::string& scope, const Discovered& at) {
  Parameters parameters = {{"grant_type", "client_credentials"},
                           {"resource", at.resource.resource}};
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
  const std::shared_ptr<Authorizer> made(new Authorizer(std::move(executor), std::move(options)));
  auto kept = made->store_.load();
  if (!kept) return pass_on(kept);
  made->access_ = kept->tokens.access;
  made->hide(*kept);
  return made;
}

// From texts and records. The server's side chose them: what is shorter than any secret would only
// take words out of what others say.
void Authorizer::hide(const Kept& kept) const {
  for (const auto& secret : {kept.tokens.access, kept.tokens.refresh, kept.client.secret}) {
    if (options_.keep_secret && secret.size() >= kLeastSecret) options_.keep_secret(secret);
  }
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

asio::awaitable<Result<void>> Authorizer::challenged(unsigned status, std::string www_authenticate,
                                                     std::string used) {
  const auto self = shared_from_this();
  const Challenge challenge = parse_challenge(www_authenticate);
  const bool step_up = status == 403 && challenge.error == "insufficient_scope";
  if (status != 401 && !step_up) {
    co_return fail(ErrorId::kServerHttp, "the server refuses");  // whatever token comes
  }
  co_await take_turn();
  const std::shared_ptr<void> turn(nullptr, [this](void*) { busy_ = false; });
  Result<void> done;
  const bool rests = failed_ && std::chrono::steady_clock::now() < rest_ends_;
  if (authorization() == used && !take_fresher()) {
    if (!rests) done = co_await get_token(step_up, challenge);
    if (!rests && !done) failed_ = named(std::move(done.error()));
    if (!rests) rest_ends_ = std::chrono::steady_clock::now() + kRest;
    if (rests || !done) done = std::unexpected(*failed_);
  }
  if (done) failed_.reset();
  co_return done;
}

// A token that another mcpac got meanwhile.
bool Authorizer::take_fresher() {
  const auto kept = store_.load();
  if (!kept || kept->tokens.access.empty() || kept->tokens.access == access_) return false;
  access_ = kept->tokens.access;
  hide(*kept);
  return true;
}

asio::awaitable<Result<void>> Authorizer::get_token(bool step_up, Challenge challenge) {
  auto kept = store_.load();
  if (!kept) co_return pass_on(kept);
  auto web = co_await Web::make(executor_, options_.url);
  if (!web) co_return pass_on(web);
  auto at = co_await discover(*web, options_.url, challenge);
  if (!at) co_return pass_on(at);
  if (kept->issuer != at->server.issuer) {
    std::string wanted = kept->issuer.empty() ? kept->wanted_scope : std::string();
    *kept = Kept();
    kept->issuer = at->server.issuer;
    kept->wanted_scope = std::move(wanted);
  }
  const std::string scope = scope_for(challenge, *at, *kept, options_.settings);
  if (scope.size() > kMaxScope) {
    co_return fail(ErrorId::kServerLimit, "the server asks for more scopes than anybody reads");
  }
  auto quiet = co_await quietly(*web, *at, *kept, scope, step_up);
  if (quiet) co_return take(std::move(*kept), std::move(*quiet), scope);
  if (options_.settings.grant == Grant::kClientCredentials) co_return pass_on(quiet);
  // Of two that refresh with one token at the same moment the second is refused, and need not be.
  if (!step_up && take_fresher()) co_return Result<void>();
  co_return co_await ask_person(*web, std::move(*at), std::move(*kept), scope);
}

// Without anybody: the client's own credentials, or a refresh token where more is not asked for.
asio::awaitable<Result<Tokens>> Authorizer::quietly(const Web& web, Discovered at, Kept& kept,
                                                    std::string scope, bool step_up) {
  if (options_.settings.grant == Grant::kClientCredentials) {
    auto client = co_await choose_client(web, at.server, options_.settings, kept.client, 0);
    if (!client) co_return pass_on(client);
    kept.client = std::move(*client);
    Parameters parameters = own_credentials(scope, at);
    co_return co_await request_tokens(web, at.server, kept.client, options_.settings,
                                      std::move(parameters));
  }
  if (step_up || kept.tokens.refresh.empty()) {
    co_return fail(ErrorId::kServerHttp, "there is nothing to refresh");
  }
  Parameters parameters = refresh_with(kept, at);
  auto tokens = co_await request_tokens(web, at.server, kept.client, options_.settings,
                                        std::move(parameters));
  if (tokens && tokens->refresh.empty()) tokens->refresh = kept.tokens.refresh;
  if (tokens && tokens->scope.empty()) tokens->scope = kept.tokens.scope;
  co_return tokens;
}

asio::awaitable<Result<void>> Authorizer::ask_person(const Web& web, Discovered at, Kept kept,
                                                     std::string scope) {
  if (!options_.show) {
    // Only that: somebody else may have saved better tokens meanwhile.
    auto now = store_.load();
    if (now && now->issuer == kept.issuer) kept = std::move(*now);
    kept.wanted_scope = scope;
    auto noted = store_.save(kept);
    if (!noted) co_return pass_on(noted);
    co_return fail(ErrorId::kServerHttp, "it wants a login",
                   {.why = scope.empty() ? std::string()
                                         : fmt::format("with the scopes {}", printable(scope, 300)),
                    .fix = "mcpac login " + options_.server});
  }
  auto logged_in =
      co_await log_in(web, std::move(at), options_.settings, kept, scope, options_.show);
  if (!logged_in) co_return pass_on(logged_in);
  kept.client = std::move(logged_in->client);
  kept.wanted_scope.clear();
  co_return take(std::move(kept), std::move(logged_in->tokens), scope);
}

Result<void> Authorizer::take(Kept kept, Tokens tokens, const std::string& scope) {
  if (tokens.scope.empty()) tokens.scope = scope;
  kept.tokens = std::move(tokens);
  access_ = kept.tokens.access;
  hide(kept);
  return store_.save(kept);
}

}  // namespace mcpac::mcp::oauth
