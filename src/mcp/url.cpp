// SPDX-License-Identifier: Apache-2.0

#include "mcp/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include <boost/asio/ip/address.hpp>

#include "core/ascii.h"

namespace mcpac::mcp {
namespace {

std::unexpected<Error> refuse(std::string why) {
  return fail(ErrorId::kConfigInvalid, "the URL of a server cannot be used",
              {.why = std::move(why)});
}

bool is_host(std::string_view host) {
  return !host.empty() && host.size() <= 253 &&
         std::ranges::all_of(host, [](char c) { return is_bare(c) || c == '.'; });
}

bool is_ipv6(std::string_view host) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  return !error && address.is_v6();
}

}  // namespace

std::string Url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (tls ? 443 : 80) ? name : fmt::format("{}:{}", name, port);
}

std::string Url::text() const {
  return fmt::format("{}://{}{}", tls ? "https" : "http", authority(), target);
}

bool Url::is_same_origin(const Url& other) const {
  return tls == other.tls && host == other.host && port == other.port;
}

bool Url::is_address() const {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

Result<Url> parse_url(std::string_view text) {
  if (std::ranges::any_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= 0x20 || byte >= 0x7f || c == '\\';
      })) {
    return refuse("it holds a space, a control character or a character outside of ASCII");
  }
  Url url;
  if (text.starts_with("https://")) {
    url.tls = true;
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
  } else {
    return refuse("it does not start with http:// or https://");
  }
  text = text.substr(0, text.find('#'));
  const auto path = std::min(text.find_first_of("/?"), text.size());
  std::string_view authority = text.substr(0, path);
  url.target = text.substr(path);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  if (authority.find('@') != std::string_view::npos) {
    return refuse("it holds a user name or password; write them as a header");
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    url.host = authority.substr(1, close == std::string_view::npos ? close : close - 1);
    if (close == std::string_view::npos || !is_ipv6(url.host))
      return refuse("its host is no address");
    authority.remove_prefix(close + 1);
    if (!authority.empty() && !authority.starts_with(':')) return refuse("its port is no number");
    if (!authority.empty()) port = authority.substr(1);
  } else {
    const auto colon = authority.find(':');
    url.host = authority.substr(0, colon);
    if (!is_host(url.host)) return refuse("its host is no name");
    if (colon != std::string_view::npos) port = authority.substr(colon + 1);
  }
  url.port = url.tls ? 443 : 80;
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (error != std::errc() || end != port.data() + port.size() || url.port == 0) {
      return refuse("its port is no number from 1 to 65535");
    }
  }
  return url;
}

Result<Url> parse_location(const Url& base, std::string_view location) {
  const bool is_path = location.starts_with('/') && !location.starts_with("//");
  if (!is_path) return parse_url(location);
  Url origin = base;
  origin.target.clear();
  return parse_url(origin.text() + std::string(location));
}

}  // namespace mcpac::mcp
