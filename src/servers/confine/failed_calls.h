// SPDX-License-Identifier: Apache-2.0

// FailedCalls: likely causes of a confined server's failed call, read from what the server said.
//
// A server that is refused a file in a call says so in its own words ("ENOENT: no such file or
// directory, open '/home/me/.config/x'"), and its words do not mention a sandbox. What is
// found here is for the user of mcpac alone, beside the answer: whether a path is there is nothing
// that a server, or a client of a gateway, has to know. The words are the server's: they may name
// what it never asked for, so what is said is where to look, never what to give.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/server_config.h"
#include "project/files/kernel_mounts.h"
#include "sandbox/sandbox.h"

namespace mcpac::servers {

struct FailedFor {
  std::string text;  // one sentence, with what to do
  std::string path;  // as it is on the host; empty: the network
};

// Places of the host that the server got at its start.
struct GivenToServer {
  std::vector<std::filesystem::path> readable;
  std::vector<std::filesystem::path> writable;
  sandbox::Tier tier = sandbox::Tier::kA;  // in B folders in memory are the host's
};

// `said`: of an answer with isError, or of an error; of long ones the beginning. A few at most, for
// each place that is there for us and was not given, or not to write. Looks at the disk, where
// `mounts` says that it answers at once: the server chose the paths.
[[nodiscard]] std::vector<FailedFor> failed_for(std::string_view said,
                                                const mcp::ServerConfig& server,
                                                const GivenToServer& given,
                                                const std::vector<std::filesystem::path>& homes,
                                                const project::MountTable& mounts);

// "`mcpac server confine NAME --learn --call …` shows what its calls need": how each `text` ends.
[[nodiscard]] std::string advice_for_calls(const std::string& server);

}  // namespace mcpac::servers
