#include <mcpac.hpp>
#include <cstdlib>
const char* home() { return std::getenv("HOME"); /* mcpac-allow: os-call */ }  // expect: warns os-call // expect: warns allow-form
/* mcpac-allow: no-such-rule it is not there */  // expect: warns allow-form
/* mcpac-allow os-call it has no colon */  // expect: warns allow-form // message: names no rule behind a colon
/* mcpac-allow: os-call nothing to allow */  // expect: note allow-unused
/* mcpac-allow: early-code it is a note */  // expect: warns allow-form
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
