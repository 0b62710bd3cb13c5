#include <mcpac.hpp>
#include <cstdio>
struct Shape {
  virtual ~Shape() = default;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  Shape shape;
  std::printf("a%-08lln", (void*)&shape);  // expect: refuses code-pointer
  const char* format = "%n";
  std::printf(format, (void*)&shape);  // expect: refuses code-pointer
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
