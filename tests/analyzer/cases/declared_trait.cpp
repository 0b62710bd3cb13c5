#include <mcpac.hpp>
template <class Job> struct CapabilityFor;
struct Backup {};
struct Listing {};
template <> struct CapabilityFor<Backup> { using type = mcpac::Requires<mcp::filesystem::write_file>; };
template <> struct CapabilityFor<Listing> { using type = mcpac::Requires<mcp::filesystem::list_directory>; };
int agent_main(typename CapabilityFor<Listing>::type rt) {  // declared: filesystem.list_directory
  rt.filesystem.list_directory({.path = "d"});  // use: filesystem.list_directory {"path": "d"}
  return 0;
}
