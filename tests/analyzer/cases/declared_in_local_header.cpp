#include <mcpac.hpp>
#include "local_capability.hpp"
int agent_main(shared_work::Capability rt) {  // declared: filesystem.read_text_file
  return shared_work::first_line(rt).empty() ? 1 : 0;
}
// elsewhere: local_capability.hpp 10 filesystem.read_text_file {"path": "notes.txt", "head": 1}
