// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/registration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "mcp/oauth/token_request.h"

namespace mcpac::mcp::oauth {
namespace asio = boost::asio;
namespace {

constexpr std::size_t kMaxId = 4'096;
constexpr std::array<std::string_view, 3> kMethods = {"none", "client_secret_basic",
                                                      "client_secret_post"};

// Without a secret where the server takes that: PKCE does what a secret in a public program could
// not.
std::string method_to_register(const AuthorizationServer& server) {
  const auto& methods = server.token_auth_methods;
  for (const auto method : kMethods) {
    if (std::ranges::find(methods, method) != methods.end()) return std::string(method);
  }
  return "client_secret_basic";
}

// Without a port, for logins by a code alone.
std::string registration_body(const std::string& method, const std::string& host,
                              std::uint16_t port) {
  Json json = {{"client_name", "mcpac"},
               {"grant_types", {"refresh_token"}},
               {"response_types", Json::array()},
               {"token_endpoint_auth_method", method},
               {"application_type", "native"}};
  if (port == 0) {
    json["grant_types"].push_back(kDeviceGrant);
  } else {
    json["redirect_uris"] = {redirect_uri(host, port)};
    json["grant_types"] = {"authorization_code", "refresh_token"};
    json["response_types"] = {"code"};
  }
  return to_text(json);
}

// Many servers name no error of their own for a redirect address that they do not take.
bool refuses_redirect(const WebAnswer& answer) {
  const auto json = parse_json(answer.body);
  const std::string code = json ? string_member(*json, "error") : std::string();
  return answer.status == 400 &&
         (code == "invalid_redirect_uri" || code == "invalid_client_metadata");
}

Result<ClientId> read_client(const WebAnswer& answer, const std::string& method,
                             std::uint16_t port) {
  auto json = parse_json(answer.body);
  ClientId client;
  if (json && answer.is_good()) {
    client.id = string_member(*json, "client_id");
    client.secret = string_member(*json, "client_secret");
    client.method = string_member(*json, "token_endpoint_auth_method", method);
    client.redirect_port = port;
  }
  // RFC 7591, section 3.2.1: the server may register something else than it was asked for, such as
  // a way to authenticate that needs what we do not have.
  const bool fits = !client.id.empty() && client.id.size() <= kMaxId &&
                    client.secret.size() <= kMaxId &&
                    std::ranges::find(kMethods, client.method) != kMethods.end();
  if (!fits) {
    return fail(
        ErrorId::kServerHttp,
        fmt::format("the authorization server registers no client (HTTP status {})", answer.status),
        {.fix = R"(register one by hand and write "auth": {"clientId": "…"})"});
  }
  return client;
}

}  // namespace

std::string redirect_uri(const std::string& host, std::uint16_t port) {
  return fmt::format("http://{}:{}/callback", host.empty() ? kRedirectHost : host, port);
}

ClientId configured_client(const AuthorizationServer& server, const Settings& settings) {
  ClientId client;
  if (settings.client_id.empty()) return client;
  client.id = settings.client_id;
  client.secret = settings.client_secret;
  client.method = method_for(server, settings);
  client.redirect_host = settings.redirect_host;
  return client;
}

asio::awaitable<Result<ClientId>> choose_client(const Web& web, AuthorizationServer server,
                                                Settings settings, ClientId kept,
                                                std::uint16_t port) {
  ClientId client = configured_client(server, settings);
  if (!client.id.empty()) co_return client;
  if (!settings.client_document.empty() && server.knows_client_documents) {
    client.id = settings.client_document;
    client.method = "none";
    client.redirect_host = settings.redirect_host;
    co_return client;
  }
  const bool is_at_host =
      settings.redirect_host.empty() || kept.redirect_host == settings.redirect_host;
  if (!kept.id.empty() && kept.redirect_port == port && (port == 0 || is_at_host)) co_return kept;
  if (server.registration_endpoint.empty()) {
    co_return fail(ErrorId::kServerHttp, "the authorization server knows only registered clients",
                   {.fix = R"(register one by hand and write "auth": {"clientId": "…"})"});
  }
  const std::string method = method_to_register(server);
  WebRequest request;
  request.url = server.registration_endpoint;
  request.content_type = "application/json";
  std::string host = settings.redirect_host.empty() ? kept.redirect_host : settings.redirect_host;
  request.body = registration_body(method, host, port);
  auto answer = co_await web.fetch(request);
  if (answer && port != 0 && host.empty() && refuses_redirect(*answer)) {
    host = "localhost";
    request.body = registration_body(method, host, port);
    answer = co_await web.fetch(std::move(request));
  }
  if (!answer) co_return pass_on(answer);
  auto registered = read_client(*answer, method, port);
  if (registered) registered->redirect_host = std::move(host);
  co_return registered;
}

}  // namespace mcpac::mcp::oauth
