#include <mcpac.hpp>
#include <future>
#include <thread>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::string one;
  {
    std::thread thread([&] { one = rt.filesystem.read_text_file({.path = "t"}).text(); });  // use: filesystem.read_text_file {"path": "t"}
    thread.join();
  }
  auto two = std::async(std::launch::deferred, [rt] { return rt.filesystem.read_text_file({.path = "u"}).text(); });  // use: filesystem.read_text_file {"path": "u"}
  return one == two.get() ? 0 : 1;
}
