// What stands before the semicolon looks like a number and is a call, or a macro.
#include <mcpac.hpp>
using Rt = mcpac::Requires<mcp::filesystem::write_file>;
int operator""_run(unsigned long long n) { return static_cast<int>(n); }
#define k k = 1, l
int agent_main(Rt) {  // declared: filesystem.write_file // unused: filesystem.write_file
  switch (int a = 2_run; a) {  // expect: refuses hidden-body
    default: break;
  }
  switch (int k = 2; l) {  // expect: refuses hidden-body
    default: break;
  }
  for (Rt* other = nullptr; int i : {1}) (void)i;  // expect: refuses hidden-body
  return 0;
}
