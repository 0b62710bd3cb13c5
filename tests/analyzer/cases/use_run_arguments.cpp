#include <mcpac.hpp>
#include <string>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto path = mcpac::argument<std::string>("path");
  rt.filesystem.read_text_file({.path = path, .head = 3});  // use: filesystem.read_text_file {"path": "?", "head": 3}
  rt.filesystem.read_text_file({.path = mcpac::argument<std::string>("path", "data/a.txt")});  // use: filesystem.read_text_file {"path": "?"}
  const auto& all = mcpac::arguments();
  rt.filesystem.read_text_file({.path = all.at("path").get<std::string>()});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = "a", .head = mcpac::argument<int>("head", 5)});  // use: filesystem.read_text_file {"path": "a", "head": "?"}
  return 0;
}
