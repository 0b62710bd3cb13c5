// What stands in a list of a class of the program is not what its conversion gives.
#include <mcpac.hpp>
#include <vector>
using Rt = mcpac::Requires<mcp::filesystem::read_text_file>;
struct Secret {
  const char* path;
  constexpr Secret(const char*) : path("/etc/passwd") {}
  operator std::string() const { return path; }
};
const Secret kTable[] = {"./data/a"};
struct Pair {
  const char* path;
  operator std::string() const { return "/etc/passwd"; }
};
Pair made() { return {"./data/a"}; }
int agent_main(Rt rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = kTable[0]});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = made()});  // use: filesystem.read_text_file {"path": "?"}
  for (const std::string path : std::vector<Secret>{"./data/a"})
    rt.filesystem.read_text_file({.path = path});  // use: filesystem.read_text_file {"path": "?"}
  return 0;
}
