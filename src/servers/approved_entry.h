// SPDX-License-Identifier: Apache-2.0

// Whether a server's entry in mcpac.json is the one that mcpac.lock approved: the same program or
// URL, and no more for it.
//
// An entry that no start would take is told as that first: to approve it would help nobody.
#pragma once

#include <optional>

#include "codegen/lock.h"
#include "core/error.h"
#include "mcp/server_config.h"
#include "servers/confine/learn.h"

namespace mcpac::servers {

// Why it is another one: kLockDrift, or the error that its start would give. Nothing: it is as it
// was approved, or the lock has no such server. `written`: its entry_for_lock(). Reads the disk,
// and starts nothing. Any thread.
[[nodiscard]] std::optional<Error> not_as_approved(const codegen::Lock& lock,
                                                   const mcp::ServerConfig& config,
                                                   const EntryForLock& written);

}  // namespace mcpac::servers
