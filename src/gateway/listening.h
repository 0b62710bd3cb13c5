// Listening: what one open subscriptions/listen hears of, and what a client of the `initialize` era
// does.
#pragma once

#include <map>
#include <string>

namespace mcpac::gateway {

struct Listening {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::map<std::string, std::string> uris{};  // and whose they are
};

}  // namespace mcpac::gateway
