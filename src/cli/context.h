// SPDX-License-Identifier: Apache-2.0

// Context: environment of every command: folders, terminal and output.
//
// Only src/cli knows argv, the environment and the terminal. Data goes to standard output, talk and
// errors to standard error; with --json data is JSON, and an error is one JSON object.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/talk.h"
#include "core/error.h"
#include "core/json.h"
#include "project/project.h"
#include "resident/worker.h"

namespace CLI {
class App;
}

namespace mcpac::cli {

struct Context {
  project::Folders folders;
  std::filesystem::path config_file = "mcpac.json";
  bool json = false;
  bool color = false;        // standard error is a terminal that shows colours
  bool color_out = false;    // standard output is one
  bool interactive = false;  // standard input and standard error are terminals: a person can answer
  int exit_code = 0;
  std::vector<std::string> arguments;  // argv
  // In a worker of the resident host: what was prepared (may be null), and who hears which servers
  // a program could call.
  bool in_worker = false;
  run::PrewarmedRun* standby = nullptr;
  resident::ServersUsed servers_used = [](const std::set<std::string>&) {};
  std::shared_ptr<Talk> talk = std::make_shared<Talk>();  // standard error

  // Prints the error in the form asked for and makes its code the exit code.
  void fail(const Error& error);
  void print(const Json& value) const;     // one JSON document on standard output
  void say(std::string_view line) const;   // one line on standard error
  void warn(std::string_view text) const;  // "warning: …" on standard error
  // The project, its servers knowing where logins are kept.
  [[nodiscard]] Result<project::Project> project() const;
};

// Of the user, not of a project: $XDG_CONFIG_HOME/mcpac. Nothing in it widens what a run may do:
// that is settings.h's.
[[nodiscard]] std::filesystem::path configuration_folder();

// Reads the environment (XDG base directories, TMPDIR, NO_COLOR) and the terminal.
[[nodiscard]] Context make_context();

// The error as the JSON object of --json.
[[nodiscard]] Json to_json(const Error& error);

void add_common_options(CLI::App& command, Context& context);

}  // namespace mcpac::cli
