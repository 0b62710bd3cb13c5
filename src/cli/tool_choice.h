// SPDX-License-Identifier: Apache-2.0

// Tool choice: the locked tools that words on the command line mean.
//
// Every spelling that people copy is taken (codegen/select.h). A word that means nothing is an
// error that names the nearest tools: for looking, nothing is guessed silently.
#pragma once

#include <string>
#include <vector>

#include "codegen/select.h"
#include "core/error.h"

namespace mcpac::cli {

// All tools where there are no patterns; each once, in the order of the lock.
[[nodiscard]] Result<std::vector<codegen::ToolRef>> choose_tools(
    const codegen::Lock& lock, const std::vector<std::string>& patterns);

// Exactly one tool.
[[nodiscard]] Result<codegen::ToolRef> choose_tool(const codegen::Lock& lock,
                                                   const std::string& name);

}  // namespace mcpac::cli
