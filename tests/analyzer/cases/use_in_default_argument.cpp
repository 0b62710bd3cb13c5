#include <mcpac.hpp>
extern mcpac::Requires<mcp::filesystem::read_text_file> runtime;  // declared: filesystem.read_text_file
std::size_t length(const std::string& text = runtime.filesystem.read_text_file({.path = "d"}).text()) { return text.size(); }  // use: filesystem.read_text_file {"path": "d"}
struct Config {
  std::string text = runtime.filesystem.read_text_file({.path = "m"}).text();  // use: filesystem.read_text_file {"path": "m"}
};
int main() { return length() == Config{}.text.size() ? 0 : 1; }
