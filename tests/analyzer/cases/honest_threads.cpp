#include <mcpac.hpp>
#include <mutex>
#include <thread>
#include <vector>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const std::lock_guard lock(mutex);
      rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
    });
  }
  for (auto& thread : threads) thread.join();
  return 0;
}
