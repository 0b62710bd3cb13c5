// SPDX-License-Identifier: Apache-2.0

// HostPattern: the names that a `host` test or a `network` statement means (docs/grants.md).
#pragma once

#include <string>

#include "policy/match/matcher.h"

namespace mcpac::policy {

// "example.com", "*.example.com" (the domain and all below), "*" (any name).
struct HostPattern {
  std::string name;  // empty: any
  bool subdomains = false;

  // `host`: as read_host() makes it.
  [[nodiscard]] bool covers(const std::string& host) const;
  // Every name that `other` covers?
  [[nodiscard]] bool covers(const HostPattern& other) const;
};

// A complaint about what is no host, about addresses, and about everything below a public suffix.
[[nodiscard]] Checked<HostPattern> host_pattern(const std::string& text, ast::Offset at);

}  // namespace mcpac::policy
