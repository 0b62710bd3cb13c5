// SPDX-License-Identifier: Apache-2.0

#include "gateway/oauth/resource_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/hash.h"
#include "core/printable.h"
#include "mcp/oauth/metadata.h"
#include "mcp/oauth/web.h"

namespace mcpac::gateway::oauth {
namespace {

constexpr std::size_t kNameShown = 80;
constexpr std::size_t kDigestShown = 16;  // long names are cut: collisions are infeasible
constexpr std::size_t kMaxScope = 100;

// RFC 6749 section 3.3, without what ends a quoted text.
bool is_scope(std::string_view text) {
  return !text.empty() && text.size() <= kMaxScope && std::ranges::all_of(text, [](char c) {
    return c > 0x20 && c < 0x7f && c != '"' && c != '\\';
  });
}

http::Refusal no_token(std::string why) {
  http::Refusal refusal(401, std::move(why));
  refusal.challenge = "error=\"invalid_token\"";
  return refusal;
}

}  // namespace

Result<void> check(const OauthSettings& settings) {
  if (auto url = mcp::oauth::safe_url(settings.issuer); !url)
    return fail(ErrorId::kUsage, "--oauth-issuer wants the https URL of the issuer",
                {.why = url.error().what});
  auto audience = mcp::oauth::safe_url(settings.audience);
  if (!audience || settings.audience.find_first_of("?\"\\") != std::string::npos)
    return fail(ErrorId::kUsage, "--oauth-audience wants the URL by which clients know this server",
                {.fix = "--oauth-audience https://mcpac.example/mcp"});
  if (settings.scopes.empty())
    return fail(ErrorId::kUsage, "without --scope NAME=FILE no token opens anything");
  for (const auto& [scope, file] : settings.scopes) {
    if (!is_scope(scope))
      return fail(ErrorId::kUsage, fmt::format("'{}' is no scope", printable(scope, kMaxScope)));
  }
  return {};
}

ResourceServer::ResourceServer(OauthSettings settings, std::unique_ptr<KeySource> keys,
                               const Clock& clock)
    : settings_(std::move(settings)), keys_(std::move(keys)), clock_(clock) {}

boost::asio::awaitable<std::expected<Authorized, http::Refusal>> ResourceServer::admit(
    std::string text) {
  const Expected expected{.issuer = settings_.issuer, .audience = settings_.audience};
  auto token = parse_token(text);
  if (!token) co_return std::unexpected(no_token(token.error()));
  // Before its signature: what could not be taken anyway makes us fetch no keys.
  auto bearer = check_claims(*token, expected, clock_.wall_now());
  if (!bearer) co_return std::unexpected(no_token(bearer.error()));
  const bool verified = co_await keys_->verify(*token);
  if (!verified) co_return std::unexpected(no_token("the token is not signed by its issuer"));
  Authorized out;
  std::string scopes;
  for (const auto& [scope, file] : settings_.scopes) {
    if (!bearer->scopes.contains(scope)) continue;
    out.policies.push_back(file);
    scopes += " " + scope;
  }
  if (out.policies.empty()) {
    http::Refusal refusal(403, "the token has no scope that opens anything here");
    refusal.challenge = "error=\"insufficient_scope\"";
    co_return std::unexpected(std::move(refusal));
  }
  // The digest tells apart what is cut or looks alike.
  const Json whole = Json::array({settings_.issuer, bearer->subject, bearer->client, scopes});
  out.name = fmt::format(
      "mcpac serve, {} by {},{} ({})", printable(bearer->subject, kNameShown),
      bearer->client.empty() ? "an unnamed client" : printable(bearer->client, kNameShown),
      printable(scopes, kNameShown), sha256_hex(to_text(whole)).substr(0, kDigestShown));
  out.subject = "oauth " + sha256_hex(to_text(Json::array({settings_.issuer, bearer->subject})));
  out.until = bearer->until;
  out.token = std::move(*token);
  out.token.claims = nullptr;
  co_return out;
}

bool ResourceServer::still_admits(const Authorized& who, std::chrono::milliseconds grace) const {
  return clock_.wall_now() - grace < who.until && !keys_->disowns(who.token);
}

std::string ResourceServer::all_scopes() const {
  std::string all;
  for (const auto& [scope, file] : settings_.scopes) all += (all.empty() ? "" : " ") + scope;
  return all;
}

std::string ResourceServer::document() const {
  Json scopes = Json::array();
  for (const auto& [scope, file] : settings_.scopes) scopes.push_back(scope);
  return to_text(Json{{"resource", settings_.audience},
                      {"authorization_servers", Json::array({settings_.issuer})},
                      {"scopes_supported", std::move(scopes)},
                      {"bearer_methods_supported", Json::array({"header"})},
                      {"resource_name", "mcpac"}});
}

std::string ResourceServer::document_path() const {
  const auto url = mcp::parse_url(settings_.audience);
  const std::string whole = mcp::oauth::resource_documents(*url).front();
  return whole.substr(mcp::oauth::origin_of(*url).size());
}

std::string ResourceServer::challenge() const {
  const auto url = mcp::parse_url(settings_.audience);
  return fmt::format("resource_metadata=\"{}\", scope=\"{}\"",
                     mcp::oauth::resource_documents(*url).front(), all_scopes());
}

}  // namespace mcpac::gateway::oauth
