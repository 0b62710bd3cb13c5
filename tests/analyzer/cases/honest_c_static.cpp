#include <mcpac.hpp>
#include <cstdlib>
extern "C" {
static int by_value(const void* a, const void* b) {
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
}
const auto kSort = [](int* list) { std::qsort(list, 2, sizeof(int), by_value); };
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
