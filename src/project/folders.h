// SPDX-License-Identifier: Apache-2.0

// Folders: places outside of the project. The command line decides (XDG base directories).
#pragma once

#include <filesystem>

namespace mcpac::project {

struct Folders {
  std::filesystem::path state;      // audit records: kept
  std::filesystem::path cache;      // everything that can be made again
  std::filesystem::path temporary;  // gone when the run is
  std::filesystem::path runtime{};  // gone when the user logs out; may be empty
  // Where a person's word is kept: of the account by the system's record of users, as the
  // environment is written by the writer of a command line. Empty where it has no home folder.
  std::filesystem::path settings{};  // ~/.config/mcpac
  std::filesystem::path answers{};   // ~/.local/state/mcpac
  std::filesystem::path libexec;     // programs that mcpac starts
  std::filesystem::path llvm = "/usr/lib/llvm-19";

  [[nodiscard]] std::filesystem::path audit() const { return state / "audit"; }
  // Empty: no answer outlives its run.
  [[nodiscard]] std::filesystem::path approvals() const {
    return answers.empty() ? answers : answers / "approvals.json";
  }
  // Who may come in over HTTP, and under which policy (gateway/tokens.h).
  [[nodiscard]] std::filesystem::path tokens() const { return state / "tokens.json"; }
  // Sockets of live runs.
  [[nodiscard]] std::filesystem::path runs() const {
    return (runtime.empty() ? state : runtime) / "runs";
  }
  [[nodiscard]] std::filesystem::path warden() const { return libexec / "mcpac-warden"; }
  // The parent of a server (src/mcp/keeper_main.cpp).
  [[nodiscard]] std::filesystem::path keeper() const { return libexec / "mcpac-keeper"; }
  [[nodiscard]] std::filesystem::path analyzer() const { return libexec / "mcpac-analyzer"; }
  // All of mcpac, and what stands before it where people and clients start it (docs/adr/0043).
  [[nodiscard]] std::filesystem::path whole() const { return libexec / "mcpac"; }
  // The build tree and an installation have the same shape: bin/ beside libexec/mcpac/.
  [[nodiscard]] std::filesystem::path front() const {
    return libexec.parent_path().parent_path() / "bin" / "mcpac";
  }
};

}  // namespace mcpac::project
