// verdict: compile_error
#include <mcpac.hpp>
#include <filesystem>
using namespace std;
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {  // expect: refuses compile-error // message: is a namespace of std and a server here // fix: write mcp::filesystem
  return 0;
}
