#include <mcpac.hpp>
#include <bit>
#include <cstdint>
#include <random>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::mt19937 engine(42);
  const auto bits = std::bit_cast<std::uint32_t>(1.5F) + engine();
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return static_cast<int>(bits & 1U);
}
