#include <mcpac.hpp>
using A1 = mcpac::Requires<mcp::filesystem::read_text_file>;
using A2 = A1;
typedef A2 A3;
using A4 = A3;
using A5 = std::remove_cvref_t<const A4&>;
using A6 = A5;
template <class T> using Same = T;
using A7 = Same<A6>;
struct Holder { using Type = A7; };
using A8 = Holder::Type;
namespace deep { using A9 = A8; }
using deep::A9;
using A10 = A9;
int agent_main(A10 rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
