#include <mcpac.hpp>
using namespace std::literals;
#define ROOT "data"
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = ROOT "/" "a.txt"});  // use: filesystem.read_text_file {"path": "data/a.txt"}
  rt.filesystem.read_text_file({.path = std::string("a") + "b" + 'c'});  // use: filesystem.read_text_file {"path": "abc"}
  rt.filesystem.read_text_file({.path = "a"s + "b"s});  // use: filesystem.read_text_file {"path": "ab"}
  rt.filesystem.read_text_file({.path = 'x' + std::string{"y"}});  // use: filesystem.read_text_file {"path": "xy"}
  rt.filesystem.read_text_file({.path = "v"sv});  // use: filesystem.read_text_file {"path": "v"}
  rt.filesystem.read_text_file({.path = R"(C:\data)"});  // use: filesystem.read_text_file {"path": "C:\\data"}
  rt.filesystem.read_text_file({.path = {"braces"}});  // use: filesystem.read_text_file {"path": "braces"}
  rt.filesystem.read_text_file({.path = "caf\u00e9"});  // use: filesystem.read_text_file {"path": "café"}
  return 0;
}
