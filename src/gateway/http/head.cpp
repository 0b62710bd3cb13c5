// SPDX-License-Identifier: Apache-2.0

#include "gateway/http/head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/ascii.h"

namespace mcpac::gateway::http {
namespace {

// What is decided by, or by what others before us may decide.
struct Name {
  Field known;  // as the parser knows it
  std::string_view text;
};
constexpr std::array<Name, 9> kOnce = {{{Field::authorization, "Authorization"},
                                        {Field::content_type, "Content-Type"},
                                        {Field::content_length, "Content-Length"},
                                        {Field::transfer_encoding, "Transfer-Encoding"},
                                        {Field::unknown, "Mcp-Session-Id"},
                                        {Field::unknown, "MCP-Protocol-Version"},
                                        {Field::unknown, "Mcp-Method"},
                                        {Field::unknown, "Mcp-Name"},
                                        {Field::unknown, "Last-Event-ID"}}};

bool are_alike(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, [](char a, char b) { return to_lower(a) == to_lower(b); });
}

bool is_named(const Head::value_type& one, const Name& name) {
  if (one.name() != name.known) return false;
  if (name.known != Field::unknown) return true;
  const auto text = one.name_string();
  return are_alike({text.data(), text.size()}, name.text);
}

// The first one that stands there, found by going through them: there are a dozen.
std::string_view first_named(const Head& head, const Name& name) {
  for (const auto& one : head) {
    if (!is_named(one, name)) continue;
    const auto value = one.value();
    return {value.data(), value.size()};
  }
  return {};
}

// "127.0.0.1:PORT" and its like.
bool is_ours(std::string_view authority, const OurNames& names) {
  const std::uint16_t usual = names.tls ? 443 : 80;  // which an authority leaves out
  return std::ranges::any_of(names.hosts, [&](std::string_view host) {
    if (!are_alike(authority.substr(0, host.size()), host)) return false;
    const std::string_view port = authority.substr(host.size());
    return port.empty() ? names.port == usual
                        : port.front() == ':' && port.substr(1) == std::to_string(names.port);
  });
}

bool is_public_host(std::string_view authority, const PublicUrl& url) {
  if (!are_alike(authority.substr(0, url.host.size()), url.host)) return false;
  const std::string_view port = authority.substr(url.host.size());
  return port.empty() || (port.front() == ':' && port.substr(1) == std::to_string(url.port));
}

bool is_public_origin(std::string_view origin, const PublicUrl& url) {
  const std::string_view scheme = url.tls ? "https://" : "http://";
  if (!origin.starts_with(scheme) || !is_public_host(origin.substr(scheme.size()), url))
    return false;
  // The origin of a page leaves out the usual port, and no other.
  return origin.size() > scheme.size() + url.host.size() || url.port == (url.tls ? 443 : 80);
}

// As it may be repeated in an answer, and in an option: a name or an address, perhaps with a port.
bool is_plain_authority(std::string_view text) {
  constexpr std::size_t kLongest = 260;
  return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, [](char c) {
    return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z') ||
           std::string_view(".-_:[]").find(c) != std::string_view::npos;
  });
}

std::string_view without_port(std::string_view authority) {
  const auto colon = authority.rfind(':');
  const bool is_port = colon != std::string_view::npos && !authority.ends_with(']');
  return is_port ? authority.substr(0, colon) : authority;
}

// The advice is for the operator of this door, who reads what its client or its proxy was answered.
Refusal wrong_host(std::string_view authority, const OurNames& names) {
  if (!is_plain_authority(authority))
    return {403,
            "the header Host is no name of this door: --host NAME of mcpac serve gives it one"};
  const std::string_view host = without_port(authority);
  const bool is_known =
      std::ranges::any_of(names.hosts, [&](std::string_view own) { return are_alike(own, host); });
  const std::string before = fmt::format("the header Host says {}, and ", authority);
  const std::string proxy =
      fmt::format("--public-url https://{}, where a proxy before it is reached by that", authority);
  if (is_known)
    return {403, fmt::format("{}this door listens on port {}: mcpac serve {}", before, names.port,
                             proxy)};
  return {403,
          fmt::format("{}this door has no such name. If it is yours: mcpac serve --host {}, or {}",
                      before, host, proxy)};
}

