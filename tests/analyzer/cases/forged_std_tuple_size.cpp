#include <mcpac.hpp>
template <>
struct std::tuple_size<mcpac::Requires<>> {  // expect: refuses library-specialisation
  static constexpr int value = 7;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
