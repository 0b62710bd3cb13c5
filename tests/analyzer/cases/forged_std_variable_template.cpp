#include <mcpac.hpp>
struct Mine {};
template <>
inline constexpr bool std::is_same_v<Mine, int> = true;  // expect: refuses library-specialisation
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