Refusal wrong_origin(std::string_view origin) {
  const std::string_view scheme = origin.starts_with("https://")  ? "https://"
                                  : origin.starts_with("http://") ? "http://"
                                                                  : "";
  if (scheme.empty() || !is_plain_authority(origin.substr(scheme.size())))
    return {403,
            "the header Origin is that of no page of this door, and no option of mcpac serve "
            "lets it in: pages of other origins may not speak to this server"};
  return {403,
          fmt::format("the header Origin says {}: pages of other origins may not speak to this "
                      "server. If it is yours: mcpac serve --public-url {}",
                      origin, origin)};
}

bool has_media_type(std::string_view list, std::string_view wanted) {
  for (std::string_view rest = list; !rest.empty();) {
    std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    item = item.substr(0, item.find(';'));
    while (item.starts_with(' ') || item.starts_with('\t')) item.remove_prefix(1);
    while (item.ends_with(' ') || item.ends_with('\t')) item.remove_suffix(1);
    if (are_alike(item, wanted) || item == "*/*") return true;
  }
  return false;
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// Text before the separator; `text` goes on behind it.
std::string_view take_until(std::string_view& text, char separator) {
  const std::string_view piece = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(piece.size() + 1, text.size()));
  return without_blanks(piece);
}

// "q=0" says that this is not wanted; every other weight, that it is.
bool is_excluded(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view one = take_until(parameters, ';');
    if (one.size() < 3 || to_lower(one[0]) != 'q' || one[1] != '=') continue;
    return one.substr(2).find_first_not_of("0.") == std::string_view::npos;
  }
  return false;
}

// By the range that names the type most closely; nothing: none does.
struct Acceptance {
  int closeness = 0;  // 3: the type itself, 2: "application/*", 1: "*/*"
  bool is_wanted = false;

  void add(std::string_view range, std::string_view type, bool wanted) {
    const std::string_view family = type.substr(0, type.find('/') + 1);
    const bool is_family =
        range.ends_with("/*") && are_alike(range.substr(0, range.size() - 1), family);
    const int close = are_alike(range, type) ? 3 : is_family ? 2 : range == "*/*" ? 1 : 0;
    if (close == 0 || close < closeness) return;
    is_wanted = close == closeness ? is_wanted || wanted : wanted;
    closeness = close;
  }
};

// Occurrences of each of kOnce.
std::array<std::size_t, kOnce.size()> counts_in(const Head& head) {
  std::array<std::size_t, kOnce.size()> counts{};
  for (const auto& one : head) {
    for (std::size_t i = 0; i < kOnce.size(); ++i) {
      if (is_named(one, kOnce[i])) ++counts[i];
    }
  }
  return counts;
}

std::optional<Refusal> refuse_framing(const Head& head) {
  const auto counts = counts_in(head);
  const auto* const several =
      std::ranges::find_if(counts, [](std::size_t count) { return count > 1; });
  if (several != counts.end()) {
    const Name& name = kOnce[static_cast<std::size_t>(several - counts.begin())];
    return Refusal{400, fmt::format("the header {} stands more than once", name.text)};
  }
  const auto has = [&](Field name) {
    const auto* const at = std::ranges::find(kOnce, name, &Name::known);
    return counts[static_cast<std::size_t>(at - kOnce.begin())] > 0;
  };
  // A list of equal lengths may be one length to others (RFC 9110, section 8.6).
  const std::string_view length = field(head, Field::content_length);
  if (has(Field::content_length) &&
      (length.empty() || length.find_first_not_of("0123456789") != std::string_view::npos))
    return Refusal{400, "the length of the body is not one number"};
  // An empty one says nothing to us, and something to others before us.
  if (!has(Field::transfer_encoding)) return std::nullopt;
  const std::string_view encoding = field(head, Field::transfer_encoding);
  if (lower(encoding) != "chunked") return Refusal{400, "the only transfer coding is chunked"};
  if (has(Field::content_length)) return Refusal{400, "the end of the body is said in two ways"};
  return std::nullopt;
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), to_lower);
  return out;
}

std::string_view field(const Head& head, Field name) {
  return first_named(head, {name, ""});
}

