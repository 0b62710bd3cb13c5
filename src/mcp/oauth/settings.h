// Settings: the member "auth" of a server in mcpac.json. Nothing in it is needed: a server that
// wants a login says how, and mcpac registers itself.
//
//   "auth": {"clientId": "…", "clientSecret": "${env:SECRET}", "scopes": ["files:read"]}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mcpac::mcp::oauth {

enum class Grant : std::uint8_t { kPerson, kClientCredentials };

struct Settings {
  Grant grant = Grant::kPerson;     // "grant": "authorization_code" | "client_credentials"
  std::string client_id{};          // of a client that was registered by hand
  std::string client_secret{};      // ${env:…} or ${file:…}
  std::string private_key{};        // PEM, ${file:…}: for private_key_jwt (ES256, RS256, EdDSA)
  std::string key_id{};             // "kid" in its assertions
  std::string client_document{};    // "clientMetadataUrl": an id that is a URL
  std::vector<std::string> scopes;  // asked for besides what the server wants
  std::uint16_t redirect_port = 0;  // 0: any free one
  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace mcpac::mcp::oauth
