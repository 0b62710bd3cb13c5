// Values that who reads quickly gets wrong.
#include <mcpac.hpp>
#include <vector>
constexpr int when(int n) { return __builtin_constant_p(n) ? 5 : 7; }
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const char* const by_place[2] = {"data/a.txt", [0] = "data/b.txt"};
  rt.filesystem.read_text_file({.path = by_place[0]});  // use: filesystem.read_text_file {"path": "?"}
  for (const char* name : {"data/a.txt"}) {
    const char* other = "";
    (name ?: other) = "data/b.txt";
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "?"}
  }
  const std::vector<std::string> names{"x", "y"};
  for (const std::string& name : names) {
    static const std::string first = name;
    rt.filesystem.read_text_file({.path = first});  // use: filesystem.read_text_file {"path": "?"}
  }
  rt.filesystem.read_text_file({.path = "a", .head = when(3)});  // use: filesystem.read_text_file {"path": "a", "head": "?"}
  return 0;
}
