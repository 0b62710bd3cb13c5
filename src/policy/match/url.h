// SPDX-License-Identifier: Apache-2.0

// Url: a URL read once, as WHATWG reads special URLs, with everything refused that parsers read
// apart; and which URLs and hosts any string may name.
//
// Refused: any scheme but http, https, ws, wss and ftp; anything but exactly "://" behind it;
// control bytes, blanks at the ends, backslashes in front of a query; userinfo; an empty host; a
// host that is no name and no address; names that versions of IDNA read apart (A-labels that do not
// decode, symbols, the capital sharp S); a path with encoded control bytes, or with a segment that
// some server takes for "." or ".." (core/uri_spelling.h). Sources: url.spec.whatwg.org (host
// parsing, IPv4 and IPv6 parsers), UTS #46, RFC 5890.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

// Whether a path that servers read in several ways is refused, or is no matter: of tests that look
// at nothing but the host.
enum class PathMust : std::uint8_t { kBeClear, kBeAnything };
[[nodiscard]] std::optional<Url> read_url(std::string_view text,
                                          PathMust path = PathMust::kBeClear);
// Host as written in a URL; IPv6 in square brackets.
[[nodiscard]] std::optional<Host> read_host(std::string_view text);
// Whether servers read its path in several ways (core/uri_spelling.h).
[[nodiscard]] bool is_path_read_apart(const Url& url);
// In front of an IPv6 address in square brackets (RFC 5321, 4.1.3), in lower case.
constexpr std::string_view kTagOfMail = "ipv6:";
// Every host that some parser takes a text for; the one of read_host() first, where it reads one.
// Leading zeros as decimal numbers, numbers that run over, a zone behind an address, dots at the
// end, addresses with brackets or without, characters that only newer tables of IDNA keep.
[[nodiscard]] std::vector<Host> hosts_meant(std::string_view text);
// localhost, its subdomains and its other names in hosts files are addresses in all but spelling.
[[nodiscard]] bool is_localhost(std::string_view name);
// Of a name whose addresses no name server is asked for, or that leads inside wherever it is known:
// this machine's names in hosts files, metadata services, a container's host. Empty for others.
[[nodiscard]] std::vector<IpAddress> addresses_reached(std::string_view name);
[[nodiscard]] std::uint16_t default_port(std::string_view scheme);  // 0: no scheme that we take

// A host that is named in another way than by a URL of our schemes. What the text leaves open may
// be anything.
struct NamedHost {
  std::string scheme;  // in lower case: "ssh", "git+https"; empty: none is written
  Host host;
  std::optional<std::uint16_t> port;
};

// The URLs in a text that servers may take for a list: another one begins where a scheme or "//"
// stands behind what parts items of lists (value_parts.h). Mostly one, the text. A text with
// control bytes is one: no URL has any.
[[nodiscard]] std::vector<std::string_view> listed_urls(std::string_view text);
// Whether a text begins as URLs do: a scheme and "//", "//" alone, or a scheme of ours. Slashes may
// be backslashes.
[[nodiscard]] bool begins_as_url(std::string_view text);

struct UrlReadings {
  std::vector<Url> urls;  // each is what some parser reads; paths may be read apart
  bool unclear = false;   // whatever the test, it may hold
  std::vector<NamedHost> hosts;
  std::size_t looked_at = 0;  // bytes, for where authorities end: a small multiple of the text
};

// Purpose of a text: in what a shell or a program reads, each name with a dot may be a host.
enum class TextIs : std::uint8_t { kUnknown, kCommand };

// URLs whose authorities a deny or ask finds in a text: those of our schemes, whatever stands
// around them, and with blanks and control bytes left out; other ways to name a host ("ssh://h",
// "//h", "git@h:path", "h:443", "h/path", "key=h", "--key h", "-xh", "/dev/tcp/h/80"), also in
// lists, with quotes and escapes in them; and names alone, which have a dot, where no prose stands
// around them. A text that begins as URLs do, and that parsers read apart, is unclear, and caught.
// What stands in the path of a URL names nothing, and in its query the targets that it leads on to:
// parameters that are URLs, but for what is searched for, and hosts in those that are called so.
[[nodiscard]] UrlReadings url_readings(std::string_view text, TextIs is = TextIs::kUnknown);

// Words of a text as the search reads them (url_words.cpp): separators, and each way to read the
// words of the text, with whether it is prose.
[[nodiscard]] bool ends_word(char c);
// A text with slashes for backslashes, and blanks for the blanks, quotes and brackets of Unicode.
[[nodiscard]] std::string with_plain_blanks(std::string_view text);
// Whose operands the words of a text are, from a place on: "curl x", "npm install x". Commands part
// as a shell parts them; a quoted text is an operand, and may be commands of its own.
struct OperandPlace {
  std::size_t at = 0;        // bytes
  bool of_network = false;   // of a program that connects to what they name
  bool of_packages = false;  // of a package manager: "name@10.0.0" is a version
};
struct WordText {
  std::string text;
  bool is_prose = false;
  bool is_unclear = false;                // it stands for more words than are read
  std::vector<OperandPlace> places = {};  // where that changes, in order
};
[[nodiscard]] std::vector<WordText> word_texts(std::string_view text, TextIs is);

// "https://user:word@h/x": the URL without the user, where no parser takes another host for it.
[[nodiscard]] std::optional<Url> read_url_of_user(std::string_view text);

}  // namespace mcpac::policy
