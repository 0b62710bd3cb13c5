// Url: a URL read once, as WHATWG reads special URLs, with everything refused that parsers read
// apart.
//
// Refused: any scheme but http, https, ws, wss and ftp; anything but exactly "://" behind it;
// control bytes, backslashes and blanks at the ends; userinfo; an empty host; a host that is no
// name and no address; names that versions of IDNA read apart (A-labels that do not decode,
// symbols, the capital sharp S); a path with encoded control bytes, or with dots beside an encoded
// slash (core/uri_spelling.h). Sources: url.spec.whatwg.org (host parsing, IPv4 and IPv6 parsers),
// UTS #46, RFC 5890.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "policy/match/ip_network.h"

namespace mcpac::policy {

// A name in lower case, IDNA A-labels, without the trailing dot; or an address, unwrapped.
using Host = std::variant<std::string, IpAddress>;

struct Url {
  std::string scheme;
  Host host;
  std::uint16_t port = 0;
  std::uint16_t default_port = 0;
  std::string rest;  // path, query and fragment as they were written; may be empty

  // As WHATWG writes it ("URL serializing"): what every parser reads alike.
  [[nodiscard]] std::string text() const;
  // What is sent: the same, and what is encoded without a need is not (RFC 3986, 6.2.2.2).
  [[nodiscard]] std::string sent_text() const;

  // The host as it is sent: an address that is not unwrapped, a name with the dot that it ends in.
  std::string host_text;
};

[[nodiscard]] std::optional<Url> read_url(std::string_view text);
// What stands in a URL as host; IPv6 in square brackets.
[[nodiscard]] std::optional<Host> read_host(std::string_view text);
// Matches, in full, a URL whose path is read in several ways: empty segments, which many servers
// leave out ("https://" within a path aside), and what core/uri_spelling.h names. RE2's syntax.
[[nodiscard]] std::string path_read_apart_pattern();
// localhost and its subdomains are addresses in all but spelling.
[[nodiscard]] bool is_localhost(std::string_view name);
[[nodiscard]] std::uint16_t default_port(std::string_view scheme);  // 0: no scheme that we take

}  // namespace mcpac::policy
