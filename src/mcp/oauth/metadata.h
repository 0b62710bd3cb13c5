// What a server and its authorization server publish about a login: RFC 9728 and RFC 8414 or OpenID
// Connect Discovery. Claims of somebody else; the readers check what the rest relies on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "mcp/url.h"

namespace mcpac::mcp::oauth {

struct ProtectedResource {
  std::string resource;                            // what a token is for (RFC 8707)
  std::vector<std::string> authorization_servers;  // issuers, in the server's order
  std::vector<std::string> scopes;
};

struct AuthorizationServer {
  std::string issuer;
  std::string authorization_endpoint;  // empty: no login by a person
  std::string token_endpoint;
  std::string registration_endpoint;  // empty: no dynamic registration
  std::string revocation_endpoint;    // empty: no token is taken back (RFC 7009)
  std::vector<std::string> scopes;
  std::vector<std::string> token_auth_methods;  // empty: not said
  bool pkce = false;                            // S256
  bool sends_issuer = false;                    // RFC 9207
  bool knows_client_documents = false;          // client id metadata documents
};

// The resource must be the server that was asked, or a prefix of its path: else a server could have
// a token made for another one (RFC 9728 section 3.3, RFC 8707).
[[nodiscard]] Result<ProtectedResource> read_protected_resource(const Json& document,
                                                                const Url& server);
// The issuer must be exactly the one whose document was asked for (RFC 8414 section 3.3).
[[nodiscard]] Result<AuthorizationServer> read_authorization_server(const Json& document,
                                                                    std::string_view issuer);

// "https://host:port": of a server, without its path.
[[nodiscard]] std::string origin_of(const Url& url);
// Where the documents may be, in the order in which to look.
[[nodiscard]] std::vector<std::string> resource_documents(const Url& server);
[[nodiscard]] std::vector<std::string> issuer_documents(const Url& issuer);

}  // namespace mcpac::mcp::oauth
