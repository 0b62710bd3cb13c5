// SPDX-License-Identifier: Apache-2.0

// call_tool: one tool call from the command line, through the same gate as every other call.
#pragma once

#include <string>

#include "core/error.h"
#include "core/json.h"
#include "core/permission.h"
#include "policy/authority.h"
#include "project/project.h"
#include "run/asking/questions.h"

namespace mcpac::run {

// The result object of tools/call as the server sent it. A refusal is kCallDenied, with the text of
// the grant that would admit the call; arguments that break the locked schema are kCallInvalid.
[[nodiscard]] Result<Json> call_tool(const project::Project& project,
                                     const project::Folders& folders, const Permission& tool,
                                     Json arguments, const policy::LayerText& granted,
                                     const Questions& questions);

}  // namespace mcpac::run
