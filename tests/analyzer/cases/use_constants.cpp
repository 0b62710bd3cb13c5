#include <mcpac.hpp>
#include <string>
constexpr std::string_view kView = "view";
const std::string kText = "text";
static const char kArray[] = "array";
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const int n = 4;
  rt.filesystem.read_text_file({.path = kView, .head = n});  // use: filesystem.read_text_file {"path": "view", "head": 4}
  rt.filesystem.read_text_file({.path = kText + "/" + kArray});  // use: filesystem.read_text_file {"path": "text/array"}
  std::string changing = "x";
  rt.filesystem.read_text_file({.path = changing});  // use: filesystem.read_text_file {"path": "?"}
  return 0;
}
