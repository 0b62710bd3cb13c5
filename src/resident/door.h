// SPDX-License-Identifier: Apache-2.0

// Door: listening socket of a user's resident host, in a folder that is the user's alone.
//
// The folder is `resident` below the user's runtime folder, or below the state folder where the
// session has none (0700, owner and mode checked, no link); the socket is 0600. One host at a time:
// it holds a lock on `host.lock` while it lives, and only who holds it takes a left socket away.
#pragma once

#include <chrono>
#include <filesystem>

#include "core/error.h"
#include "core/file.h"
#include "project/folders.h"
#include "resident/standing.h"

namespace mcpac::resident {

[[nodiscard]] std::filesystem::path door_folder(const project::Folders& folders);

// Stamps of the installed programs on the disk: they change by an upgrade.
[[nodiscard]] std::string installation_stamp(const project::Folders& folders);

class Door {
 public:
  // kFileUnwritable where the folder is not the user's alone, or the socket cannot be made;
  // kRunUnreachable where another host holds the lock.
  [[nodiscard]] static Result<Door> open(const std::filesystem::path& folder);
  Door(Door&&) = default;
  Door& operator=(Door&&) = delete;
  ~Door();
  // The process that calls this is who clients find.
  [[nodiscard]] Result<void> listen();
  // After a fork(): the other process has the door.
  void leave();
  [[nodiscard]] int socket() const { return socket_.get(); }
  // From now on no client is admitted. Idempotent; the lock is held on.
  void close();

 private:
  Door() = default;
  UniqueFd folder_;
  UniqueFd lock_;
  UniqueFd socket_;
};

// A connection to the host, its other end checked: the same user and the same standing.
struct Connection {
  UniqueFd socket;
  Process host;
  std::string nonce;  // to be said with every request
};

inline constexpr std::chrono::milliseconds kUntilItAnswers{5'000};

// Nothing where no host listens. kRunUnreachable where one does that is not to be trusted or does
// not answer in time (patience.h).
[[nodiscard]] Result<std::optional<Connection>> connect_to_host(
    const std::filesystem::path& folder, std::chrono::milliseconds limit = kUntilItAnswers);
// The process that listens, whatever it answers and however it stands. Nothing where none does.
[[nodiscard]] Result<std::optional<Process>> find_host(const std::filesystem::path& folder);

}  // namespace mcpac::resident
