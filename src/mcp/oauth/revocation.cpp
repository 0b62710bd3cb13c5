#include "mcp/oauth/revocation.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/printable.h"
#include "mcp/oauth/form.h"
#include "mcp/oauth/token_request.h"

namespace mcpac::mcp::oauth {
namespace asio = boost::asio;
namespace {

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

}  // namespace

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

}  // namespace mcpac::mcp::oauth
