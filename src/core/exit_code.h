// SPDX-License-Identifier: Apache-2.0

// ExitCode: exit codes of the mcpac program, after sysexits.h where that has a name.
//
// A run that reaches the agent returns the agent's own code; these are the codes of everything
// else.
#pragma once

namespace mcpac {

enum class ExitCode : int {
  kOk = 0,
  kUsage = 64,         // the command line is wrong
  kData = 65,          // the source does not compile, or input is malformed
  kNoInput = 66,       // an input file is missing or unreadable
  kUnavailable = 69,   // a server or the sandbox is not to be had
  kInternal = 70,      // our bug
  kRefused = 77,       // permission, finding or lock drift
  kConfig = 78,        // configuration
  kTimeout = 124,      // the run's wall clock ran out, as timeout(1) says it
  kInterrupted = 130,  // 128 + SIGINT; SIGTERM gives 143, SIGHUP 129
  kKilled = 137,       // killed for a limit: 128 + SIGKILL
};

}  // namespace mcpac
