// SPDX-License-Identifier: Apache-2.0

// Forms of servers: text shown to a person when a server asks something while it works on a call.
//
// Behind a gateway all servers speak through one connection, and none may pass for another, nor for
// mcpac. So a form begins with its server's name, its further lines are set in, and of what else
// stands there only what a form has goes on (MCP 2025-11-25, ElicitRequestFormParams): a client may
// make more of a member than we do. Nothing in it hides or rewrites what stands before it.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/json.h"

namespace mcpac::servers {

// The form as it is shown. Texts to be read are made fit for that; what an answer has to repeat
// (the name of a field, a choice) is refused where it is not, and so is a page to visit (mode
// "url"), which is another thing than the form that a client says it shows.
[[nodiscard]] Result<Json> shown_form(std::string_view server, const Json& params);
// Whether shown_form() made it, as it says: of one that a file holds.
[[nodiscard]] bool is_shown_form(std::string_view server, const Json& form);

}  // namespace mcpac::servers
