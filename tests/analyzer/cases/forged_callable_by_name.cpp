// A callable of a tool that nobody declared, made where no construction is written.
#include <mcpac.hpp>
#include <functional>
#include <memory>
using W = mcp::filesystem::write_file;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::invoke(*std::make_unique<mcpac::Method<W>>(nullptr), W::Args{.path = "x", .content = "y"});  // expect: refuses forged-type
  struct Own : std::remove_cvref_t<decltype(rt.filesystem.read_text_file)> {  // expect: refuses forged-type // use: filesystem.read_text_file {"head": "?", "path": "?", "tail": "?"}
  };
  return 0;
}
