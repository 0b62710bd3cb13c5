#include <mcpac.hpp>
#include <functional>
#include <tuple>
using Read = mcp::filesystem::read_text_file;
int agent_main(mcpac::Requires<Read> rt) {  // declared: filesystem.read_text_file
  std::apply(rt.filesystem.read_text_file, std::tuple<Read::Args>(Read::Args{.path = "t"}));  // use: filesystem.read_text_file {"head": "?", "path": "?", "tail": "?"}
  const auto later = std::bind(rt.filesystem.read_text_file, std::placeholders::_1);  // use: filesystem.read_text_file {"head": "?", "path": "?", "tail": "?"}
  later(Read::Args{.path = "u"});
  return 0;
}
