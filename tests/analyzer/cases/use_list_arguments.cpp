#include <mcpac.hpp>
const std::vector<std::string> kPaths{"c", "d"};
int agent_main(mcpac::Requires<mcp::filesystem::read_multiple_files> rt) {  // declared: filesystem.read_multiple_files
  rt.filesystem.read_multiple_files({.paths = {"a", "b"}});  // use: filesystem.read_multiple_files {"paths": ["a", "b"]}
  rt.filesystem.read_multiple_files({.paths = kPaths});  // use: filesystem.read_multiple_files {"paths": ["c", "d"]}
  std::vector<std::string> growing{"e"};
  growing.push_back("/etc/passwd");
  rt.filesystem.read_multiple_files({.paths = growing});  // use: filesystem.read_multiple_files {"paths": "?"}
  for (const char* name : {"f", "g"})
    rt.filesystem.read_multiple_files({.paths = {name, "h"}});  // use: filesystem.read_multiple_files {"paths": "?"}
  return 0;
}
