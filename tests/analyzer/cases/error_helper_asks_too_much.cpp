// What a helper does not call is taken out of it first.
// verdict: compile_error
#include <mcpac.hpp>
using namespace mcp;
std::string reads(mcpac::Requires<filesystem::read_text_file, filesystem::write_file> rt) {
  return rt.filesystem.read_text_file({.path = "a"}).text();
}
void writes(mcpac::Requires<filesystem::read_text_file, filesystem::write_file> rt) {
  rt.filesystem.write_file({.path = "a", .content = "b"});
}
int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  reads(rt);  // expect: refuses compile-error // message: `reads` needs filesystem.write_file // fix: take mcp::filesystem::write_file out of the Requires of `reads`, which does not call it
  writes(rt);  // expect: refuses compile-error // message: `writes` needs filesystem.write_file // fix: add mcp::filesystem::write_file to the Requires of the entry
  return 0;
}
