#include <mcpac.hpp>
#include <cstdio>
struct Shape {
  virtual ~Shape() = default;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  Shape shape;
  std::printf("%p of %5d%%\n", (void*)&shape, 3);
  std::fprintf(stderr, "%p\n", static_cast<void*>(&shape));
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
