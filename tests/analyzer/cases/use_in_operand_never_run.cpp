// What is only looked at is no use; an array whose length a call gives is made even in sizeof, and the body of a lambda
// runs wherever it stands.
#include <mcpac.hpp>
using Rt = mcpac::Requires<mcp::filesystem::read_text_file>;
#define SIZE(x) sizeof(x)
int agent_main(Rt rt) {  // declared: filesystem.read_text_file
  using Result = decltype(rt.filesystem.read_text_file({.path = "never"}));
  typedef decltype(rt.filesystem.read_text_file({.path = "never"}).text()) Text;
  unsigned long size = sizeof(rt.filesystem.read_text_file({.path = "never"}));
  size += sizeof rt.filesystem.read_text_file({.path = "never"}).text();
  const bool quiet = noexcept(rt.filesystem.read_text_file({.path = "never"}));
  size += sizeof(int[rt.filesystem.read_text_file({.path = "a"}).text().size()]);  // use: filesystem.read_text_file {"path": "a"}
  size += sizeof(*static_cast<int(*)[rt.filesystem.read_text_file({.path = "b"}).text().size()]>(nullptr));  // use: filesystem.read_text_file {"path": "b"}
  size += SIZE(rt.filesystem.read_text_file({.path = "c"}));  // use: filesystem.read_text_file {"path": "c"}
  using Reader = decltype([](Rt inner) { return inner.filesystem.read_text_file({.path = "d"}).text(); });  // use: filesystem.read_text_file {"path": "d"}
  using Local = decltype(({ struct Inner { auto read(Rt of) { return of.filesystem.read_text_file({.path = "f"}); } }; Inner(); }));  // use: filesystem.read_text_file {"path": "f"}
  size += Local().read(rt).text().size();
  typedef int Room[rt.filesystem.read_text_file({.path = "e"}).text().size()];  // use: filesystem.read_text_file {"path": "e"}
  size += sizeof(Room) + Reader()(rt).size() + sizeof(Result) + sizeof(Text);
  return size > 3 && !quiet ? 0 : 1;
}
