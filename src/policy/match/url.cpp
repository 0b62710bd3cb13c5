// SPDX-License-Identifier: Apache-2.0

#include "policy/match/url.h"

#include <idn2.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/percent_code.h"
#include "core/uri_spelling.h"
#include "policy/match/value_parts.h"

namespace mcpac::policy {
namespace {

constexpr std::size_t kMaxUrl = 64 * 1024;
constexpr std::size_t kMaxHost = 1024;  // before percent-decoding; a name has 253 bytes at most

bool is_refused_in_url(char c) {
  return is_control(c) || c == '\\';
}

// WHATWG, "domain to ASCII": UTS #46, not transitional. libidn2 is asked only where there is
// something to map; plain ASCII is put in lower case, since STD3 rules (no underscores) are off
// there.
std::optional<std::string> to_ascii(const std::string& name,
                                    int flags = IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT) {
  const bool ascii =
      std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  std::string lowered = name;
  std::ranges::transform(lowered, lowered.begin(), to_lower);
  if (ascii && !lowered.starts_with("xn--") && lowered.find(".xn--") == std::string::npos)
    return lowered;
  // Unicode 15.1 maps the capital sharp S to "ß", what came before to "ss": two names for one text.
  if (lowered.contains("\u1E9E")) return std::nullopt;
  char* result = nullptr;
  const int code = ::idn2_to_ascii_8z(lowered.c_str(), &result, flags);
  if (code != IDN2_OK || result == nullptr) return std::nullopt;
  std::string mapped(result);
  ::idn2_free(result);
  std::ranges::transform(mapped, mapped.begin(), to_lower);
  return mapped;
}

bool is_domain(std::string_view name) {
  if (name.empty() || name.size() > 253) return false;
  std::size_t label = 0;
  for (const char c : name) {
    if (c == '.' && label == 0) return false;
    label = c == '.' ? 0 : label + 1;
    if (label > 63 || is_refused_in_url(c) ||
        std::string_view(" #/:<>?@[]^|%").find(c) != std::string_view::npos)
      return false;
  }
  return label > 0;
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

// WHATWG, "IPv4 number parser": decimal, octal with 0, hexadecimal with 0x.
std::optional<std::uint64_t> ipv4_number(std::string_view part) {
  if (part.empty()) return std::nullopt;
  int base = 10;
  if (part.size() >= 2 && part[0] == '0' && to_lower(part[1]) == 'x') {
    part.remove_prefix(2);
    base = 16;
  } else if (part.size() >= 2 && part[0] == '0') {
    part.remove_prefix(1);
    base = 8;
  }
  if (part.empty()) return 0;
  std::uint64_t value = 0;
  const char* end = part.data() + part.size();
  const auto parsed = std::from_chars(part.data(), end, value, base);
  if (parsed.ptr != end) return std::nullopt;
  return parsed.ec == std::errc{} ? value : std::uint64_t{1} << 40U;  // a number, and too large
}

// WHATWG, "ends in a number checker".
bool ends_in_number(std::string_view name) {
  const auto last = parts_of(name).back();
  return (!last.empty() && std::ranges::all_of(last, is_digit)) || ipv4_number(last).has_value();
}

std::optional<IpAddress> ipv4(std::string_view name) {
  const auto parts = parts_of(name);
  if (parts.size() > 4) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = ipv4_number(parts[i]);
    if (!number) return std::nullopt;
    const bool last = i + 1 == parts.size();
    const std::size_t free_bytes = last ? 5 - parts.size() : 1;
    if (*number >> (8 * free_bytes) != 0) return std::nullopt;
    value |= last ? *number : *number << (8 * (3 - i));
  }
  IpAddress address;
  address.v4 = true;
  for (std::size_t i = 0; i < 4; ++i)
    address.bytes[i] = static_cast<std::uint8_t>(value >> (8 * (3 - i)));
  return address;
}

// ":8080" or nothing; an empty port is the default one.
std::optional<std::uint16_t> read_port(std::string_view text, std::uint16_t fallback) {
  if (text.empty() || text == ":") return fallback;
  unsigned port = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + 1, end, port);
  if (text[0] != ':' || !is_digit(text[1]) || parsed.ec != std::errc{} || parsed.ptr != end ||
      port > 65535)
    return std::nullopt;
  return static_cast<std::uint16_t>(port);
}

}  // namespace