std::string_view field(const Head& head, std::string_view name) {
  return first_named(head, {Field::unknown, name});
}

std::optional<std::string_view> bearer(const Head& head) {
  constexpr std::string_view kScheme = "bearer ";
  std::string_view value = field(head, Field::authorization);
  if (lower(value.substr(0, kScheme.size())) != kScheme) return std::nullopt;
  value.remove_prefix(kScheme.size());
  while (value.starts_with(' ')) value.remove_prefix(1);
  return value;
}

std::vector<std::string> names_of(const boost::asio::ip::address& address) {
  if (address.is_unspecified()) return {};
  const std::string text = address.to_string();
  std::vector<std::string> names{address.is_v6() ? "[" + text + "]" : text};
  if (text == "127.0.0.1" || text == "::1") names.emplace_back("localhost");
  return names;
}

Refusal token_is_over() {
  Refusal refusal(401, "the token is over, or was taken back");
  refusal.challenge = "error=\"invalid_token\"";
  return refusal;
}

std::optional<Refusal> refuse_head(const Head& head, const OurNames& names) {
  // Proxies speak HTTP/1.0 to what is behind them unless they are told otherwise (nginx).
  if (head.version() != 11 && head.version() != 10)
    return Refusal{505, "HTTP/1.1 and 1.0 are spoken here"};
  if (auto refusal = refuse_framing(head)) return refusal;
  if (head.version() == 10 && head.count(Field::transfer_encoding) > 0)
    return Refusal{400, "HTTP/1.0 has no transfer codings"};
  if (head.count(Field::host) != 1) return Refusal{400, "one Host is wanted"};
  const std::string_view host = field(head, Field::host);
  if (!is_ours(host, names) &&
      std::ranges::none_of(names.urls, [&](const auto& url) { return is_public_host(host, url); }))
    return wrong_host(host, names);
  if (head.count(Field::origin) > 1) return Refusal{400, "the header Origin stands more than once"};
  if (head.count(Field::origin) == 1) {
    const std::string_view origin = field(head, Field::origin);
    const std::string_view scheme = names.tls ? "https://" : "http://";
    const bool is_own = origin.starts_with(scheme) && is_ours(origin.substr(scheme.size()), names);
    if (!is_own && std::ranges::none_of(
                       names.urls, [&](const auto& url) { return is_public_origin(origin, url); }))
      return wrong_origin(origin);
  }
  return std::nullopt;
}

bool has_body(const Head& head) {
  return head.count(Field::transfer_encoding) > 0 ||
         field(head, Field::content_length).find_first_not_of('0') != std::string_view::npos;
}

std::optional<Refusal> refuse_post(const Head& head) {
  if (head.count(Field::content_encoding) > 0)
    return Refusal{415, "a body comes as it is, without a coding"};
  const std::string_view type = field(head, Field::content_type);
  if (type.find(',') != std::string_view::npos || type.find('*') != std::string_view::npos ||
      !has_media_type(type, "application/json"))
    return Refusal{415, "the body must be application/json"};
  const Accepted accepted = accepted_by(head);
  if (!accepted.json && !accepted.events)
    return Refusal{406, "the header Accept takes neither application/json nor text/event-stream"};
  return std::nullopt;
}

Accepted accepted_by(const Head& head) {
  Acceptance json;
  Acceptance events;
  bool says_something = false;
  for (const auto& one : head) {
    if (one.name() != Field::accept) continue;
    for (std::string_view list(one.value().data(), one.value().size()); !list.empty();) {
      std::string_view item = take_until(list, ',');
      if (item.empty()) continue;
      says_something = true;
      const std::string_view range = take_until(item, ';');
      const bool wanted = !is_excluded(item);
      json.add(range, "application/json", wanted);
      events.add(range, "text/event-stream", wanted);
    }
  }
  if (!says_something) return {true, true};
  return {json.is_wanted, events.is_wanted};
}

bool is_for_endpoint(const Head& head) {
  std::string_view target(head.target().data(), head.target().size());
  if (target.size() == kEndpoint.size() + 1 && target.ends_with('/')) target.remove_suffix(1);
  return target == kEndpoint;
}

}  // namespace mcpac::gateway::http
