// Arguments outside of a call: clang says neither which is missing nor which texts there are.
// verdict: compile_error
#include <mcpac.hpp>
using namespace mcp;
filesystem::write_file::Args made() { return {.path = "a"}; }  // expect: refuses compile-error // message: required argument `content` is missing
int agent_main(mcpac::Requires<filesystem::write_file, forms::everything> rt) {
  filesystem::write_file::Args one{};  // expect: refuses compile-error // message: required argument `path` is missing // fix: without braces: `Args args;`
  forms::everything::Args args;
  args.mode = "slow";  // expect: refuses compile-error // message: the text is no value of mcp::forms::everything::Args::Mode // fix: mcpac tools describe forms.every/thing
  rt.filesystem.write_file(one);
  return 0;
}
