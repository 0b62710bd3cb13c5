#include <mcpac.hpp>
#include <array>
constexpr std::array kNames{"a", "b"};
static const std::vector<std::string> kFiles{"c", "d"};
constexpr const char* kPlain[] = {"e", "f"};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  for (const auto& name : kNames)
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "a"} // use: filesystem.read_text_file {"path": "b"}
  for (const auto& name : kFiles)
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "c"} // use: filesystem.read_text_file {"path": "d"}
  for (auto* name : kPlain)
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "e"} // use: filesystem.read_text_file {"path": "f"}
  for (auto name : std::array<std::string_view, 2>{"g", "h"})
    rt.filesystem.read_text_file({.path = std::string(name)});  // use: filesystem.read_text_file {"path": "g"} // use: filesystem.read_text_file {"path": "h"}
  return 0;
}
