// Eight bytes at a time are a line, too.
#include <mcpac.hpp>
#include <sys/eventfd.h>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) {  // declared: filesystem.read_text_file // unused: filesystem.read_text_file
  return eventfd_write(3, 1);  // expect: refuses raw-descriptor
}
