// Folders: where things lie outside of the project. The command line decides (XDG base
// directories).
#pragma once

#include <filesystem>

namespace mcpac::execute {

struct Folders {
  std::filesystem::path state;      // audit records: kept
  std::filesystem::path cache;      // everything that can be made again
  std::filesystem::path temporary;  // gone when the run is
  std::filesystem::path runtime{};  // gone when the user logs out; may be empty
  std::filesystem::path libexec;    // programs that mcpac starts
  std::filesystem::path llvm = "/usr/lib/llvm-19";

  [[nodiscard]] std::filesystem::path audit() const { return state / "audit"; }
  [[nodiscard]] std::filesystem::path approvals() const { return state / "approvals.json"; }
  // Sockets of live runs.
  [[nodiscard]] std::filesystem::path runs() const {
    return (runtime.empty() ? state : runtime) / "runs";
  }
  [[nodiscard]] std::filesystem::path warden() const { return libexec / "mcpac-warden"; }
  [[nodiscard]] std::filesystem::path analyzer() const { return libexec / "mcpac-analyzer"; }
  // All of mcpac, and what stands before it where people and clients start it (docs/adr/0043).
  [[nodiscard]] std::filesystem::path whole() const { return libexec / "mcpac"; }
  // The build tree and an installation have the same shape: bin/ beside libexec/mcpac/.
  [[nodiscard]] std::filesystem::path front() const {
    return libexec.parent_path().parent_path() / "bin" / "mcpac";
  }
};

}  // namespace mcpac::execute
