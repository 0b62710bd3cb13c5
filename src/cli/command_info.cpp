// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace mcpac::cli {
namespace {

void info(Context& context) {
  auto project = context.project();
  Json json = {{"version", MCPAC_VERSION},
               {"config", context.config_file.string()},
               {"audit", context.folders.audit().string()},
               {"cache", context.folders.cache.string()},
               {"libexec", context.folders.libexec.string()},
               {"llvm", context.folders.llvm.string()}};
  if (project) {
    json["servers"] = project->config.servers.size();
    if (auto lock = project::load_lock(*project)) {
      std::size_t tools = 0;
      for (const auto& server : lock->servers) tools += server.tools.size();
      json["locked_servers"] = lock->servers.size();
      json["locked_tools"] = tools;
    } else {
      json["lock"] = lock.error().what;
    }
  } else {
    json["project"] = project.error().what;
  }
  if (context.json) return context.print(json);
  for (const auto& [name, value] : json.items())
    fmt::print("{:<15} {}\n", name, value.is_string() ? value.get<std::string>() : to_text(value));
}

}  // namespace

void add_info(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("info", "version, folders, and what this project has");
  add_common_options(*command, context);
  command->callback([&context] { info(context); });
}

}  // namespace mcpac::cli
