// `mcpac permissions diff OLD NEW`: permissions that a new version of a program gains over the old.
#pragma once

#include "cli/context.h"

namespace mcpac::cli {

void add_permissions_diff(CLI::App& permissions, Context& context);

}  // namespace mcpac::cli
