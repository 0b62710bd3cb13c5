#include <mcpac.hpp>
#include <filesystem>
#include <fstream>
int agent_main(mcpac::Requires<mcpac::files>) {  // declared: mcpac.files
  std::ofstream out("data/x");
  std::filesystem::remove("data/y");
  return std::filesystem::exists("data") ? 0 : 1;
}
