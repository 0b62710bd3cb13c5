#include <mcpac.hpp>
#include <cstdio>
int agent_main(mcpac::Requires<mcpac::files>) {  // declared: mcpac.files
  std::FILE* const file = std::fopen("data/x", "r");
  if (file == nullptr) return 1;
  std::fseek(file, 0, SEEK_END);
  const long size = std::ftell(file);
  std::rewind(file);
  return std::fclose(file) == 0 && size >= 0 ? 0 : 1;
}