std::uint16_t default_port(std::string_view scheme) {
  if (scheme == "http" || scheme == "ws") return 80;
  if (scheme == "https" || scheme == "wss") return 443;
  return scheme == "ftp" ? 21 : 0;
}

// RFC 6761, and the hosts files of Debian, Fedora and older systems.
bool is_localhost(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "localhost",  "localhost.localdomain",   "localhost4",    "localhost4.localdomain4",
      "localhost6", "localhost6.localdomain6", "ip6-localhost", "ip6-loopback",
      "loopback"};
  return std::ranges::find(kNames, name) != std::end(kNames) || name.ends_with(".localhost");
}

namespace {

// Names of what stands inside, and where: metadata services by the pages of their clouds, the host
// of containers by those of Docker, Podman, Lima and minikube.
constexpr std::pair<std::string_view, const char*> kInnerNames[] = {
    {"metadata", "169.254.169.254"},
    {"metadata.google.internal", "169.254.169.254"},
    {"metadata.google.internal", "fd20:ce::254"},
    {"metadata.goog", "169.254.169.254"},
    {"instance-data", "169.254.169.254"},
    {"instance-data.ec2.internal", "169.254.169.254"},
    {"metadata.azure.internal", "169.254.169.254"},
    {"metadata.tencentyun.com", "169.254.0.23"},
    {"kubernetes.docker.internal", "127.0.0.1"},
    {"host.docker.internal", "127.0.0.1"},
    {"host.docker.internal", "172.17.0.1"},
    {"host.docker.internal", "192.168.65.254"},
    {"gateway.docker.internal", "127.0.0.1"},
    {"gateway.docker.internal", "192.168.65.1"},
    {"host.containers.internal", "127.0.0.1"},
    {"host.containers.internal", "10.0.2.2"},
    {"host.containers.internal", "169.254.1.2"},
    {"host.lima.internal", "127.0.0.1"},
    {"host.lima.internal", "192.168.5.2"},
    {"host.minikube.internal", "127.0.0.1"},
    {"host.minikube.internal", "192.168.49.1"},
};

}  // namespace

std::vector<IpAddress> addresses_reached(std::string_view name) {
  static const std::vector<IpAddress> kLoopback = {*parse_ipv4("127.0.0.1"), *parse_ipv6("::1")};
  if (is_localhost(name)) return kLoopback;
  std::vector<IpAddress> reached;
  for (const auto& [known, text] : kInnerNames) {
    if (known != name) continue;
    const auto v4 = parse_ipv4(text);
    reached.push_back(v4 ? *v4 : parse_ipv6(text).value());
  }
  return reached;
}

namespace {

// A host before it is compared: not unwrapped, with the dot at its end.
struct WrittenHost {
  Host host;
  bool trailing_dot = false;
};

std::optional<WrittenHost> written_host(std::string_view text) {
  if (text.empty() || text.size() > kMaxHost) return std::nullopt;
  if (text.front() == '[') {
    if (text.back() != ']') return std::nullopt;
    const auto address = parse_ipv6(text.substr(1, text.size() - 2));
    if (!address) return std::nullopt;
    return WrittenHost{*address};
  }
  const std::string decoded = percent_decoded(text);
  if (decoded.find('\0') != std::string::npos) return std::nullopt;
  auto name = to_ascii(decoded);
  if (!name) return std::nullopt;
  const bool trailing_dot = name->ends_with('.');
  if (trailing_dot) name->pop_back();
  if (!is_domain(*name)) return std::nullopt;
  if (!ends_in_number(*name)) return WrittenHost{std::move(*name), trailing_dot};
  const auto address = ipv4(*name);
  if (!address) return std::nullopt;
  return WrittenHost{*address};
}

Host compared(const Host& host) {
  const auto* address = std::get_if<IpAddress>(&host);
  return address == nullptr ? host : Host(unwrap(*address));
}

std::string text_of(const WrittenHost& written) {
  const auto* name = std::get_if<std::string>(&written.host);
  if (name == nullptr) return to_text(std::get<IpAddress>(written.host));
  return written.trailing_dot ? *name + "." : *name;
}

}  // namespace

