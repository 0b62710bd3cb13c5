// A macro that brings its own semicolon.
#include <mcpac.hpp>
#define FIRST(x) x;
int agent_main(mcpac::Requires<mcp::filesystem::write_file> rt) {  // declared: filesystem.write_file // unused: filesystem.write_file
  switch (FIRST(rt.filesystem.write_file({.path = "a", .content = "b"})) 1) {  // expect: refuses hidden-body
    default: break;
  }
  return 0;
}
