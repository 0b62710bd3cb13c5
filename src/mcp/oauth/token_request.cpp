// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/token_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/printable.h"
#include "mcp/oauth/assertion.h"
#include "mcp/oauth/pkce.h"

namespace mcpac::mcp::oauth {
namespace asio = boost::asio;
namespace {

constexpr std::size_t kMaxToken = std::size_t{16} << 10U;
constexpr std::size_t kMaxScope = std::size_t{8} << 10U;  // of what is kept, and asked for again
constexpr const char* kAssertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

// RFC 6750: the characters of a token that may stand in a header.
bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= kMaxToken &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

bool takes(const AuthorizationServer& server, std::string_view method) {
  const auto& methods = server.token_auth_methods;
  return std::ranges::find(methods, method) != methods.end();
}

std::unexpected<Error> refuse(const AuthorizationServer& server, std::string_view what,
                              std::string why = "") {
  return fail(ErrorId::kServerHttp,
              fmt::format("{} {}", printable(server.token_endpoint, 200), what),
              {.why = std::move(why)});
}

Result<Tokens> read_tokens(const AuthorizationServer& server, const WebAnswer& answer) {
  const JsonLimits limits{.max_bytes = answer.body.size() + 1, .max_depth = 16};
  auto json = parse_json(answer.body, "", limits);
  if (!answer.is_good()) {
    const auto code = json ? string_member(*json, "error") : std::string();
    return refuse(server, fmt::format("gave no token (HTTP status {})", answer.status),
                  printable(code, 60));
  }
  if (!json || !json->is_object()) return refuse(server, "answered with no JSON object");
  const std::string type = lowered(string_member(*json, "token_type"));
  Tokens tokens;
  tokens.access = string_member(*json, "access_token");
  tokens.refresh = string_member(*json, "refresh_token");
  tokens.scope = string_member(*json, "scope");
  if (type != "bearer" || !is_token(tokens.access)) {
    return refuse(server, "answered with no bearer token");
  }
  if (!is_token(tokens.refresh)) tokens.refresh.clear();
  if (tokens.scope.size() > kMaxScope) {
    return refuse(server, "answered with more scopes than anybody reads");
  }
  return tokens;
}

}  // namespace

bool is_refused_with(const Error& error, std::string_view code) {
  return error.id == ErrorId::kServerHttp && error.why == code;
}

Result<void> prove(WebRequest& request, Parameters& parameters, const AuthorizationServer& server,
                   const ClientId& client, const Settings& settings) {
  if (client.method == "client_secret_basic") {
    const Parameters pair = {{client.id, client.secret}};
    std::string text = form_encode(pair);  // RFC 6749 section 2.3.1: both encoded, then joined
    text[text.find('=')] = ':';
    request.authorization = "Basic " + base64(text);
    return {};
  }
  parameters.emplace_back("client_id", client.id);
  if (client.method == "client_secret_post") {
    parameters.emplace_back("client_secret", client.secret);
  } else if (client.method == "private_key_jwt") {
    auto assertion =
        client_assertion(settings.private_key, settings.key_id, client.id, server.issuer);
    if (!assertion) return pass_on(assertion);
    parameters.emplace_back("client_assertion_type", kAssertionType);
    parameters.emplace_back("client_assertion", std::move(*assertion));
  }
  return {};
}

std::string method_for(const AuthorizationServer& server, const Settings& settings) {
  if (!settings.private_key.empty()) return "private_key_jwt";
  if (settings.client_secret.empty()) return "none";
  if (takes(server, "client_secret_basic") || server.token_auth_methods.empty()) {
    return "client_secret_basic";
  }
  return "client_secret_post";
}

asio::awaitable<Result<Tokens>> request_tokens(const Web& web, AuthorizationServer server,
                                               ClientId client, Settings settings,
                                               Parameters parameters) {
  WebRequest request;
  request.url = server.token_endpoint;
  request.content_type = "application/x-www-form-urlencoded";
  auto proven = prove(request, parameters, server, client, settings);
  if (!proven) co_return pass_on(proven);
  request.body = form_encode(parameters);
  auto answer = co_await web.fetch(std::move(request));
  if (!answer) co_return pass_on(answer);
  co_return read_tokens(server, *answer);
}

}  // namespace mcpac::mcp::oauth
