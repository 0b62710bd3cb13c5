#include <mcpac.hpp>
#include <stdexcept>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  try {
    throw std::runtime_error("x");
  } catch (const std::exception&) {
    rt.filesystem.read_text_file({.path = "catch"});  // use: filesystem.read_text_file {"path": "catch"}
  }
  switch (rt.permissions().size()) {
    case 1: rt.filesystem.read_text_file({.path = "case"}); break;  // use: filesystem.read_text_file {"path": "case"}
    default: break;
  }
  if (auto result = rt.filesystem.read_text_file.try_call({.path = "if"}); result)  // use: filesystem.read_text_file {"path": "if"}
    return result->text().empty() ? 1 : 0;
  do {
    rt.filesystem.read_text_file({.path = "do"});  // use: filesystem.read_text_file {"path": "do"}
  } while (false);
  return rt.permissions().empty() ? static_cast<int>(rt.filesystem.read_text_file({.path = "ternary"}).text().size()) : 0;  // use: filesystem.read_text_file {"path": "ternary"}
}
