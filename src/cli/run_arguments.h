// SPDX-License-Identifier: Apache-2.0

// Run arguments: `--arguments JSON` or `--arguments @FILE`, what mcpac::arguments() is in a
// program.
#pragma once

#include <optional>
#include <string>

#include "core/error.h"
#include "core/json.h"

namespace mcpac::cli {

// Nothing where the option was not given. kJsonSyntax and kJsonLimit with line and column, kUsage
// where it is JSON and no object, kFileUnreadable.
[[nodiscard]] Result<std::optional<Json>> to_arguments(const std::optional<std::string>& text);

}  // namespace mcpac::cli
