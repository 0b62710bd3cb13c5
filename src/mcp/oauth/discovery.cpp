#include "mcp/oauth/discovery.h"

#include <fmt/format.h>

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
                                                         Challenge challenge) {
  std::vector<std::string> places = resource_documents(server);
  const bool named = !challenge.resource_metadata.empty();
  if (named) places = {challenge.resource_metadata};
  auto document = co_await first_object(web, std::move(places));
  if (document) co_return read_protected_resource(*document, server);
  if (named) co_return pass_on(document);
  ProtectedResource itself;
  itself.resource = origin_of(server) + server.target.substr(0, server.target.find('?'));
  itself.authorization_servers = {origin_of(server)};
  co_return itself;
}

}  // namespace

asio::awaitable<Result<Discovered>> discover(const Web& web, Url server, Challenge challenge) {
  auto resource = co_await find_resource(web, server, std::move(challenge));
  if (!resource) co_return pass_on(resource);
  if (resource->authorization_servers.empty()) {
    co_return fail(ErrorId::kServerHttp, "the server names no authorization server");
  }
  const std::string issuer = resource->authorization_servers.front();
  auto url = safe_url(issuer);
  if (!url) co_return pass_on(url);
  auto document = co_await first_object(web, issuer_documents(*url));
  if (!document) {
    co_return fail(
        ErrorId::kServerHttp,
        fmt::format("the authorization server {} has no metadata", printable(issuer, 200)),
        {.why = document.error().what});
  }
  auto authorization = read_authorization_server(*document, issuer);
  if (!authorization) co_return pass_on(authorization);
  Discovered out;
  out.resource = std::move(*resource);
  out.server = std::move(*authorization);
  co_return out;
}

}  // namespace mcpac::mcp::oauth
