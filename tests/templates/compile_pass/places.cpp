// Files and the network are declared as tools are, beside them or alone.
#include <mcpac.hpp>
using namespace mcp;
int reads(mcpac::Requires<mcpac::files> rt) {
  static_assert(decltype(rt)::has<mcpac::files>() && !decltype(rt)::has<mcpac::network>());
  return 0;
}
int agent_main(mcpac::Requires<filesystem::read_text_file, mcpac::files, mcpac::network> rt) {
  static_assert(sizeof(rt.network) > 0);
  for (const auto& permission : rt.permissions()) std::puts(permission.c_str());
  const mcpac::Requires<mcpac::network> alone = rt;
  (void)alone;
  return reads(rt);
}
int main() {
  return ::mcpac::detail::run_agent_main(&::agent_main);
}
