#include <mcpac.hpp>
#include <algorithm>
#include <ranges>
using Read = mcp::filesystem::read_text_file;
int agent_main(mcpac::Requires<Read> rt) {  // declared: filesystem.read_text_file
  const std::vector<Read::Args> wanted{{.path = "a"}, {.path = "b"}};
  std::size_t size = 0;
  for (const auto& result : wanted | std::views::transform(rt.filesystem.read_text_file))  // use: filesystem.read_text_file {"head": "?", "path": "?", "tail": "?"}
    size += result.text().size();
  std::vector<Read::Result> results;
  std::ranges::transform(wanted, std::back_inserter(results), std::ref(rt.filesystem.read_text_file));  // use: filesystem.read_text_file {"head": "?", "path": "?", "tail": "?"}
  return size == results.size() ? 1 : 0;
}
