// One error each, of the 4 to 13 that the library gives.
// verdict: compile_error
#include <format>
#include <optional>
#include <print>
#include <string>
#include <vector>

#include <mcpac.hpp>
struct Point {
  int x = 0;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  const std::optional<int> maybe;
  std::println("{}", Point{});  // expect: refuses compile-error // message: `Point` cannot be formatted
  std::println("{} {}", 1, maybe);  // expect: refuses compile-error // fix: value_or
  const std::string text = std::format("{}", std::vector<Point>(2));  // expect: refuses compile-error // message: cannot be formatted
  rt.filesystem.read_text_file({.path = text});
  return 0;
}
