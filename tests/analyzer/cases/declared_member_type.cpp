#include <mcpac.hpp>
struct Task {
  using Capability = mcpac::Requires<mcp::filesystem::read_text_file>;
  Capability capability;
};
int agent_main(Task::Capability rt) {  // declared: filesystem.read_text_file
  Task task{rt};
  task.capability.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
