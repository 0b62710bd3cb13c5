#include <mcpac.hpp>
#include <nlohmann/thirdparty/hedley/hedley.hpp>
JSON_HEDLEY_PRAGMA(once)  // expect: refuses pragma
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
