// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <system_error>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "core/file.h"

namespace mcpac::cli {

void add_init(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("init", "start a project: write an empty mcpac.json");
  add_common_options(*command, context);
  command->callback([&context] {
    std::error_code error;
    if (std::filesystem::exists(context.config_file, error)) {
      context.say(
          fmt::format("{} is already there; nothing was changed", context.config_file.string()));
      return;
    }
    const auto written = write_file_atomic(context.config_file, "{\n  \"mcpServers\": {}\n}\n");
    if (!written) return context.fail(written.error());
    context.say(fmt::format("wrote {}", context.config_file.string()));
    context.say("next: mcpac server add NAME --confine -- COMMAND ARGS…, then mcpac generate");
    context.say(
        "  --confine: the server has the files that its command names, and no network; "
        "without it, all that you have");
  });
}

}  // namespace mcpac::cli
