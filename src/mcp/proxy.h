// SPDX-License-Identifier: Apache-2.0

// Proxies: choice of a proxy for a connection to an HTTP server, by HTTPS_PROXY, HTTP_PROXY,
// ALL_PROXY and NO_PROXY of the environment, as curl reads them (lower case wins; empty is not
// set).
//
// This machine is never behind a proxy: loopback addresses, "localhost" and names below it. A value
// that cannot be used is an Error, never a direct connection. No error has a value in it: a proxy's
// URL may hold a password. Why and how far the guards of addresses hold: docs/adr/0056.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "mcp/secrets.h"
#include "mcp/url.h"

namespace mcpac::mcp {

struct Proxy {
  std::string variable;       // that names it: "HTTPS_PROXY"
  Url url{};                  // of the proxy; http alone
  std::string authorization;  // of Proxy-Authorization; empty without credentials. Never logged
  // "host:port", for people.
  [[nodiscard]] std::string place() const;
};

// A variable of the environment; nothing where it is not set.
using Variable = std::function<std::optional<std::string>(const char* name)>;
[[nodiscard]] std::optional<std::string> process_variable(const char* name);

// Nothing: straight to the host. kConfigInvalid names the variable.
[[nodiscard]] Result<std::optional<Proxy>> proxy_for(const Url& url,
                                                     const Variable& variable = process_variable);

// Passwords of proxies in our environment, which servers get and may repeat: they are redacted.
void know_proxies(SecretValues& secrets);

// A name of the network's own settings, that servers get: *_PROXY and *_proxy, and what names
// certificate authorities for OpenSSL, Node, Python, curl, git and their like (environment.h).
[[nodiscard]] bool is_network_variable(std::string_view name);

// What to do about a server that wrote this before it failed; empty where that says nothing of a
// network.
[[nodiscard]] std::string network_advice(std::string_view last_lines);

}  // namespace mcpac::mcp
