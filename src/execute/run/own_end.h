// OwnEnd: errors of programs that ended by themselves, as reports of runs have them.
//
// What was not caught is told by the program (gate::Uncaught), which may tell anything: it is text
// for people, of bounded length, and decides nothing.
#pragma once

#include <string_view>

#include "core/error.h"
#include "gate/agent_door.h"

namespace mcpac::execute {

// The id of a call's failure that the gate passed on as `id`: what became of the server. Another
// text is kServerError.
[[nodiscard]] ErrorId server_error_id(std::string_view id);

[[nodiscard]] Error uncaught_error(const gate::Uncaught& uncaught);
// The host ended its connection for what it sent: `why`.
[[nodiscard]] Error expelled_error(std::string_view why);

}  // namespace mcpac::execute
