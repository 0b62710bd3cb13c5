// SPDX-License-Identifier: Apache-2.0

// The commands of mcpac: one function and one file each. add_…() declares the command's options;
// its work is done when CLI11 calls the command back, and ends in Context::exit_code.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/context.h"

namespace mcpac::cli {

void add_init(CLI::App& app, Context& context);          // command_init.cpp
void add_server(CLI::App& app, Context& context);        // command_server.cpp
void add_generate(CLI::App& app, Context& context);      // command_generate.cpp
void add_lock(CLI::App& app, Context& context);          // command_lock.cpp
void add_tools(CLI::App& app, Context& context);         // command_tools.cpp
void add_tools_call(CLI::App& tools, Context& context);  // command_tools_call.cpp
void add_prompt(CLI::App& app, Context& context);        // command_prompt.cpp
void add_permissions(CLI::App& app, Context& context);   // command_permissions.cpp
void add_policy(CLI::App& app, Context& context);        // command_policy.cpp
void add_execute(CLI::App& app, Context& context);       // command_execute.cpp
void add_run(CLI::App& app, Context& context);           // command_run.cpp
void add_audit(CLI::App& app, Context& context);         // command_audit.cpp
void add_runs(CLI::App& app, Context& context);          // command_runs.cpp
void add_changes(CLI::App& app, Context& context);       // command_changes.cpp
void add_approvals(CLI::App& app, Context& context);     // command_approvals.cpp
void add_resident(CLI::App& app, Context& context);      // command_resident.cpp
void add_serve(CLI::App& app, Context& context);         // command_serve.cpp
void add_connect(CLI::App& app, Context& context);       // command_connect.cpp
void add_replay(CLI::App& app, Context& context);        // command_serve.cpp
void add_token(CLI::App& app, Context& context);         // command_token.cpp
void add_login(CLI::App& app, Context& context);         // command_login.cpp
void add_info(CLI::App& app, Context& context);          // command_info.cpp
void add_doctor(CLI::App& app, Context& context);        // command_doctor.cpp

// A subcommand of `server`, in server_confine.cpp.
void add_server_confine(CLI::App& server, Context& context);

// Parses the command line, runs the command, returns the exit code. Never throws.
[[nodiscard]] int run(int argc, char** argv);

// The same in a worker of the resident host, once: its commands are declared before it is asked.
// What a request says is an argument like all others.
class CommandLine;
class WorkerCommandLine {
 public:
  WorkerCommandLine();
  ~WorkerCommandLine();
  WorkerCommandLine(const WorkerCommandLine&) = delete;
  WorkerCommandLine& operator=(const WorkerCommandLine&) = delete;
  [[nodiscard]] int run(const std::vector<std::string>& arguments, run::PrewarmedRun* standby,
                        const resident::ServersUsed& used);

 private:
  std::unique_ptr<CommandLine> line_;
};

}  // namespace mcpac::cli
