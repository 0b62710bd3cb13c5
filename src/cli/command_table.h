// SPDX-License-Identifier: Apache-2.0

// Table of the commands and their declarations, in the order of the help; and the choice of those
// that a command line needs. To declare a command is to make tens of options: all of them together
// were more than a third of the instructions of `mcpac --version`, and every run has one command.
//
// What is left out changes nothing visible: help and mistakes name all commands.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"

namespace mcpac::cli {

struct DeclaredCommands {
  std::array<std::string_view, 4> names;  // that `declare` adds to the application; the rest empty
  void (*declare)(CLI::App& app, Context& context);
};

[[nodiscard]] std::span<const DeclaredCommands> command_table();

// Declares what `words` (argv after the program) need. The options of mcpac itself must be there
// already: they tell which words are values.
void declare_commands(CLI::App& app, Context& context, const std::vector<std::string>& words);

}  // namespace mcpac::cli
