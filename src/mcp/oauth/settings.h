// Settings: the member "auth" of a server in mcpac.json. Nothing in it is needed: a server that
// wants a login says how, and mcpac registers itself.
//
//   "auth": {"issuer": "https://login.example", "clientId": "…", "clientSecret": "${env:SECRET}"}
//
// A secret or key belongs to the authorization server that it was registered at, and goes nowhere
// without the word of the user which one that is (MCP 2026-07-28, "Authorization Server Binding").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mcpac::mcp::oauth {

enum class Grant : std::uint8_t { kPerson, kClientCredentials };

struct Settings {
  Grant grant = Grant::kPerson;     // "grant": "authorization_code" | "client_credentials"
  std::string issuer{};             // the only authorization server; empty: whom the server names
  std::string client_id{};          // of a client that was registered by hand
  std::string client_secret{};      // ${env:…} or ${file:…}
  std::string private_key{};        // PEM, ${file:…}: for private_key_jwt (ES256, RS256, EdDSA)
  std::string key_id{};             // "kid" in its assertions
  std::string client_document{};    // "clientMetadataUrl": an id that is a URL
  std::vector<std::string> scopes;  // asked for besides what the server wants
  std::uint16_t redirect_port = 0;  // 0: any free one
  [[nodiscard]] bool has_secret() const { return !client_secret.empty() || !private_key.empty(); }
  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace mcpac::mcp::oauth
