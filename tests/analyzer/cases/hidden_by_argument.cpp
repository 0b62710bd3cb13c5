// The semicolon of a header comes from an argument of a macro, from a macro of nothing else, or from within brackets
// that a macro takes away.
#include <mcpac.hpp>
#include <sys/cdefs.h>
using Rt = mcpac::Requires<mcp::filesystem::write_file, mcp::filesystem::read_text_file>;
#define LOOP(header) for (header)  // expect: refuses hidden-body
#define CHOOSE(header) switch (header)  // expect: refuses hidden-body
#define EACH(n) for (int i = 0; i < n; ++i)  // expect: refuses hidden-body
#define WHOLE (rt.filesystem.write_file({.path = "e", .content = "b"}); int i : {1})
#define OPEN for (  // expect: refuses hidden-body
#define FOR for  // expect: refuses hidden-body
int agent_main(Rt rt) {  // declared: filesystem.write_file // unused: filesystem.write_file // declared: filesystem.read_text_file
  LOOP(rt.filesystem.write_file({.path = "a", .content = "b"}); int i : {1}) (void)i;
  CHOOSE(rt.filesystem.write_file({.path = "b", .content = "b"}); 1) {
    default: break;
  }
  EACH(3) (void)i;
  for (__P(rt.filesystem.write_file({.path = "c", .content = "b"}); int i : {1})) (void)i;  // expect: refuses hidden-body
  for WHOLE (void)i;  // expect: refuses hidden-body
  FOR WHOLE (void)i;
  OPEN rt.filesystem.write_file({.path = "d", .content = "b"}); int i : {1}) (void)i;
  if (rt.filesystem.read_text_file({.path = "f"}); true) return 1;  // use: filesystem.read_text_file {"path": "f"}
  return 0;
}
