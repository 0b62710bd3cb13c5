// SPDX-License-Identifier: Apache-2.0

// Places: `files PATH MODE` and `network HOST:PORT`.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/ascii.h"
#include "policy/text/parser.h"
#include "policy/text/source_text.h"

namespace mcpac::policy::detail {
namespace {

constexpr const char* kNetworkForm = "a name or an address, ':' and a port or '*'; or any";

bool is_port(std::string_view text, std::uint16_t& port) {
  const char* end = text.data() + text.size();
  if (text == "*") return port = 0, true;
  if (text.empty() || text.front() == '0' ||
      !std::ranges::all_of(text, [](char c) { return is_digit(c); }))
    return false;
  const auto parsed = std::from_chars(text.data(), end, port);
  return parsed.ec == std::errc{} && parsed.ptr == end;
}

// The host and the port of a URL, as a place is written.
std::string place_of_url(std::string_view url) {
  const auto scheme = url.substr(0, url.find("://"));
  std::string_view host = url.substr(scheme.size() + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  if (const auto user = host.rfind('@'); user != std::string_view::npos)
    host.remove_prefix(user + 1);
  const auto colon = host.rfind(':');
  std::uint16_t port = 0;
  const bool has_port = colon != std::string_view::npos && !host.ends_with(']') &&
                        is_port(host.substr(colon + 1), port);
  if (host.empty() || colon == 0) host = "api.example.com";
  return fmt::format("{}{}", printable(host),
                     has_port || host.ends_with(":*") ? ""
                     : scheme == "http"               ? ":80"
                                                      : ":443");
}

// What stands before the last colon, without the square brackets of an IPv6 address.
Result<ast::NetworkGrant> read_place(const Lexer& lexer, const std::string& text, std::size_t at) {
  const auto refuse = [&](std::string what, std::string why, std::string fix) {
    return lexer.error(at, std::move(what), std::move(why), std::move(fix));
  };
  if (text.find("://") != std::string::npos) {
    return refuse(fmt::format("'{}' is a URL", printable(text)),
                  "a program is given hosts and ports, not URLs", "network " + place_of_url(text));
  }
  const auto colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  if (colon == std::string::npos || (bracketed && (colon == 0 || text[colon - 1] != ']'))) {
    return refuse(fmt::format("'{}' names no port", printable(text)), kNetworkForm,
                  fmt::format("network {}:443", printable(text)));
  }
  ast::NetworkGrant network;
  network.place_at = at;
  network.host = bracketed ? text.substr(1, colon - 2) : text.substr(0, colon);
  if (!bracketed && network.host.find(':') != std::string::npos) {
    return refuse(fmt::format("'{}' can be read in several ways", printable(text)),
                  "an IPv6 address stands in square brackets", "e.g. network [2001:4860::]:443");
  }
  if (!is_port(std::string_view(text).substr(colon + 1), network.port)) {
    return refuse(fmt::format("'{}' is not a port", printable(text.substr(colon + 1))),
                  "a port is a whole number from 1 to 65535, or '*' for every port",
                  fmt::format("network {}:443", printable(text.substr(0, colon))));
  }
  if (network.host.empty()) return refuse("a network place without a host", kNetworkForm, "");
  if (network.is_any()) return refuse("every port of every host", "that is spelled", "network any");
  return network;
}

}  // namespace

Result<ast::FilesGrant> files_grant(Lexer& lexer) {
  ast::FilesGrant files;
  files.path_at = lexer.position();
  auto path = lexer.path();
  if (!path) return pass_on(path);
  files.path = std::move(*path);
  const std::size_t at = lexer.position();
  if (lexer.take_word("read-only")) return files;
  files.mode = FileMode::kReadWrite;
  if (lexer.take_word("read-write")) return files;
  constexpr std::string_view kWrites[] = {"rw",       "wr",        "w",          "write",
                                          "writable", "readwrite", "read_write", "write-only"};
  const bool writes = std::ranges::find(kWrites, lexer.peek_word()) != std::end(kWrites);
  return lexer.error(
      at, "expected read-only or read-write", "a grant of files says what may be done with them",
      fmt::format("files {} {}", printable(files.path), writes ? "read-write" : "read-only"));
}

Result<ast::NetworkGrant> network_grant(Lexer& lexer) {
  const std::size_t at = lexer.position();
  if (lexer.adjacent('"')) {
    auto text = lexer.string();
    if (!text) return pass_on(text);
    return read_place(lexer, *text, at);
  }
  if (lexer.take_word("any")) {
    ast::NetworkGrant any;
    any.place_at = at;
    return any;
  }
  std::string bracketed;
  if (lexer.take("[")) {
    auto address = lexer.atom("an address");
    if (!address) return pass_on(address);
    if (!lexer.take("]")) return lexer.expected("']'");
    bracketed = "[" + *address + "]";
    if (!lexer.adjacent(':')) return read_place(lexer, bracketed, at);
  }
  auto text = lexer.atom("a host and a port");
  if (!text) return pass_on(text);
  return read_place(lexer, bracketed + *text, at);
}

bool sees_network_deny(Lexer& lexer) {
  constexpr std::string_view kBlanks = " \t\r\n";
  if (lexer.peek_word() != "deny") return false;
  auto rest = lexer.source().text.substr(lexer.position() + 4);
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  if (!rest.starts_with("network")) return false;
  rest.remove_prefix(7);
  const auto next = std::min(rest.find_first_not_of(kBlanks), rest.size());
  if (next == rest.size()) return true;
  // "network-2" and "network.tool" are names of a rule.
  const char c = rest[next];
  const bool goes_on = next == 0 && is_bare(c);
  return !goes_on && c != '.';
}

}  // namespace mcpac::policy::detail
