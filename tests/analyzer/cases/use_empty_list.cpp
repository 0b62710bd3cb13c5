#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::edit_file> rt) {  // declared: filesystem.edit_file
  rt.filesystem.edit_file({.path = "a", .edits = {}});  // use: filesystem.edit_file {"path": "a", "edits": []}
  rt.filesystem.edit_file({.path = "a", .edits = mcpac::empty});  // use: filesystem.edit_file {"path": "a", "edits": "?"}
  return 0;
}
