#include <mcpac.hpp>
#include <cstdio>
int agent_main(mcpac::Requires<>) {
  std::FILE* const file = std::fopen("data/x", "r");  // expect: warns os-call
  if (file == nullptr) return 1;
  return std::fclose(file);  // expect: warns os-call
}
