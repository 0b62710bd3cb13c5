// Victim: what a hostile case is aimed at, real enough that every case works without a sandbox: a
// folder with a secret and files to spoil, and a host that listens on loopback and on sockets.
//
// Not thread-safe; its folder goes with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/file.h"

namespace mcpac::hostile {

class Victim {
 public:
  Victim();
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_->path(); }
  [[nodiscard]] int port() const { return port_; }
  // Names, kinds, modes and contents of all that lies in the folder, and what is mounted.
  [[nodiscard]] std::string state() const;
  // As in the beginning.
  void restore() const;
  // A place that a program may be granted, outside of the folder: what a case makes there is gone
  // with the next restore_place().
  [[nodiscard]] std::filesystem::path place() const { return granted_->path() / "place"; }
  // Empty layers for its changes.
  [[nodiscard]] std::filesystem::path new_changes() const;
  void restore_place() const;
  // The end of the channel for a case; what was written to it before is lost.
  [[nodiscard]] int channel();
  // A terminal's end, for standard input.
  [[nodiscard]] int terminal();

 private:
  std::optional<TemporaryFolder> folder_;
  std::optional<TemporaryFolder> granted_;
  std::vector<UniqueFd> listeners_;
  UniqueFd ours_, theirs_;
  UniqueFd terminal_, its_end_;
  int port_ = 0;
};

}  // namespace mcpac::hostile
