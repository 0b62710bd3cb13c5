#include <mcpac.hpp>
template <class R>
struct Worker {
  R rt;
  void go() {
    rt.filesystem.read_text_file({.path = "w"});  // use: filesystem.read_text_file {"path": "w"}
  }
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  Worker<decltype(rt)> worker{rt};
  worker.go();
  return 0;
}
