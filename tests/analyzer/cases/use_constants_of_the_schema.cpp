#include <mcpac.hpp>
// What fills itself is sent though nobody writes it: its value is not in this source.
int agent_main(mcpac::Requires<mcp::forms::marked> rt) {  // declared: forms.marked
  rt.forms.marked({.class_ = "x"});  // use: forms.marked {"kind": "?", "class": "x"}
  rt.forms.marked({.class_ = "x", .items = {{.name = "a"}}});  // use: forms.marked {"kind": "?", "class": "x", "items": "?"}
  rt.forms.marked({.kind = "mark", .class_ = "x", .items = {{.type = "item", .name = "a"}}, .extra = {{"n", 1}}});  // use: forms.marked {"kind": "?", "class": "?", "items": "?"}
  return 0;
}
