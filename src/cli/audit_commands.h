// The commands below `mcpac audit`, one file each, as in cli/commands.h.
#pragma once

#include "cli/context.h"

namespace mcpac::cli {

void add_audit_verify(CLI::App& audit, Context& context);  // audit_verify.cpp
void add_audit_replay(CLI::App& audit, Context& context);  // audit_replay.cpp
void add_audit_query(CLI::App& audit, Context& context);   // audit_query.cpp

}  // namespace mcpac::cli
