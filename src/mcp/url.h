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
  [[nodiscard]] bool is_address() const;  // the host is an IP address, not a name
};

// No user information (a secret in a URL ends up in logs), no fragment, printable ASCII alone.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

}  // namespace mcpac::mcp
