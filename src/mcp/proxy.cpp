// SPDX-License-Identifier: Apache-2.0

#include "mcp/proxy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "core/ascii.h"
#include "core/percent_code.h"
#include "mcp/oauth/pkce.h"

namespace mcpac::mcp {
namespace ip = boost::asio::ip;
namespace {

std::optional<ip::address> address_of(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  boost::system::error_code error;
  auto address = ip::make_address(text, error);
  if (error) return std::nullopt;
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = ip::make_address_v4(ip::v4_mapped, address.to_v6());
  return address;
}

std::string host_in_words(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  return lowered(host);
}

bool is_this_machine(const std::string& host) {
  if (const auto address = address_of(host))
    return address->is_loopback() || address->is_unspecified();
  return host == "localhost" || host.ends_with(".localhost");
}

// "10.0.0.0/8".
bool is_in_block(const ip::address& address, std::string_view block) {
  const auto slash = block.find('/');
  const auto first = address_of(block.substr(0, slash));
  unsigned short bits = 0;
  const auto text = block.substr(slash + 1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (!first || error != std::errc() || end != text.data() + text.size()) return false;
  if (first->is_v4() != address.is_v4() || bits > (first->is_v4() ? 32 : 128)) return false;
  if (address.is_v4())
    return ip::network_v4(address.to_v4(), bits).network() ==
           ip::network_v4(first->to_v4(), bits).network();
  return ip::network_v6(address.to_v6(), bits).network() ==
         ip::network_v6(first->to_v6(), bits).network();
}

bool is_excepted_by(std::string_view item, const std::string& host, std::uint16_t port) {
  if (item == "*") return true;
  const auto own = address_of(host);
  if (item.find('/') != std::string_view::npos) return own && is_in_block(*own, item);
  // "host:8080", "[::1]:80"; an IPv6 address without brackets has no port.
  const auto colon = item.rfind(':');
  const bool is_bracketed = item.starts_with('[');
  if (colon != std::string_view::npos && !address_of(item) &&
      (!is_bracketed || item.find(']') + 1 == colon)) {
    std::uint16_t only = 0;
    const auto text = item.substr(colon + 1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), only);
    if (error != std::errc() || end != text.data() + text.size() || only != port) return false;
    item = item.substr(0, colon);
  }
  if (const auto address = address_of(item)) return own && *own == *address;
  if (own) return false;
  if (item.starts_with("*.")) item.remove_prefix(1);
  if (item.starts_with('.')) item.remove_prefix(1);
  const std::string name = host_in_words(item);
  return !name.empty() && (host == name || host.ends_with("." + name));
}

bool is_excepted(std::string_view list, const std::string& host, std::uint16_t port) {
  while (!list.empty()) {
    const auto begin = list.find_first_not_of(", \t");
    if (begin == std::string_view::npos) return false;
    list.remove_prefix(begin);
    const auto item = list.substr(0, list.find_first_of(", \t"));
    if (is_excepted_by(item, host, port)) return true;
    list.remove_prefix(item.size());
  }
  return false;
}

struct Named {
  std::string variable;
  std::string value;
};

// HTTP_PROXY in capitals is a header of the client's where a CGI program runs ("httpoxy").
std::optional<Named> first_set(const Variable& variable, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    auto value = variable(name);
    if (!value || value->empty()) continue;
    if (std::string_view(name) == "HTTP_PROXY" && variable("REQUEST_METHOD")) continue;
    return Named{name, std::move(*value)};
  }
  return std::nullopt;
}

// Between the scheme and the host; the last '@', for passwords that were not encoded.
struct Parts {
  std::string_view scheme;  // "http" where there is none
  std::string_view user;    // "user:password", perhaps empty
  std::string_view rest;
};
Parts parts_of(std::string_view value) {
  Parts parts{"http", {}, value};
  if (const auto end = value.find("://"); end != std::string_view::npos) {
    parts.scheme = value.substr(0, end);
    parts.rest = value.substr(end + 3);
  }
  if (const auto at = parts.rest.rfind('@'); at != std::string_view::npos) {
    parts.user = parts.rest.substr(0, at);
    parts.rest = parts.rest.substr(at + 1);
  }
  return parts;
}

Result<Proxy> read_proxy(const Named& named) {
  const auto refuse = [&](std::string why) {
    return fail(ErrorId::kConfigInvalid,
                fmt::format("the proxy that {} names cannot be used", named.variable),
                {.where = named.variable,
                 .why = std::move(why),
                 .fix = fmt::format("{}=http://HOST:PORT or http://USER:PASSWORD@HOST:PORT; "
                                    "NO_PROXY=HOST for a server without it",
                                    named.variable)});
  };
  const Parts parts = parts_of(named.value);
  if (lowered(parts.scheme) != "http")
    return refuse(
        "only proxies that are spoken to in plain HTTP are supported, none over TLS and "
        "no SOCKS");
  auto url = parse_url(fmt::format("http://{}", parts.rest));
  if (!url || url->target != "/") return refuse("it is no URL of a host");
  const auto host = parts.rest.substr(0, parts.rest.find('/'));
  const bool has_port = host.rfind(':') != std::string_view::npos && !host.ends_with(']');
  if (!has_port) url->port = 1080;  // as curl has it
  Proxy proxy{named.variable, std::move(*url), ""};
  if (parts.user.empty()) return proxy;
  const auto colon = parts.user.find(':');
  const auto user = strictly_percent_decoded(parts.user.substr(0, colon));
  const auto password = strictly_percent_decoded(
      colon == std::string_view::npos ? std::string_view() : parts.user.substr(colon + 1));
  if (!user || !password || user->contains(':'))
    return refuse("its user name or password is not percent-encoded as a URL wants it");
  proxy.authorization = "Basic " + oauth::base64(*user + ":" + *password);
  return proxy;
}

}  // namespace

