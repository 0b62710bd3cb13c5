#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  for (int a : {1, 2, 3, 4, 5, 6, 7, 8, 9})
    for (int b : {1, 2, 3, 4, 5, 6, 7, 8, 9})
      rt.filesystem.read_text_file({.path = "p", .tail = a, .head = b});  // use: filesystem.read_text_file {"head": "?", "path": "p", "tail": "?"}
  return 0;
}
