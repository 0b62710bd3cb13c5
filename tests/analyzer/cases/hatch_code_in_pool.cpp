#include <mcpac.hpp>
#include <array>
#include <functional>
#include <memory_resource>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::array<std::byte, 4096> buffer{};
  std::pmr::monotonic_buffer_resource arena(buffer.data(), buffer.size());
  std::pmr::vector<std::function<void()>> tasks(&arena);  // expect: refuses code-pointer // expect: refuses code-pointer
  buffer[0] = std::byte{1};
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return static_cast<int>(tasks.size());
}
