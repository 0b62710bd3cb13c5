#include <mcpac.hpp>
#include <future>
using Reader = mcpac::Requires<mcp::filesystem::read_text_file>;
int agent_main(Reader rt) {  // declared: filesystem.read_text_file
  std::promise<Reader> promise;
  std::future<Reader> later = promise.get_future();
  promise.set_value(rt);
  const Reader reader = later.get();
  reader.filesystem.read_text_file({.path = "f"});  // use: filesystem.read_text_file {"path": "f"}
  return 0;
}