std::optional<Host> read_host(std::string_view text) {
  const auto written = written_host(text);
  if (!written) return std::nullopt;
  return compared(written->host);
}

namespace {

// "127.0.0.08", "0127.1", "425.510.425.510": leading zeros are octal to some and decimal to others,
// and what runs over is cut to its lowest bytes.
std::optional<IpAddress> loose_ipv4(std::string_view name, bool has_octal) {
  const auto parts = parts_of(name);
  if (parts.size() > 4) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    if (part.empty()) return std::nullopt;
    const bool is_hex = part.size() > 2 && part[0] == '0' && to_lower(part[1]) == 'x';
    const unsigned base = is_hex ? 16 : has_octal && part.size() > 1 && part[0] == '0' ? 8 : 10;
    if (is_hex) part.remove_prefix(2);
    std::uint64_t number = 0;
    for (const char c : part) {
      const int digit = hex_value(c);
      if (digit < 0 || static_cast<unsigned>(digit) >= base) return std::nullopt;
      number = number * base + static_cast<unsigned>(digit);
    }
    const bool last = i + 1 == parts.size();
    const std::size_t bits = 8 * (last ? 5 - parts.size() : 1);
    number &= (std::uint64_t{1} << bits) - 1;
    value |= last ? number : number << (8 * (3 - i));
  }
  IpAddress address;
  address.v4 = true;
  for (std::size_t i = 0; i < 4; ++i)
    address.bytes[i] = static_cast<std::uint8_t>(value >> (8 * (3 - i)));
  return address;
}

// Names of letters, whose last label is no number: all parsers read them alike.
bool is_read_alike(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return is_word(c) || c == '-' || c == '.'; }) &&
         !text.ends_with("..") &&
         !ends_in_number(text.ends_with('.') ? text.substr(0, text.size() - 1) : text);
}

// Without the joiners of writing systems, which older tables leave out.
std::string without_joiners(std::string text) {
  for (const std::string_view joiner : {"\u200C", "\u200D"}) {
    for (auto at = text.find(joiner); at != text.npos; at = text.find(joiner, at))
      text.erase(at, joiner.size());
  }
  return text;
}

}  // namespace

std::vector<Host> hosts_meant(std::string_view text) {
  std::vector<Host> hosts;
  const auto add = [&](std::optional<Host> host) {
    if (host && std::ranges::find(hosts, *host) == hosts.end()) hosts.push_back(std::move(*host));
  };
  add(read_host(text));
  if (text.empty() || text.size() > kMaxHost || (!hosts.empty() && is_read_alike(text)))
    return hosts;
  if (text.front() == '[') {
    text.remove_prefix(1);
    text = text.substr(0, text.find(']'));
    if (lowered(text.substr(0, kTagOfMail.size())) == kTagOfMail)
      text.remove_prefix(kTagOfMail.size());
  }
  if (std::ranges::count(text, ':') > 1) {
    const auto address = parse_ipv6(text.substr(0, text.find('%')));
    if (address) add(unwrap(*address));
    return hosts;
  }
  std::string name = percent_decoded(text);
  name = name.substr(0, name.find('%'));
  while (name.ends_with('.')) name.pop_back();
  add(read_host(name));
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    name = without_joiners(std::move(name));
    add(read_host(name));
    if (const auto old = to_ascii(name, IDN2_TRANSITIONAL | IDN2_NFC_INPUT)) add(read_host(*old));
    if (const auto ascii = to_ascii(name)) name = *ascii;
  }
  if (name.empty() || !ends_in_number(name)) return hosts;
  for (const bool has_octal : {true, false}) add(loose_ipv4(name, has_octal));
  return hosts;
}

bool begins_as_url(std::string_view text) {
  // No scheme is longer ("ms-secondary-screen-controller").
  constexpr std::size_t kLongest = 64;
  const auto is_slash = [&](std::size_t at) {
    return at < text.size() && (text[at] == '/' || text[at] == '\\');
  };
  const auto scheme = scheme_length(text.substr(0, kLongest));
  const std::size_t begin = scheme == 0 ? 0 : scheme + 1;
  if (is_slash(begin) && is_slash(begin + 1)) return true;
  return scheme > 0 && default_port(lowered(text.substr(0, scheme))) != 0;
}

