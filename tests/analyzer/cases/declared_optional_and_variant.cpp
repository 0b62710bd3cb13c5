#include <mcpac.hpp>
#include <optional>
#include <variant>
using Reader = mcpac::Requires<mcp::filesystem::read_text_file>;
using Lister = mcpac::Requires<mcp::filesystem::list_directory>;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::list_directory> rt) {  // declared: filesystem.list_directory // declared: filesystem.read_text_file
  std::optional<Reader> reader = Reader(rt);
  std::variant<std::monostate, Reader, Lister> role = Lister(rt);
  if (reader) reader->filesystem.read_text_file({.path = "o"});  // use: filesystem.read_text_file {"path": "o"}
  if (const auto* lister = std::get_if<Lister>(&role)) lister->filesystem.list_directory({.path = "v"});  // use: filesystem.list_directory {"path": "v"}
  return 0;
}
