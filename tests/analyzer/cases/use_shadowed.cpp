#include <mcpac.hpp>
const std::string path = "outer";
#define FIRST path
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = FIRST});  // use: filesystem.read_text_file {"path": "outer"}
  {
    const std::string path = "inner";
    rt.filesystem.read_text_file({.path = FIRST});  // use: filesystem.read_text_file {"path": "inner"}
    for (const std::string path : {"loop"})
      rt.filesystem.read_text_file({.path = FIRST});  // use: filesystem.read_text_file {"path": "loop"}
  }
  const auto lambda = [path = rt.permissions().front()] { return path; };
  rt.filesystem.read_text_file({.path = lambda()});  // use: filesystem.read_text_file {"path": "?"}
  return [&](std::string path) { return rt.filesystem.read_text_file({.path = path}).text().empty() ? 1 : 0; }("given");  // use: filesystem.read_text_file {"path": "?"}
}
