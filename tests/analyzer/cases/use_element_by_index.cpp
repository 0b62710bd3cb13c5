#include <mcpac.hpp>
#include <array>
constexpr const char* kPlain[] = {"a", "b"};
constexpr std::array<std::string_view, 2> kViews{"c", "d"};
const std::vector<std::string> kStrings{"e", "f"};
static const char* changing[] = {"g", "h"};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = kPlain[1]});  // use: filesystem.read_text_file {"path": "b"}
  rt.filesystem.read_text_file({.path = kViews[0]});  // use: filesystem.read_text_file {"path": "c"}
  rt.filesystem.read_text_file({.path = kStrings[1]});  // use: filesystem.read_text_file {"path": "f"}
  rt.filesystem.read_text_file({.path = changing[0]});  // use: filesystem.read_text_file {"path": "?"}
  for (int i : {0, 1})
    rt.filesystem.read_text_file({.path = kPlain[i]});  // use: filesystem.read_text_file {"path": "a"} // use: filesystem.read_text_file {"path": "b"}
  for (int i = 0; i < 2; ++i)
    rt.filesystem.read_text_file({.path = kPlain[i]});  // use: filesystem.read_text_file {"path": "?"}
  return 0;
}
