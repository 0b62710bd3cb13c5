#include <mcpac.hpp>
namespace mine {
template <class T>
struct Requires {
  T value;
};
struct Method {};
}  // namespace mine
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  mine::Requires<int> own{3};
  (void)own;
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
