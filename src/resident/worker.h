// SPDX-License-Identifier: Apache-2.0

// Worker: the process that waits, prepared, for one request, and then is that run.
//
// It has loaded its libraries, started its warden, read the project and started servers
// (run/prewarmed_run.h). With the request come the client's descriptors, folder,
// environment and arguments; from then on it is what the client would have been, and runs the same
// code.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "run/prewarmed_run.h"

namespace mcpac::resident {

// The run itself: argv, what was prepared (may be null), and where to say which servers the program
// could call, once it is known. Returns the exit code.
using ServersUsed = std::function<void(const std::set<std::string>&)>;
using RunCommand =
    std::function<int(const std::vector<std::string>&, run::PrewarmedRun*, const ServersUsed&)>;

// `mcpac resident-worker`: standard input is the socket of the resident host. Returns the exit code
// of the process.
[[nodiscard]] int serve_one(const project::Folders& folders, const RunCommand& run);

}  // namespace mcpac::resident
