// SPDX-License-Identifier: Apache-2.0

// WaitingTool: a process in its sandbox that was started before its work was known, and stands at a
// pipe (waiting_pipe.h) until it is told: once.
//
// It is used only where the warden would be asked for the very same process now: the same sandbox,
// word for word, with the same files at its mounts and as its program. An unused one ends with the
// value; when the host dies, the warden takes it along. Not thread-safe.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "sandbox/sandbox.h"
#include "toolchain/child/stage.h"

namespace mcpac::toolchain {

// Everything that the warden would be asked, as it would be asked, and which files lie there now.
[[nodiscard]] std::string asked_of_warden(const sandbox::Spec& spec);
// A child that waits has neither ended nor failed.
[[nodiscard]] bool is_waiting(const sandbox::Child& child);

class WaitingTool {
 public:
  // `spec` with standard descriptors of its own. `pipe`: where it will stand, on the host.
  [[nodiscard]] static Result<WaitingTool> start(sandbox::Warden& warden, const sandbox::Spec& spec,
                                                 std::filesystem::path pipe);
  [[nodiscard]] bool fits(const sandbox::Spec& spec) const;
  // It ends soon, and who destroys it hardly waits.
  void let_go() { child_.child.kill(sandbox::Verdict::Kind::kKilled); }
  // Tells it, and it goes on. Nothing where it does not stand there yet: then it is ended.
  [[nodiscard]] std::optional<PipedChild> tell(std::string_view text) &&;

 private:
  WaitingTool(PipedChild child, std::string made_for, std::filesystem::path pipe)
      : child_(std::move(child)), made_for_(std::move(made_for)), pipe_(std::move(pipe)) {}
  PipedChild child_;
  std::string made_for_;
  std::filesystem::path pipe_;
};

}  // namespace mcpac::toolchain