std::string Proxy::place() const {
  const std::string host = url.host.contains(':') ? "[" + url.host + "]" : url.host;
  return fmt::format("{}:{}", host, url.port);
}

std::optional<std::string> process_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<std::optional<Proxy>> proxy_for(const Url& url, const Variable& variable) {
  const std::string host = host_in_words(url.host);
  if (is_this_machine(host)) return std::nullopt;
  const auto named =
      url.tls ? first_set(variable, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
              : first_set(variable, {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"});
  if (!named) return std::nullopt;
  const auto without = first_set(variable, {"no_proxy", "NO_PROXY"});
  if (without && is_excepted(without->value, host, url.port)) return std::nullopt;
  auto proxy = read_proxy(*named);
  if (!proxy) return pass_on(proxy);
  return std::optional<Proxy>(std::move(*proxy));
}

constexpr std::size_t kShortestPassword = 4;

void know_proxies(SecretValues& secrets) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = std::min(text.find('='), text.size());
    const auto variable = text.substr(0, equals);
    if (!variable.ends_with("_PROXY") && !variable.ends_with("_proxy")) continue;
    const auto user = parts_of(text.substr(std::min(equals + 1, text.size()))).user;
    const auto colon = std::min(user.find(':'), user.size());
    const auto password = user.substr(std::min(colon + 1, user.size()));
    const std::string reference = fmt::format("${{env:{}}}", variable);
    // A token may stand where the name does, with a password for the form's sake.
    const bool is_token = password.size() < kShortestPassword || password == "x-oauth-basic";
    const auto secret = is_token ? user.substr(0, colon) : password;
    if (secret.empty()) continue;
    secrets.know(std::string(secret), reference);
    const auto plain_name = strictly_percent_decoded(user.substr(0, colon));
    const auto plain_password = strictly_percent_decoded(password);
    if (!plain_name || !plain_password) continue;
    secrets.know(is_token ? *plain_name : *plain_password, reference);
    secrets.know(oauth::base64(*plain_name + ":" + *plain_password), reference);
  }
}

bool is_network_variable(std::string_view name) {
  constexpr std::array<std::string_view, 22> kOfAuthorities = {
      "SSL_CERT_FILE",      "SSL_CERT_DIR",       "NODE_EXTRA_CA_CERTS",
      "NODE_USE_SYSTEM_CA", "NODE_USE_ENV_PROXY", "REQUESTS_CA_BUNDLE",
      "CURL_CA_BUNDLE",     "GIT_SSL_CAINFO",     "GIT_SSL_CAPATH",
      "PIP_CERT",           "AWS_CA_BUNDLE",      "DENO_CERT",
      "DENO_TLS_CA_STORE",  "UV_NATIVE_TLS",      "UV_SYSTEM_CERTS",
      "CARGO_HTTP_CAINFO",  "NIX_SSL_CERT_FILE",  "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
      "NPM_CONFIG_CAFILE",  "npm_config_cafile",  "BUNDLE_SSL_CA_CERT",
      "HTTPLIB2_CA_CERTS"};
  return name.ends_with("_PROXY") || name.ends_with("_proxy") ||
         std::ranges::find(kOfAuthorities, name) != kOfAuthorities.end();
}

std::string network_advice(std::string_view last_lines) {
  constexpr std::array<std::string_view, 11> kOfWay = {"enotfound",
                                                       "eai_again",
                                                       "name or service not known",
                                                       "temporary failure in name",
                                                       "enetunreach",
                                                       "etimedout",
                                                       "could not resolve",
                                                       "network is unreachable",
                                                       "no such host",
                                                       "failed to lookup address",
                                                       "failed to resolve"};
  constexpr std::array<std::string_view, 8> kOfTrust = {
      "self-signed certificate",    "self signed certificate",
      "self_signed_cert",           "unable_to_get_issuer",
      "unable to get local issuer", "certificate_verify_failed",
      "by unknown authority",       "unknownissuer"};
  const std::string text = lowered(last_lines);
  // At the beginning of a word: Python's FileNotFoundError is no ENOTFOUND.
  const auto has_one = [&text](const auto& words) {
    return std::ranges::any_of(words, [&](std::string_view word) {
      for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        if (at == 0 || !is_alphanumeric(text[at - 1])) return true;
      }
      return false;
    });
  };
  if (has_one(kOfTrust))
    return "it trusts no certificate authority of that host: set NODE_EXTRA_CA_CERTS, "
           "SSL_CERT_FILE or REQUESTS_CA_BUNDLE for mcpac, which hands them on, or in its \"env\"";
  if (has_one(kOfWay))
    return "it did not reach the network: behind a proxy set HTTPS_PROXY and NO_PROXY for mcpac, "
           "which hands them on, or in its \"env\"";
  return "";
}

}  // namespace mcpac::mcp
