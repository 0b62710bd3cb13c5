#include <mcpac.hpp>
#include <utility>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  for (const char* p : {"a", "b"}) {
    if (rt.permissions().empty()) p = "/etc/passwd";
    rt.filesystem.read_text_file({.path = p});  // use: filesystem.read_text_file {"path": "?"}
  }
  for (std::string_view p : {"a", "b"}) {
    p.remove_prefix(1);
    rt.filesystem.read_text_file({.path = p});  // use: filesystem.read_text_file {"path": "?"}
  }
  for (std::string p : {"a", "b"}) {
    p += rt.permissions().front();
    rt.filesystem.read_text_file({.path = p});  // use: filesystem.read_text_file {"path": "?"}
  }
  for (const char* p : {"a", "b"}) {
    const char*& alias = p;
    alias = "/etc/passwd";
    rt.filesystem.read_text_file({.path = p});  // use: filesystem.read_text_file {"path": "?"}
  }
  for (const char* p : {"a", "b"}) {
    auto change = [&p] { p = "/etc/passwd"; };
    change();
    rt.filesystem.read_text_file({.path = p});  // use: filesystem.read_text_file {"path": "?"}
  }
  for (const char* p : {"a", "b"}) {
    const char** there = &p;
    *there = "/etc/passwd";
    rt.filesystem.read_text_file({.path = p});  // use: filesystem.read_text_file {"path": "?"}
  }
  for (const char* p : {"a", "b"}) {
    (void)std::exchange(p, "/etc/passwd");
    rt.filesystem.read_text_file({.path = p});  // use: filesystem.read_text_file {"path": "?"}
  }
  for (int n : {1, 2}) rt.filesystem.read_text_file({.path = "n", .head = n++});  // use: filesystem.read_text_file {"head": "?", "path": "n"}
  for (int n : {1, 2}) {
    ++n;
    rt.filesystem.read_text_file({.path = "n", .head = n});  // use: filesystem.read_text_file {"head": "?", "path": "n"}
  }
  return 0;
}
