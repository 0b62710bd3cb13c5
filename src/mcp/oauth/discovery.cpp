// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/discovery.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/printable.h"

namespace mcpac::mcp::oauth {
namespace asio = boost::asio;
namespace {

// The first of the places that has a document; the error of the last when none has.
asio::awaitable<Result<Json>> first_object(const Web& web, std::vector<std::string> places) {
  Result<Json> found = fail(ErrorId::kServerHttp, "there is nowhere to look");
  for (const std::string& place : places) {
    found = co_await web.fetch_object(place);
    if (found) break;
  }
  co_return found;
}

asio::awaitable<Result<ProtectedResource>> find_resource(const Web& web, Url server,
                                                         Challenge challenge, Bound bound) {
  std::vector<std::string> places = resource_documents(server);
  const bool named = !challenge.resource_metadata.empty();
  if (named) places = {challenge.resource_metadata};
  auto document = co_await first_object(web, std::move(places));
  if (document) co_return read_protected_resource(*document, server, bound.resource);
  if (named) co_return pass_on(document);
  ProtectedResource itself;
  itself.resource = resource_of(server);
  itself.authorization_servers.push_back(bound.issuer.empty() ? origin_of(server)
                                                              : std::move(bound.issuer));
  co_return itself;
}

// RFC 9728, section 7.6: which of them is used is the client's choice, and the user's before that.
Result<std::string> choose_issuer(const std::vector<std::string>& named, const Bound& bound) {
  if (named.empty()) return fail(ErrorId::kServerHttp, "the server names no authorization server");
  std::string issuer = bound.issuer.empty() ? named.front() : bound.issuer;
  const auto found = std::ranges::find_if(
      named, [&](const std::string& one) { return is_same_issuer(one, issuer); });
  if (found == named.end()) {
    return fail(ErrorId::kServerHttp,
                fmt::format("the server names another authorization server than {}", bound.by),
                {.why = fmt::format("\"{}\" instead of \"{}\"", printable(named.front(), 200),
                                    printable(issuer, 200)),
                 .fix = bound.fix});
  }
  issuer = *found;
  // RFC 8414, section 2. An address like that is not what its documents say that it is.
  if (issuer.find_first_of("?#") != std::string::npos) {
    return fail(ErrorId::kServerHttp,
                fmt::format("\"{}\" is no authorization server", printable(issuer, 200)),
                {.why = "its address has a query or a fragment"});
  }
  return issuer;
}

}  // namespace

void add_resource(Parameters& parameters, const Discovered& at) {
  if (!at.resource.resource.empty()) parameters.emplace_back("resource", at.resource.resource);
}

asio::awaitable<Result<AuthorizationServer>> look_up(const Web& web, std::string issuer) {
  auto url = safe_url(issuer);
  if (!url) co_return pass_on(url);
  auto document = co_await first_object(web, issuer_documents(*url));
  if (!document) {
    co_return fail(
        ErrorId::kServerHttp,
        fmt::format("the authorization server {} has no metadata", printable(issuer, 200)),
        {.why = document.error().what,
         .fix = R"(check the credentials: "headers": {"Authorization": "Bearer ${env:TOKEN}"})"});
  }
  co_return read_authorization_server(*document, issuer);
}

asio::awaitable<Result<Discovered>> discover(const Web& web, Url server, Challenge challenge,
                                             Bound bound) {
  auto resource = co_await find_resource(web, server, std::move(challenge), bound);
  if (!resource) co_return pass_on(resource);
  auto chosen = choose_issuer(resource->authorization_servers, bound);
  if (!chosen) co_return pass_on(chosen);
  auto authorization = co_await look_up(web, std::move(*chosen));
  if (!authorization) co_return pass_on(authorization);
  Discovered out;
  out.resource = std::move(*resource);
  out.server = std::move(*authorization);
  co_return out;
}

}  // namespace mcpac::mcp::oauth
