// verdict: compile_error
#include <mcpac.hpp>
using namespace mcp;
struct Reader {
  explicit Reader(mcpac::Requires<memory::read_graph>) {}
};
int agent_main(mcpac::Requires<filesystem::list_directory> rt) {
  Reader reader(rt);  // expect: refuses compile-error // message: `Reader` needs memory.read_graph
  return 0;
}
