// SPDX-License-Identifier: Apache-2.0

// Url: an http or https URL, taken apart for a client. Strict: what it does not understand is
// refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace mcpac::mcp {

struct Url {
  bool tls = false;
  std::string host;        // without the brackets of an IPv6 address
  std::uint16_t port = 0;  // 443 or 80 when the text has none
  std::string target;      // path and query, at least "/"

  // For the header Host: brackets and a port that is not the usual one.
  [[nodiscard]] std::string authority() const;
  [[nodiscard]] std::string text() const;
  // Scheme, host and port are the same.
  [[nodiscard]] bool is_same_origin(const Url& other) const;
  [[nodiscard]] bool is_address() const;  // the host is an IP address, not a name
};

// No user information (a secret in a URL ends up in logs), no fragment, printable ASCII alone.
[[nodiscard]] Result<Url> parse_url(std::string_view text);
// What a Location header of an answer from `base` names: a URL, or a path of the same origin. Other
// relative references are refused.
[[nodiscard]] Result<Url> parse_location(const Url& base, std::string_view location);

}  // namespace mcpac::mcp
