// The error is in the library's header; the line that asked for it is the one to mend.
#include <mcpac.hpp>
#include <memory>
struct Opaque;
int agent_main(mcpac::Requires<>) {
  std::unique_ptr<Opaque> nothing;  // expect: refuses compile-error // message: incomplete type // verdict: compile_error
  return 0;
}
