#include <mcpac.hpp>
constexpr const char* kind(bool large) { return large ? "large" : "small"; }
constexpr std::string_view level(int n) { return n > 3 ? "high" : "low"; }
std::string below(const std::string& folder, std::string_view file) { return folder + "/" + std::string(file); }
std::string data(const char* file) { return below("data", file); }
template <class T> std::string named(T text) { return std::string("t-") + text; }
std::string again(int n) { return n == 0 ? std::string("end") : again(n - 1); }
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = kind(true)});  // use: filesystem.read_text_file {"path": "large"}
  rt.filesystem.read_text_file({.path = level(4)});  // use: filesystem.read_text_file {"path": "high"}
  rt.filesystem.read_text_file({.path = below("a", "b")});  // use: filesystem.read_text_file {"path": "a/b"}
  rt.filesystem.read_text_file({.path = data("c")});  // use: filesystem.read_text_file {"path": "data/c"}
  rt.filesystem.read_text_file({.path = named("d")});  // use: filesystem.read_text_file {"path": "t-d"}
  rt.filesystem.read_text_file({.path = again(3)});  // use: filesystem.read_text_file {"path": "?"}
  for (const char* name : {"e", "f"})
    rt.filesystem.read_text_file({.path = data(name)});  // use: filesystem.read_text_file {"path": "data/e"} // use: filesystem.read_text_file {"path": "data/f"}
  return 0;
}
