// verdict: compile_error
#include <mcpac.hpp>
using namespace mcp;
struct Writer {
  void go(mcpac::Requires<filesystem::write_file>) {}
};
int agent_main(mcpac::Requires<filesystem::list_directory> rt) {
  Writer().go(rt);  // expect: refuses compile-error // message: needs filesystem.write_file
  return 0;
}
