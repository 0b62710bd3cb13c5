#include <mcpac.hpp>
int one(int x) { return x; }
int one(double x) { return static_cast<int>(x); }
int (*chosen)(int) = (int (*)(int))one;
int (*none)(int) = (int (*)(int))nullptr;
using Table = int (*)(int);
const Table kTable[] = {static_cast<Table>(one), nullptr};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
