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

// How often each of kOnce stands there.
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
  if (head.version() != 11) return Refusal{505, "HTTP/1.1 is spoken here"};
  if (auto refusal = refuse_framing(head)) return refusal;
  if (head.count(Field::host) != 1) return Refusal{400, "one Host is wanted"};
  if (!is_ours(field(head, Field::host), names))
    return Refusal{403, "the header Host names somebody else"};
  if (head.count(Field::origin) > 1) return Refusal{400, "the header Origin stands more than once"};
  if (head.count(Field::origin) == 1) {
    const std::string_view origin = field(head, Field::origin);
    const std::string_view scheme = names.tls ? "https://" : "http://";
    if (!origin.starts_with(scheme) || !is_ours(origin.substr(scheme.size()), names))
      return Refusal{403, "pages of other origins may not speak to this server"};
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
  const std::string_view accept = field(head, Field::accept);
  if (!has_media_type(accept, "application/json") || !has_media_type(accept, "text/event-stream"))
    return Refusal{406, "a client must accept application/json and text/event-stream"};
  return std::nullopt;
}

bool accepts_events(const Head& head) {
  return has_media_type(field(head, Field::accept), "text/event-stream");
}

}  // namespace mcpac::gateway::http
