// events_for(): what a server says while it works on a call, taken to whoever made that call.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>

#include "gate/caller.h"
#include "mcp/client.h"

namespace mcpac::execute {

// How the message of a form begins that a server shows to a person: with who asks.
[[nodiscard]] std::string form_beginning(std::string_view server);
// Whether it begins so, and the rest is made as ours is: fit for a terminal, further lines set in.
[[nodiscard]] bool is_form_message(std::string_view server, std::string_view message);

// Progress and questions go to `caller`, which may be null; then nobody hears and answers. A
// question that the caller does not answer, or no longer, is an error to the server. What a person
// is to read says which server asks: behind a gateway all of them speak through one connection, and
// none may pass for another, nor for mcpac.
[[nodiscard]] mcp::CallEvents events_for(boost::asio::any_io_executor executor,
                                         std::shared_ptr<gate::Caller> caller, std::string server);

}  // namespace mcpac::execute
