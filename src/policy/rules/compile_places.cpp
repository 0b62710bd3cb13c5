// SPDX-License-Identifier: Apache-2.0

#include "policy/rules/compile_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "policy/environment.h"
#include "policy/match/path_pattern.h"
#include "policy/match/url.h"
#include "policy/text/printer.h"

namespace mcpac::policy {
namespace {

// The anchor's place, and the length of the anchor; nothing where `text` has none.
std::optional<std::pair<std::string, std::size_t>> anchor_of(const std::string& text,
                                                             const Bases& bases) {
  if (text.starts_with("/")) return std::pair(std::string("/"), std::size_t{1});
  if (text.starts_with("./")) return std::pair(bases.current_directory, std::size_t{2});
  if (text.starts_with("~/")) return std::pair(bases.home, std::size_t{2});
  return std::nullopt;
}

bool climbs(std::string_view text) {
  const auto components = split(text);
  return std::ranges::find(components, "..") != components.end();
}

// What a path with ".." means, from the root.
std::string from_root(std::string_view text, const std::string& start) {
  if (!start.starts_with('/')) return "write the path without '..'";
  Components whole = split(start);
  for (auto& name : split(text)) {
    if (name != "..") {
      if (name != ".") whole.push_back(std::move(name));
    } else if (!whole.empty()) {
      whole.pop_back();
    }
  }
  return printable(join(whole));
}

Checked<CompiledFiles> compile(const ast::FilesGrant& files, const Environment& environment) {
  auto written = read_place_path(files.path, files.path_at, environment);
  if (!written) return std::unexpected(written.error());
  CompiledFiles compiled;
  compiled.written = std::move(*written);
  compiled.real = compiled.written;
  compiled.mode = files.mode;
  if (environment.resolver == nullptr) return compiled;
  auto real = environment.resolver->resolve(join(compiled.written));
  if (!real) {
    return complain(ErrorId::kRuleIneffective, files.path_at,
                    fmt::format("the path {} cannot be resolved: {}",
                                printable(join(compiled.written), 200), real.error().what),
                    "where files lead is settled once, when the statement is loaded");
  }
  compiled.real = split(*real);
  if (compiled.real.empty()) {
    return complain(ErrorId::kRuleIneffective, files.path_at,
                    fmt::format("{} leads to /, which is everything", printable(files.path)),
                    "files are granted folder by folder", "name the folders that are needed");
  }
  return compiled;
}

// An address as a rule writes it, alone or with a prefix; nothing for what is no address.
std::optional<IpNetwork> network_of(const std::string& host) {
  if (host.find('/') != std::string::npos) return IpNetwork::parse(host);
  if (parse_ipv4(host)) return IpNetwork::parse(host + "/32");
  if (parse_ipv6(host)) return IpNetwork::parse(host + "/128");
  return std::nullopt;
}

Checked<CompiledNetwork> compile(const ast::NetworkGrant& network) {
  CompiledNetwork compiled;
  compiled.host = network.host;
  compiled.port = network.port;
  if (network.is_any()) return compiled;
  if (const auto addresses = network_of(network.host)) {
    compiled.hosts = *addresses;
    return compiled;
  }
  if (network.host.find_first_of("/:") != std::string::npos) {
    return complain(ErrorId::kRuleSyntax, network.place_at,
                    fmt::format("'{}' is not a network", printable(network.host)),
                    "a network is an address, '/' and a prefix, with no bits set behind the prefix",
                    "e.g. network 10.1.0.0/16:443 or network [fd00::/8]:443");
  }
  auto pattern = host_pattern(network.host, network.place_at);
  if (!pattern) {
    auto complaint = pattern.error();
    // A pattern has its own complaint: it is below a public suffix, or no name.
    if (!network.host.starts_with('*') && read_host(network.host)) {
      complaint.what =
          fmt::format("'{}' is an address in the form of a name", printable(network.host));
      complaint.why = "an address is written out, with four numbers or in square brackets";
      const std::string port = network.port == 0 ? "*" : std::to_string(network.port);
      complaint.fix = fmt::format("e.g. network 127.0.0.1:{0} and network [::1]:{0}", port);
    }
    return std::unexpected(std::move(complaint));
  }
  compiled.hosts = std::move(*pattern);
  return compiled;
}

std::unexpected<Error> report(const SourceText& source, const Complaint& complaint) {
  return source.error(complaint.id, complaint.at, complaint.what, complaint.why, complaint.fix);
}

}  // namespace

Checked<Components> read_place_path(const std::string& text, ast::Offset at,
                                    const Environment& environment) {
  const auto anchor = anchor_of(text, environment.bases);
  if (!anchor) {
    // "$HOME/x", "file:///x": a place that has a name of its own elsewhere.
    const bool is_named =
        text.starts_with('$') || text.starts_with('%') || text.starts_with("file:");
    const std::string meant = is_named ? with_anchor(text, environment) : std::string();
    return complain(ErrorId::kRuleSyntax, at,
                    fmt::format("the path '{}' has no anchor", printable(text)),
                    "a path of files begins with / (absolute), ./ (here) or ~/ (home)",
                    !meant.empty() ? printable(meant)
                    : is_named     ? "write the whole path, from /"
                    : climbs(text) ? from_root(text, environment.bases.current_directory)
                    : text == "." || text == "~" ? text + "/"
                                                 : fmt::format("./{}", printable(text)));
  }
  if (!read_path(text)) {
    return complain(
        ErrorId::kRuleSyntax, at,
        fmt::format("'{}' is not a path that a grant may name", printable(text)),
        "control bytes, backslashes and text that is not in normalisation form C are refused");
  }
  auto below = split(std::string_view(text).substr(anchor->second));
  if (std::ranges::find(below, "..") != below.end()) {
    return complain(
        ErrorId::kRuleSyntax, at, fmt::format("'..' in the path '{}' of files", printable(text)),
        "a grant names the place it means", from_root(text.substr(anchor->second), anchor->first));
  }
  if (!anchor->first.starts_with('/')) {
    return complain(ErrorId::kRuleIneffective, at,
                    "the place that this path is anchored at is not known", "",
                    "write an absolute path");
  }
  if (text.find('*') != std::string::npos) {
    return complain(ErrorId::kRuleSyntax, at,
                    fmt::format("'*' in the path '{}' of files", printable(text)),
                    "a folder is granted with all below it", "name the folder");
  }
  Components path = split(anchor->first);
  path.insert(path.end(), below.begin(), below.end());
  if (path.empty()) {
    return complain(ErrorId::kRuleIneffective, at, "files / would be everything",
                    "files are granted folder by folder", "name the folders that are needed");
  }
  return path;
}

bool is_place(const ast::Statement& statement) {
  return std::holds_alternative<ast::FilesGrant>(statement) ||
         std::holds_alternative<ast::NetworkGrant>(statement) ||
         std::holds_alternative<ast::NetworkDeny>(statement);
}

Result<void> add_place(const ast::Statement& statement, const SourceText& source,
                       const Environment& environment, LayerPlaces& places) {
  ast::Offset at = 0;
  if (const auto* files = std::get_if<ast::FilesGrant>(&statement)) {
    auto compiled = compile(*files, environment);
    if (!compiled) return report(source, compiled.error());
    at = files->at;
    compiled->said_in = source.line_of(at);
    places.files.push_back(std::move(*compiled));
  } else if (const auto* network = std::get_if<ast::NetworkGrant>(&statement)) {
    auto compiled = compile(*network);
    if (!compiled) return report(source, compiled.error());
    at = network->at;
    compiled->said_in = source.line_of(at);
    places.networks.push_back(std::move(*compiled));
  } else if (const auto* deny = std::get_if<ast::NetworkDeny>(&statement)) {
    at = deny->at;
    if (!places.network_denied_in) places.network_denied_in = source.line_of(at);
  } else {
    return {};
  }
  places.statements.push_back({print(statement), source.line_of(at)});
  return {};
}

}  // namespace mcpac::policy
