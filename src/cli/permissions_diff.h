// `mcpac permissions diff OLD NEW`: what a new version of a program can do that the old could not.
#pragma once

#include "cli/context.h"

namespace mcpac::cli {

void add_permissions_diff(CLI::App& permissions, Context& context);

}  // namespace mcpac::cli
