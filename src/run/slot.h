// SPDX-License-Identifier: Apache-2.0

// Slot: a program in its sandbox with its channel; for an image, its runner, which waits until it
// is given one (docs/adr/0024).
//
// A runner can start as soon as its sandbox is known, while the program is still being analysed. It
// waits under the system-call filter that the program will have, for one program only. An unused
// slot ends with the value; when the host dies, the warden takes it along.
#pragma once

#include <optional>
#include <string>

#include "core/error.h"
#include "core/file.h"
#include "run/image_memory.h"
#include "sandbox/sandbox.h"
#include "toolchain/child/stage.h"

namespace mcpac::run {

// Both ends of a program's channel.
struct Channel {
  UniqueFd ours;
  UniqueFd theirs;
};
[[nodiscard]] Result<Channel> make_channel();

class Slot {
 public:
  // `spec` with a channel and pipes of its own.
  [[nodiscard]] static Result<Slot> open(sandbox::Warden& warden, const sandbox::Spec& spec);
  // Whether open() would make the same now: this sandbox, with this very file as its program; and
  // its process has not ended.
  [[nodiscard]] bool fits(const sandbox::Spec& spec) const;

  [[nodiscard]] toolchain::PipedChild& child() { return child_; }
  // Our end of the program's channel.
  [[nodiscard]] UniqueFd& channel() { return channel_; }

  // For a slot that waits long before its program is known: has the memory of its image ready, too.
  void make_memory_ready();
  [[nodiscard]] std::optional<ImageMemory>& memory() { return memory_; }

 private:
  Slot(toolchain::PipedChild child, UniqueFd channel, std::string made_for)
      : child_(std::move(child)), channel_(std::move(channel)), made_for_(std::move(made_for)) {}
  toolchain::PipedChild child_;
  UniqueFd channel_;
  std::string made_for_;
  std::optional<ImageMemory> memory_;
};

}  // namespace mcpac::run
