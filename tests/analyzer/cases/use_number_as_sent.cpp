#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a", .head = 9007199254740993});  // use: filesystem.read_text_file {"path": "a", "head": "?"}
  rt.filesystem.read_text_file({.path = "a", .head = 9007199254740994});  // use: filesystem.read_text_file {"path": "a", "head": 9007199254740994.0}
  rt.filesystem.read_text_file({.path = "a", .head = 5.0});  // use: filesystem.read_text_file {"path": "a", "head": 5}
  rt.filesystem.read_text_file({.path = "a", .head = 18446744073709551615U});  // use: filesystem.read_text_file {"path": "a", "head": "?"}
  rt.filesystem.read_text_file({.path = "a", .head = 0.1F});  // use: filesystem.read_text_file {"path": "a", "head": 0.10000000149011612}
  return 0;
}
