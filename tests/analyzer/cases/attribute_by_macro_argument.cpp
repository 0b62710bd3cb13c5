// What the attribute is stands only where the macro is used.
#include <mcpac.hpp>
#define A(x) __attribute__((x))  // expect: refuses attribute
#define B(x) [[x]]  // expect: refuses attribute
#define C [[nodiscard]]
void fin(int*) {}
C int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) {  // declared: filesystem.read_text_file // unused: filesystem.read_text_file
  A(cleanup(fin)) int watched = 0;
  return watched;
}
