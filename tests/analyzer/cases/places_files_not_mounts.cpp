#include <mcpac.hpp>
#include <cstdlib>
#include <sys/mount.h>
#include <unistd.h>
int agent_main(mcpac::Requires<mcpac::files>) {  // declared: mcpac.files
  umount("/data");  // expect: warns os-call
  (void)std::getenv("HOME");  // expect: warns os-call
  return 0;
}
