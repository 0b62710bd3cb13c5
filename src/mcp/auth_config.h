// SPDX-License-Identifier: Apache-2.0

// The member "auth" of a server in mcpac.json, read and written.
#pragma once

#include "core/error.h"
#include "core/json.h"
#include "mcp/config_member.h"
#include "mcp/oauth/settings.h"

namespace mcpac::mcp {

[[nodiscard]] Result<oauth::Settings> read_auth(const ConfigMember& member);
[[nodiscard]] OrderedJson to_json(const oauth::Settings& settings);

}  // namespace mcpac::mcp
