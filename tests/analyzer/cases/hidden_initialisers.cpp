// libclang shows nothing of what stands before the semicolon of these two.
#include <mcpac.hpp>
using Rt = mcpac::Requires<mcp::filesystem::write_file>;
int agent_main(Rt rt) {  // declared: filesystem.write_file // unused: filesystem.write_file
  for (rt.filesystem.write_file({.path = "a", .content = "b"}); int i : {1}) (void)i;  // expect: refuses hidden-body
  switch (rt.filesystem.write_file({.path = "a", .content = "b"}); 1) {  // expect: refuses hidden-body
    default: break;
  }
  for (int i = 0; i < 2; ++i) {
    if (const int twice = i * 2; twice > 2) return twice;
  }
  return 0;
}
