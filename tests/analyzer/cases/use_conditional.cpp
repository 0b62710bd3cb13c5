#include <mcpac.hpp>
#include <type_traits>
constexpr bool kVerbose = false;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = kVerbose ? "long" : "short"});  // use: filesystem.read_text_file {"path": "short"}
  rt.filesystem.read_text_file({.path = sizeof(long) == 8 ? std::string("wide") : std::string("narrow")});  // use: filesystem.read_text_file {"path": "wide"}
  rt.filesystem.read_text_file({.path = rt.permissions().empty() ? "none" : "some"});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = std::is_constant_evaluated() ? "compiler" : "run"});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = "n", .head = std::is_constant_evaluated() ? 1 : 2});  // use: filesystem.read_text_file {"head": "?", "path": "n"}
  return 0;
}
