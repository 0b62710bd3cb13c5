// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {
  rt.filesystem.read_text_file.async({.path = "a", .head = "5"});  // expect: refuses compile-error // message: `head` is a number (double), not text // fix: ({.path = "a", .head = 5})
  rt.filesystem.read_text_file({.path = "a", .head = "-1.5"});  // expect: refuses compile-error // fix: ({.path = "a", .head = -1.5})
  rt.filesystem.read_text_file({.path = "a", .head = "2026-11-28"});  // expect: refuses compile-error // fix: ({.path = "a", .head = …})
  rt.filesystem.read_text_file({.path = "a", .head = "010"});  // expect: refuses compile-error // fix: ({.path = "a", .head = …})
  rt.filesystem.read_text_file({.path = "a", .head = "1.2.3"});  // expect: refuses compile-error // fix: ({.path = "a", .head = …})
  rt.filesystem.read_text_file({.path = "a", .head = "-"});  // expect: refuses compile-error // fix: ({.path = "a", .head = …})
  return 0;
}
