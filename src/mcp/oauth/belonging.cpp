// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/belonging.h"

#include <fmt/format.h>

#include <utility>

#include "mcp/oauth/metadata.h"

namespace mcpac::mcp::oauth {

Kept what_belongs(Kept kept, const Settings& settings, std::string_view place) {
  const bool other_issuer =
      !settings.issuer.empty() && !is_same_issuer(kept.issuer, settings.issuer);
  if (kept.place != place || other_issuer) return {};
  const bool other_client = !settings.client_id.empty() && kept.client.id != settings.client_id;
  if (other_client) {
    kept.client = {};
    kept.tokens = {};
  }
  return kept;
}

bool is_login(const Kept& kept) {
  return !kept.client.id.empty() || !kept.tokens.access.empty() || !kept.tokens.refresh.empty();
}

std::string login_again(const std::string& server) {
  return fmt::format("mcpac logout {0} && mcpac login {0}", server);
}

}  // namespace mcpac::mcp::oauth
