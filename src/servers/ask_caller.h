// SPDX-License-Identifier: Apache-2.0

// events_for(): forwards what a server says while it works on a call to the caller of that call.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "gate/caller.h"
#include "mcp/client.h"

namespace mcpac::servers {

// Progress and questions go to `caller`, which may be null; then they are dropped and not answered.
// A question that the caller does not answer, or no longer, is an error to the server. Forms are
// shown as server_form.h says.
[[nodiscard]] mcp::CallEvents events_for(boost::asio::any_io_executor executor,
                                         std::shared_ptr<gate::Caller> caller, std::string server);

}  // namespace mcpac::servers
