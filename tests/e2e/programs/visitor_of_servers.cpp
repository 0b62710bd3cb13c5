// Tools that only templates name: a generic walk over whatever servers a capability has.
#include <mcpac.hpp>

template <class Capability>
struct Probe {
  Capability rt;
  int found = 0;

  void filesystem() requires requires(Capability r) { r.filesystem.list_directory; }
  { found += rt.filesystem.list_directory.try_call({.path = "data"}) ? 1 : 0; }
  void memory() requires requires(Capability r) { r.memory.search_nodes; }
  { found += rt.memory.search_nodes.try_call({.query = "x"}) ? 1 : 0; }
  void everything() {
    if constexpr (requires { rt.everything.echo; })
      found += rt.everything.echo.try_call({.message = "hi"}) ? 1 : 0;
  }
  void all() {
    filesystem();
    memory();
    everything();
  }
};

int agent_main(mcpac::Requires<mcp::filesystem::list_directory, mcp::memory::search_nodes,
                               mcp::everything::echo>
                   rt) {
  Probe<decltype(rt)> probe{rt};
  probe.all();
  return probe.found == 3 ? 0 : 1;
}
