#include <mcpac.hpp>
#include <cstdint>
int count = 0;
std::string stateful(std::string text) { return (text = "/etc/passwd", true) ? text : ""; }
const char* by_global(bool) { return count++ > 0 ? "/etc/passwd" : "a"; }
std::string swapped(const char* a) { return ++a, std::string(a); }
std::string by_reference(std::string& text) { return text; }
std::string branches(int n) { if (n > 1) return "/etc/passwd"; return "a"; }
std::string narrowed(std::uint8_t n) { return n == 300 ? "a" : "/etc/passwd"; }
struct Own { std::string name() const { return "/etc/passwd"; } };
std::string operator+(const Own&, const char*) { return "/etc/passwd"; }
std::string operator""_path(const char*, std::size_t) { return "/etc/passwd"; }
std::string defaulted(std::string name = "a") { return name; }
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = stateful("a")});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = by_global(true)});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = swapped("ab")});  // use: filesystem.read_text_file {"path": "?"}
  std::string text = "a";
  rt.filesystem.read_text_file({.path = by_reference(text)});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = branches(2)});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = narrowed(44)});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = Own().name()});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = Own() + "a"});  // use: filesystem.read_text_file {"path": "/etc/passwd"}
  rt.filesystem.read_text_file({.path = "a"_path});  // use: filesystem.read_text_file {"path": "/etc/passwd"}
  rt.filesystem.read_text_file({.path = defaulted()});  // use: filesystem.read_text_file {"path": "?"}
  return 0;
}
