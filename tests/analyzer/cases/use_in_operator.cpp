#include <mcpac.hpp>
struct Reader {
  mcpac::Requires<mcp::filesystem::read_text_file> rt;
  std::string operator[](const std::string& name) const { return rt.filesystem.read_text_file({.path = name}).text(); }  // use: filesystem.read_text_file {"path": "?"}
  explicit operator bool() const { return rt.filesystem.read_text_file.try_call({.path = "ready"}).has_value(); }  // use: filesystem.read_text_file {"path": "ready"}
  std::string operator()() const { return rt.filesystem.read_text_file({.path = "call"}).text(); }  // use: filesystem.read_text_file {"path": "call"}
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const Reader reader{rt};
  return reader && reader["a"] == reader() ? 0 : 1;
}
