// SPDX-License-Identifier: Apache-2.0

#include "policy/match/host_pattern.h"

#include <fmt/format.h>
#include <libpsl.h>

#include "policy/match/url.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {
namespace {

bool is_public_suffix(const std::string& name) {
  // Without the rule for names that the list does not know: *.corp is no public suffix.
  return psl_is_public_suffix2(psl_builtin(), name.c_str(), PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) !=
         0;
}

}  // namespace

bool HostPattern::covers(const std::string& host) const {
  if (name.empty() || host == name) return true;
  return subdomains && host.size() > name.size() && host.ends_with(name) &&
         host[host.size() - name.size() - 1] == '.';
}

bool HostPattern::covers(const HostPattern& other) const {
  if (name.empty()) return true;
  return !other.name.empty() && covers(other.name) && (subdomains || !other.subdomains);
}

Checked<HostPattern> host_pattern(const std::string& text, ast::Offset at) {
  if (text == "*") return HostPattern{};
  HostPattern pattern;
  pattern.subdomains = text.starts_with("*.");
  const auto host = read_host(pattern.subdomains ? text.substr(2) : text);
  if (!host) {
    return complain(ErrorId::kRuleSyntax, at, fmt::format("'{}' is not a host", printable(text)),
                    "a host is a name such as example.com, *.example.com, or *");
  }
  const auto* name = std::get_if<std::string>(&*host);
  if (name == nullptr || is_localhost(*name)) {
    return complain(ErrorId::kRuleIneffective, at,
                    fmt::format("'{}' is an address, and never matches a name", printable(text)),
                    "addresses are named by 'ip', with their network",
                    "e.g. ip in {127.0.0.0/8, ::1/128}");
  }
  if (pattern.subdomains && is_public_suffix(*name)) {
    return complain(ErrorId::kRuleIneffective, at,
                    fmt::format("'{}' is everything below a public suffix", printable(text)),
                    "anybody can register a name there", "name the domains that you mean");
  }
  pattern.name = *name;
  return pattern;
}

}  // namespace mcpac::policy
