// SPDX-License-Identifier: Apache-2.0

#include "cli/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/settings.h"
#include "cli/user_folders.h"
#include "core/error_json.h"
#include "core/printable.h"
#include "servers/confine/confine_servers.h"
#include "servers/confine/learn_session.h"

namespace mcpac::cli {
namespace {

namespace fs = std::filesystem;

fs::path home_folder() {
  // Which folder a relative one means hangs on where one stands: what is recorded must not.
  if (const fs::path home = environment_variable("HOME"); home.is_absolute()) return home;
  const fs::path account = account_home();
  return account.empty() ? "/" : account;
}

}  // namespace

fs::path configuration_folder() {
  return base_folder("XDG_CONFIG_HOME", home_folder() / ".config");
}

Context make_context() {
  Context context;
  context.folders = user_folders(home_folder(), own_program().parent_path());
  if (const fs::path account = account_home(); !account.empty()) {
    context.folders.settings = settings_folder(account);
    context.folders.answers = account / ".local/state/mcpac";
  }
  const bool wants_colors =
      environment_variable("NO_COLOR").empty() && environment_variable("TERM") != "dumb";
  context.color = wants_colors && ::isatty(2) != 0;
  context.color_out = wants_colors && ::isatty(1) != 0;
  context.interactive = ::isatty(0) != 0 && ::isatty(2) != 0;
  return context;
}

Result<project::Project> Context::project() const {
  auto project = project::load_project(config_file, folders);
  if (!project) return project;
  if (const std::string session = environment_variable("MCPAC_LEARN"); !session.empty()) {
    const auto joined = servers::join_learn_session(*project, folders, session);
    if (!joined) warn(joined.error().to_text());
    if (joined && *joined)
      say(
          printable(fmt::format("{} is started without a sandbox, and observed for `mcpac server "
                                "confine`",
                                **joined)));
  }
  servers::confine_servers(*project, folders, accepted_tier(account_home()));
  return project;
}

Json to_json(const Error& error) {
  return Json{{"error", error_json(error)}};
}

void Context::fail(const Error& told) {
  Error error = told;
  // What the person accepted for this machine would have helped.
  if (error.id == ErrorId::kTierTooLow) {
    if (const Setting setting = tier_setting(account_home()); !setting.refused.empty())
      error.fix += fmt::format("{}the tier that was accepted here is not taken: {}",
                               error.fix.empty() ? "" : "; ", setting.refused);
  }
  exit_code = static_cast<int>(exit_code_of(error.id));
  if (json) return talk->write(to_text(to_json(error)) + "\n");
  std::string text = printable_lines(error.to_text());
  if (color) {
    const auto end = text.find(':');
    text = fmt::format("\033[1;31m{}\033[0m{}", text.substr(0, end), text.substr(end));
  }
  talk->write(text + "\n");
}

void Context::print(const Json& value) const {
  // On a terminal everything beyond ASCII is escaped: C1 and bidirectional controls live there.
  fmt::print("{}\n", value.dump(2, ' ', ::isatty(1) != 0, Json::error_handler_t::replace));
}

void Context::say(std::string_view line) const {
  talk->write(printable_lines(line) + "\n");
}

void Context::warn(std::string_view text) const {
  const std::string line = printable_lines(text);
  talk->write(fmt::format("{}: {}\n", color ? "\033[1;33mwarning\033[0m" : "warning", line));
}

void add_common_options(CLI::App& command, Context& context) {
  command.add_option("--config", context.config_file, "the project's mcpac.json")
      ->type_name("FILE");
  command.add_flag("--json", context.json, "print data and errors as JSON");
}

}  // namespace mcpac::cli
