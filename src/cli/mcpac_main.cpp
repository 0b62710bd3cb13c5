#include <algorithm>
#include <cstdlib>

#include "cli/commands.h"
#include "resident/patience.h"

int main(int argc, char** argv) {
  // What is no number is the usual patience.
  if (const char* patience = std::getenv("MCPAC_RESIDENT_PATIENCE"))
    mcpac::resident::set_patience(static_cast<unsigned>(std::max(std::atoi(patience), 1)));
  return mcpac::cli::run(argc, argv);
}
