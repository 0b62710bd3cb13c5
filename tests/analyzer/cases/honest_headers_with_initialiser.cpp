#include <mcpac.hpp>
#include <cstddef>
#include <vector>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const std::vector<int> numbers{1, 2};
  int sum = 0;
  for (std::size_t i = 0; const int number : numbers) sum += number * static_cast<int>(i++);
  for (auto left{-3}; const int number : numbers) sum += left + number;
  switch (const int k = 2; k) {
    case 2: ++sum; break;
    default: break;
  }
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return sum;
}
