// SPDX-License-Identifier: Apache-2.0

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

enum class Grant : std::uint8_t { kPerson, kDeviceCode, kClientCredentials };

// The host of the redirect address that a login page answers to, unless "redirectHost" says so.
inline constexpr const char* kRedirectHost = "127.0.0.1";

struct Settings {
  // "grant": "authorization_code" | "urn:ietf:params:oauth:grant-type:device_code" (or
  // "device_code") | "client_credentials"
  Grant grant = Grant::kPerson;
  std::string issuer{};             // the only authorization server; empty: whom the server names
  std::string client_id{};          // of a client that was registered by hand
  std::string client_secret{};      // ${env:…} or ${file:…}
  std::string private_key{};        // PEM, ${file:…}: for private_key_jwt (ES256, RS256, EdDSA)
  std::string key_id{};             // "kid" in its assertions
  std::string client_document{};    // "clientMetadataUrl": an id that is a URL
  std::vector<std::string> scopes;  // asked for besides what the server wants
  std::uint16_t redirect_port = 0;  // 0: any free one
  std::string redirect_host{};      // "127.0.0.1", "localhost"; empty: what the server registers
  std::string resource{};           // what a token is for; empty: what the server's metadata say
  bool names_resource = true;       // "resource": false: no authorization server is told
  // Of this login, and in no file: there is no browser here, so a code is rather shown, where the
  // authorization server offers that.
  bool prefers_code = false;
  [[nodiscard]] bool has_secret() const { return !client_secret.empty() || !private_key.empty(); }
  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace mcpac::mcp::oauth
