// SPDX-License-Identifier: Apache-2.0

#include "mcp/protocol.h"

#include <algorithm>

namespace mcpac::mcp {

Json client_info() {
  return {{"name", "mcpac"}, {"version", MCPAC_VERSION}};
}

Json stateless_meta(const Json& capabilities) {
  Json meta = Json::object();
  meta[std::string(kMetaVersion)] = kStatelessVersion;
  meta[std::string(kMetaClientInfo)] = client_info();
  meta[std::string(kMetaCapabilities)] = capabilities;
  return meta;
}

bool is_initialize_version(std::string_view version) {
  return std::ranges::find(kInitializeVersions, version) != kInitializeVersions.end();
}

}  // namespace mcpac::mcp
