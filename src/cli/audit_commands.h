// SPDX-License-Identifier: Apache-2.0

// The commands below `mcpac audit`, one file each, as in cli/commands.h.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "cli/context.h"
#include "core/error.h"

namespace mcpac::cli {

// The runs of the log (or the one whose id begins so) whose records are not the ones that were
// written: what they say proves nothing. In audit_verify.cpp.
[[nodiscard]] Result<std::set<std::string>> tampered_runs(const std::filesystem::path& folder,
                                                          const std::string& run);
[[nodiscard]] Error tampered_error(const std::filesystem::path& folder, const std::string& run_id);

void add_audit_verify(CLI::App& audit, Context& context);  // audit_verify.cpp
void add_audit_accept(CLI::App& audit, Context& context);  // audit_accept.cpp
void add_audit_replay(CLI::App& audit, Context& context);  // audit_replay.cpp
void add_audit_query(CLI::App& audit, Context& context);   // audit_query.cpp

}  // namespace mcpac::cli