std::vector<std::string_view> listed_urls(std::string_view text) {
  const auto may_part = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x20 || byte >= 0x80 || std::string_view(",;|&").contains(c);
  };
  if (std::ranges::none_of(text, may_part) || std::ranges::any_of(text, is_control)) return {text};
  std::vector<std::string_view> urls;
  std::size_t begin = 0;
  std::size_t end = 0;  // of the item before
  for (const auto& [item, is_listed] : list_items(text)) {
    const auto at = static_cast<std::size_t>(item.data() - text.data());
    if (end > 0 && begins_as_url(item)) {
      urls.push_back(text.substr(begin, end - begin));
      begin = at;
    }
    end = at + item.size();
  }
  urls.push_back(text.substr(begin));
  return urls;
}

// In the text that is sent: plain dot segments are gone there, and codes without a need.
bool is_path_read_apart(const Url& url) {
  static const RE2 kApart(dot_segment_pattern("/") + "|" + std::string(kControlCode) + "|" +
                          std::string(kNeedlessCode));
  const std::string_view written =
      std::string_view(url.rest).substr(0, url.rest.find_first_of("?#"));
  const auto is_plain = [](char c) {
    return is_word(c) || std::string_view("/.-~,:=+").contains(c);
  };
  if (std::ranges::all_of(written, is_plain)) return false;
  const std::string sent = url.sent_text();
  const auto begin = sent.find('/', sent.find("://") + 3);
  std::string_view path = std::string_view(sent).substr(std::min(begin, sent.size()));
  return RE2::PartialMatch(path.substr(0, path.find_first_of("?#")), kApart);
}

std::optional<Url> read_url(std::string_view text, PathMust path) {
  if (text.size() > kMaxUrl || std::ranges::any_of(text, is_control) || text.starts_with(' ') ||
      text.ends_with(' ')) {
    return std::nullopt;
  }
  const auto colon = text.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  Url url;
  url.scheme = text.substr(0, colon);
  std::ranges::transform(url.scheme, url.scheme.begin(), to_lower);
  url.default_port = default_port(url.scheme);
  if (url.default_port == 0) return std::nullopt;
  auto authority = text.substr(colon + 3);
  const auto end = std::min(authority.find_first_of("/?#"), authority.size());
  url.rest = authority.substr(end);
  authority = authority.substr(0, end);
  // Behind a path, in a query, a backslash is one to every parser.
  const auto clear = url.rest.starts_with('/') ? url.rest.find_first_of("?#") : url.rest.npos;
  const std::string_view front = std::string_view(url.rest).substr(0, clear);
  if (authority.contains('\\') || front.contains('\\')) return std::nullopt;
  if (authority.find('@') != std::string_view::npos) return std::nullopt;
  const auto bracket = authority.find(']');
  const auto port_at = authority.find(
      ':', authority.starts_with('[') && bracket != std::string_view::npos ? bracket : 0);
  const auto host_text = authority.substr(0, port_at);
  const auto host = written_host(host_text);
  const auto port = read_port(port_at == std::string_view::npos ? "" : authority.substr(port_at),
                              url.default_port);
  if (!host || !port) return std::nullopt;
  url.host = compared(host->host);
  url.host_text = text_of(*host);
  url.port = *port;
  if (path == PathMust::kBeClear && is_path_read_apart(url)) return std::nullopt;
  return url;
}

std::optional<Url> read_url_of_user(std::string_view text) {
  const auto colon = text.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  const auto begin = colon + 3;
  const auto end = std::min(text.find_first_of("/?#\\", begin), text.size());
  const auto user = text.substr(begin, end - begin);
  const auto at = user.find('@');
  if (at == std::string_view::npos || at != user.rfind('@')) return std::nullopt;
  if (std::ranges::any_of(user.substr(0, at), [](char c) { return c == ' ' || is_control(c); }))
    return std::nullopt;
  return read_url(std::string(text.substr(0, begin)).append(text.substr(begin + at + 1)),
                  PathMust::kBeAnything);
}

}  // namespace mcpac::policy
