// SPDX-License-Identifier: Apache-2.0

// Stored state of a login: its binding, its turn, and notes for the next one.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "core/error.h"
#include "core/printable.h"
#include "mcp/oauth/authorizer.h"
#include "mcp/oauth/belonging.h"
#include "mcp/oauth/discovery.h"
#include "mcp/oauth/form.h"
#include "mcp/oauth/metadata.h"
#include "mcp/oauth/registration.h"
#include "mcp/oauth/settings.h"
#include "mcp/oauth/store.h"
#include "mcp/oauth/token_request.h"
#include "mcp/oauth/web.h"

namespace mcpac::mcp::oauth {
namespace {

// revoke_tokens(): tells the authorization server that a login is over (RFC 7009).
//
// In the name of the client that the tokens were given to, and to the authorization server that
// gave them, at the endpoint that its own metadata name: no other server hears of a token. The
// refresh token first: with it most servers end what came of it. A token that the server does not
// know is as good as revoked, says the RFC, and answered so.

// `server` must have a revocation endpoint. Errors never name what was sent.
boost::asio::awaitable<Result<void>> revoke_tokens(const Web& web, AuthorizationServer server,
                                                   ClientId client, Settings settings,
                                                   Tokens tokens);

namespace asio = boost::asio;
std::string code_of(const WebAnswer& answer) {
  const JsonLimits limits{.max_bytes = answer.body.size() + 1, .max_depth = 16};
  const auto json = parse_json(answer.body, "", limits);
  return json ? printable(string_member(*json, "error"), 60) : std::string();
}

asio::awaitable<Result<void>> revoke_one(const Web& web, AuthorizationServer server,
                                         ClientId client, Settings settings, std::string token,
                                         std::string kind) {
  WebRequest request;
  request.url = server.revocation_endpoint;
  request.content_type = "application/x-www-form-urlencoded";
  Parameters parameters{{"token", std::move(token)}, {"token_type_hint", std::move(kind)}};
  auto proven = prove(request, parameters, server, client, settings);
  if (!proven) co_return pass_on(proven);
  request.body = form_encode(parameters);
  auto answer = co_await web.fetch(std::move(request));
  if (!answer) co_return pass_on(answer);
  if (answer->is_good()) co_return Result<void>();
  co_return fail(ErrorId::kServerHttp,
                 fmt::format("{} revoked no token (HTTP status {})",
                             printable(server.revocation_endpoint, 200), answer->status),
                 {.why = code_of(*answer)});
}

// One that is not revoked does not keep the other: the first error is told.
asio::awaitable<Result<void>> revoke_tokens(const Web& web, AuthorizationServer server,
                                            ClientId client, Settings settings, Tokens tokens) {
  Result<void> done;
  if (!tokens.refresh.empty())
    done = co_await revoke_one(web, server, client, settings, tokens.refresh, "refresh_token");
  if (tokens.access.empty()) co_return done;
  auto access = co_await revoke_one(web, server, client, settings, tokens.access, "access_token");
  co_return done ? access : done;
}

}  // namespace

namespace asio = boost::asio;
namespace {

constexpr std::size_t kLeastSecret = 16;
constexpr std::chrono::milliseconds kLook{20};  // between two looks whether another has ended

}  // namespace

// From texts and records. The server's side chose them: what is shorter than any secret would only
// take words out of what others say.
void Authorizer::hide(const Kept& kept) const {
  for (const auto& secret : {kept.tokens.access, kept.tokens.refresh, kept.client.secret,
                             options_.settings.client_secret}) {
    if (options_.keep_secret && secret.size() >= kLeastSecret) options_.keep_secret(secret);
  }
}

Result<Kept> Authorizer::load() const {
  auto kept = store_.load();
  if (kept) *kept = what_belongs(std::move(*kept), options_.settings, options_.place);
  return kept;
}

// A secret of the configuration stays where the user keeps it.
Result<void> Authorizer::save(Kept kept) {
  kept.place = options_.place;
  if (!options_.settings.client_id.empty()) kept.client.secret.clear();
  return store_.save(kept);
}

// The user's own word; else, where a login is on the disk, its authorization server, until the user
// says that the server has moved. An attacker who took it over would have people type their
// passwords elsewhere.
Result<Bound> Authorizer::binding() const {
  auto kept = load();
  if (!kept) return pass_on(kept);
  Bound bound;
  bound.issuer = options_.settings.issuer;
  bound.resource = options_.settings.resource;
  bound.by = "\"auth.issuer\"";
  bound.fix = "where that is right: register a client there, and change \"auth\"";
  if (!bound.issuer.empty() || options_.folder.empty() || !is_login(*kept)) return bound;
  bound.issuer = kept->issuer;
  bound.by = "at the last login";
  bound.fix = "where that is right: " + login_again(options_.server);
  return bound;
}

// Stored state of a login at this issuer; of one at another, nothing.
Result<Kept> Authorizer::login_at(const std::string& issuer) const {
  auto kept = load();
  if (!kept || is_same_issuer(kept->issuer, issuer)) return kept;
  Kept fresh;
  if (kept->issuer.empty()) fresh.wanted_scope = kept->wanted_scope;
  fresh.issuer = issuer;
  return fresh;
}

// A token that another mcpac got meanwhile.
bool Authorizer::take_fresher() {
  const auto kept = load();
  if (!kept || kept->tokens.access.empty() || kept->tokens.access == access_) return false;
  access_ = kept->tokens.access;
  hide(*kept);
  return true;
}

// Without blocking: others who wait for this loop are not held up by another process.
asio::awaitable<Result<UniqueFd>> Authorizer::turn_at_store(std::chrono::milliseconds at_most) {
  asio::steady_timer timer(executor_);
  const auto ends = std::chrono::steady_clock::now() + at_most;
  while (true) {
    auto turn = store_.try_turn();
    if (!turn) co_return pass_on(turn);
    if (*turn) co_return std::move(**turn);
    if (std::chrono::steady_clock::now() > ends) {
      const auto holder = store_.holder();
      co_return fail(ErrorId::kServerHttp,
                     fmt::format("another mcpac{} renews this login, and does not end",
                                 holder.empty() ? "" : fmt::format(" (process {})", holder)));
    }
    timer.expires_after(kLook);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

// No person is there: the next login asks for it. Nothing else is changed: another process may have
// saved better tokens meanwhile, or none on purpose.
asio::awaitable<Result<void>> Authorizer::note_down(std::string issuer, std::string scope) {
  auto turn = co_await turn_at_store();
  if (!turn) co_return pass_on(turn);
  auto now = load();
  if (!now) co_return pass_on(now);
  const bool is_other = !is_same_issuer(now->issuer, issuer);
  const bool others = has_login_elsewhere() || (is_other && is_login(*now));
  if (is_other) *now = Kept();
  now->issuer = std::move(issuer);
  now->wanted_scope = scope;
  auto noted = others ? Result<void>() : save(std::move(*now));
  if (!noted) co_return pass_on(noted);
  co_return fail(ErrorId::kServerHttp, "it wants a login",
                 {.why = scope.empty() ? std::string()
                                       : fmt::format("with the scopes {}", printable(scope, 300)),
                  .fix = "mcpac login " + options_.server});
}

// The file is that of a login at what a variable in the address stood for before: a note about
// another place is not worth it.
bool Authorizer::has_login_elsewhere() const {
  const auto kept = store_.load();
  return kept && kept->place != options_.place && is_login(*kept);
}

// One process at a time: one that renews the login meanwhile would keep a token that is not
// revoked.
asio::awaitable<Result<Authorizer::TakenBack>> Authorizer::give_up(
    std::chrono::milliseconds others_turn) {
  const auto self = shared_from_this();
  auto turn = co_await turn_at_store(others_turn);
  auto kept = load();
  store_.forget();
  access_.clear();
  if (turn) *turn = UniqueFd();
  if (!kept) co_return pass_on(kept);
  auto taken_back = co_await take_back(std::move(*kept));
  if (turn) co_return taken_back;
  turn.error().why = "what it gets is not taken back";
  turn.error().fix = fmt::format("when it has ended: mcpac logout {}", options_.server);
  co_return pass_on(turn);
}

asio::awaitable<Result<Authorizer::TakenBack>> Authorizer::take_back(Kept kept) {
  if (kept.issuer.empty() || (kept.tokens.access.empty() && kept.tokens.refresh.empty()))
    co_return TakenBack::kNothing;
  hide(kept);
  const Reach reach = co_await reach_of(executor_, options_.url);
  auto web = Web::make(executor_, reach);
  if (!web) co_return pass_on(web);
  auto server = co_await look_up(*web, kept.issuer);
  if (!server) co_return pass_on(server);
  if (server->revocation_endpoint.empty()) co_return TakenBack::kNotOffered;
  auto client = configured_client(*server, options_.settings);
  if (client.id.empty()) client = kept.client;
  auto revoked = co_await revoke_tokens(*web, std::move(*server), std::move(client),
                                        options_.settings, std::move(kept.tokens));
  if (!revoked) co_return pass_on(revoked);
  co_return TakenBack::kYes;
}

Result<void> Authorizer::take(Kept kept, Tokens tokens, const std::string& scope) {
  if (tokens.scope.empty()) tokens.scope = scope;
  kept.tokens = std::move(tokens);
  access_ = kept.tokens.access;
  hide(kept);
  return save(std::move(kept));
}

}  // namespace mcpac::mcp::oauth
