// The second entry form: the user's source, then the line that the host appends.
#include <mcpac.hpp>

extern mcpac::Requires<mcp::filesystem::read_text_file> runtime;
int main() {
  return runtime.filesystem.read_text_file({.path = "x"}).text().empty() ? 1 : 0;
}
decltype(::runtime) runtime = ::mcpac::detail::runtime_object<decltype(::runtime)>();
