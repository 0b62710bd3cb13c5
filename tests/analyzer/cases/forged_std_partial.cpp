#include <mcpac.hpp>
template <class T>
struct Mine {};
template <class T>
struct std::is_convertible<Mine<T>, int> : std::true_type {};  // expect: refuses library-specialisation
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
