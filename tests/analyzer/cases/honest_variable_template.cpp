#include <mcpac.hpp>
template <class T>
constexpr T kPi = T(3);
static_assert(kPi<int> == 3);
enum class Colour { red };
using enum Colour;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
