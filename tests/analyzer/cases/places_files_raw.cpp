#include <mcpac.hpp>
#include <fcntl.h>
#include <unistd.h>
int agent_main(mcpac::Requires<mcpac::files>) {  // declared: mcpac.files
  const int fd = open("data/x", O_RDONLY);
  char c = 0;
  return fd >= 0 && read(fd, &c, 1) == 1 ? 0 : 1;  // expect: refuses raw-descriptor
}
