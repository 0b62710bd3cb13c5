// SPDX-License-Identifier: Apache-2.0

// Review: current offers of servers against mcpac.lock, and the approval of exactly these.
//
// A Review holds the very listings that it was made of. Accepting writes those, never a second
// answer of the server, and only onto the lock that was compared: what a person saw is what is
// approved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/lock_diff.h"
#include "core/error.h"
#include "project/generate_project.h"
#include "project/header_files.h"
#include "project/list_servers.h"
#include "project/project.h"

namespace mcpac::project {

struct Review {
  codegen::LockDiff diff;             // what differs, within the scope asked for
  std::vector<codegen::Note> notes;   // tools that cannot stand in the lock
  std::filesystem::path config_file;  // whose servers were asked
  // What accept() writes:
  LockFile before;
  std::vector<ServerListing> live;
  Approval approval;
  std::set<std::string> gone;
};

// `names` are "server" and "server.tool"; none means everything. Only the servers named are asked.
[[nodiscard]] Result<Review> review(const Project& project, const std::vector<std::string>& names,
                                    const OnProgress& progress);
// kLockBusy when mcpac.lock is no longer the one that was compared, or another process writes and
// does not end.
[[nodiscard]] Result<GenerateReport> accept(const Project& project, const Folders& folders,
                                            Review review);

struct ServerStatus {
  std::string server;
  std::size_t locked = 0;
  bool disabled = false;
  std::optional<codegen::ServerDiff> diff{};  // when it was asked and answered
  std::optional<Error> error{};               // when it could not be asked
};

struct Status {
  std::vector<ServerStatus> servers;
  std::vector<HeaderProblem> headers;
  // False: mcpac.lock was edited by hand, or is of another version of mcpac.
  bool lock_fits_itself = true;
  std::vector<codegen::Note> notes;  // codegen::notes_on_use
  [[nodiscard]] bool drifted() const;
};

enum class Ask : std::uint8_t { kServers, kNobody };
[[nodiscard]] Result<Status> status(const Project& project, Ask ask, const OnProgress& progress);

}  // namespace mcpac::project
