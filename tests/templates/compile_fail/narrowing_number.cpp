// expect-error: (no viable conversion|no known conversion|could not convert|conversion from .* requested)
#include <mcpac.hpp>
using namespace mcp;
void f() {
  const double half = 0.5;
  mcpac::Optional<std::int64_t> lines = half;
}
