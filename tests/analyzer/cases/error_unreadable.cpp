// verdict: compile_error
#include <string>
#include <vector>

#include <mcpac.hpp>
struct Made {
  explicit Made(int first) : x(first) {}
  int x;
};
struct Holds {
  std::string name;
  Made made;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  const auto result = rt.filesystem.read_text_file({.path = "a"});
  (void)result.as<std::vector<Made>>();  // expect: refuses compile-error // message: `std::vector<Made>` cannot be read from JSON // fix: at most 32 public members
  (void)mcpac::arguments<Holds>();  // expect: refuses compile-error // message: `Holds` cannot be read from JSON
  return 0;
}
