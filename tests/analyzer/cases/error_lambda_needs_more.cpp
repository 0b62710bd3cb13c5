// verdict: compile_error
#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::list_directory> rt) {
  const auto write = [](mcpac::Requires<filesystem::write_file>) {};
  write(rt);  // expect: refuses compile-error // message: this lambda needs filesystem.write_file
  return 0;
}
