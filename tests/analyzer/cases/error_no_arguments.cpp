// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {
  rt.filesystem.read_text_file();  // expect: refuses compile-error // message: required argument `path` (std::string)
  return 0;
}
