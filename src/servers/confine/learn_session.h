// SPDX-License-Identifier: Apache-2.0

// LearnSession: a command that uses a server by mcpac, with each start of that server observed
// (`mcpac server confine NAME --learn -- COMMAND`).
//
// COMMAND starts whatever it likes; a process of mcpac below it finds the session by a variable of
// its environment, asks whether it is about its project, and starts the server of that name without
// its sandbox and observed. The variable alone is no authority: at the other end of the socket must
// be a living process of the same user that runs the same program, and it says which server. Else
// the server starts as its entry says.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "mcp/server_config.h"
#include "project/folders.h"
#include "project/project.h"
#include "servers/confine/learn.h"

namespace mcpac::servers {

// The variable: the folder of the session's socket.
inline constexpr const char* kLearnVariable = "MCPAC_LEARN";

class LearnSession {
 public:
  // `observer` is that of `server` in this project; borrowed for the life of this object. A thread
  // of its own answers.
  [[nodiscard]] static Result<std::unique_ptr<LearnSession>> open(const project::Project& project,
                                                                  const project::Folders& folders,
                                                                  const std::string& server,
                                                                  const ServerObserver& observer);
  LearnSession(const LearnSession&) = delete;
  LearnSession& operator=(const LearnSession&) = delete;
  ~LearnSession();

  // Runs `words`, found in PATH, to their end, with the environment and the streams of this process
  // and MCPAC_LEARN; what they write to standard output goes to standard error. Ctrl-C is theirs
  // meanwhile. The wait status. kServerStart where they cannot be started, or how they ended is not
  // known.
  [[nodiscard]] Result<int> run(std::vector<std::string> words) const;

 private:
  struct State;
  explicit LearnSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// In a process below such a command, whose MCPAC_LEARN is `folder`: the server that the session is
// about is started without its sandbox and observed, in this project, from here on. Its name;
// nothing where the session is about another project, which is one in another folder, or by
// another file, also where that is a link to the session's. An error: there is no such session, and
// the project is as it was.
[[nodiscard]] Result<std::optional<std::string>> join_learn_session(
    project::Project& project, const project::Folders& folders,
    const std::filesystem::path& folder);

// `server` as it is observed: without its sandbox, and of a launcher that downloads what it would
// run. The second is what to say of that, or empty.
[[nodiscard]] Result<std::pair<mcp::ServerConfig, std::string>> started_bare(
    mcp::ServerConfig server, const project::Folders& folders);

}  // namespace mcpac::servers
