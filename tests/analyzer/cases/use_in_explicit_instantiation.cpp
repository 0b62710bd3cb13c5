#include <mcpac.hpp>
template <class R>
struct Worker {
  R rt;
  explicit Worker(R r) : rt(r), first(rt.filesystem.read_text_file({.path = "init"}).text()) {}  // use: filesystem.read_text_file {"path": "init"}
  std::string first;
  std::string second = rt.filesystem.read_text_file({.path = "member"}).text();  // expect: note dependent-call // use: filesystem.read_text_file {}
  template <class T>
  void go(T lines) {
    rt.filesystem.read_text_file({.path = "go", .head = lines});  // use: filesystem.read_text_file {"head": "?", "path": "go"}
  }
  friend void poke(Worker& w) { w.rt.filesystem.read_text_file({.path = "friend"}); }  // use: filesystem.read_text_file {"path": "friend"}
};
template struct Worker<mcpac::Requires<mcp::filesystem::read_text_file>>;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  Worker<mcpac::Requires<mcp::filesystem::read_text_file>> worker(rt);
  worker.go(2);
  poke(worker);
  return 0;
}
