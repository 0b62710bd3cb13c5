#include <mcpac.hpp>
const std::string kName = "a long name that does not fit into the object itself";
template <class T> void overwrite(const T& text) { ((char*)text.data())[0] = '/'; }
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  overwrite(kName);
  rt.filesystem.read_text_file({.path = kName});  // use: filesystem.read_text_file {"path": "?"}
  return 0;
}
