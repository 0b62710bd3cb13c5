// A person in front of a browser, where nothing has to be typed: opens the login page, and follows
// its redirect to the program that waits for it.
#pragma once

#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "mcp/oauth/login.h"

namespace mcpac::test {

// For Events::show_login. `seen`, when given, gets the address of the page.
[[nodiscard]] mcp::oauth::ShowLogin browser(boost::asio::any_io_executor executor,
                                            std::string* seen = nullptr);

}  // namespace mcpac::test
