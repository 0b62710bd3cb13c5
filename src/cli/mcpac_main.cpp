#include "cli/commands.h"

int main(int argc, char** argv) {
  return mcpac::cli::run(argc, argv);
}
