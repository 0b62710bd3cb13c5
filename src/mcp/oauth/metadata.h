// SPDX-License-Identifier: Apache-2.0

// Metadata that a server and its authorization server publish about a login: RFC 9728 and RFC 8414
// or OpenID Connect Discovery. Untrusted claims; the readers check what the rest relies on.
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
  std::string device_endpoint;        // empty: no login by a code (RFC 8628)
  std::vector<std::string> scopes;
  std::vector<std::string> token_auth_methods;  // empty: not said
  bool pkce = false;                            // S256
  bool sends_issuer = false;                    // RFC 9207
  bool knows_client_documents = false;          // client id metadata documents
};

// Whether two spellings name one authorization server: the same scheme, host (in any case), port
// (the usual one may be left out) and path, with or without one slash at its end. In everything
// else an issuer is compared letter by letter.
[[nodiscard]] bool is_same_issuer(std::string_view one, std::string_view other);

// The resource must be the server that was asked, or a prefix of its path: else a server could have
// a token made for another one (RFC 9728 section 3.3, RFC 8707). Or it is what the user says that
// tokens are for (`wanted`). Metadata that name none are about the server itself.
[[nodiscard]] Result<ProtectedResource> read_protected_resource(const Json& document,
                                                                const Url& server,
                                                                std::string_view wanted = "");
// The issuer must be the one whose document was asked for (RFC 8414 section 3.3).
[[nodiscard]] Result<AuthorizationServer> read_authorization_server(const Json& document,
                                                                    std::string_view issuer);

// "https://host:port": of a server, without its path.
[[nodiscard]] std::string origin_of(const Url& url);
// The default audience of a token for this server: its URL without a query.
[[nodiscard]] std::string resource_of(const Url& server);
// Whether a browser may be started with the address: the characters of RFC 3986 without "#".
[[nodiscard]] bool is_plain_url(std::string_view text);
// Where the documents may be, in the order in which to look.
[[nodiscard]] std::vector<std::string> resource_documents(const Url& server);
[[nodiscard]] std::vector<std::string> issuer_documents(const Url& issuer);

}  // namespace mcpac::mcp::oauth
