// SPDX-License-Identifier: Apache-2.0

// Waiting pipe: a name in a folder that a sandboxed tool opens like any file, and where it waits
// for a message.
//
// So tools that know nothing of waiting (clang, lld) can be started before their work is known. The
// pipe carries one short text, once.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/error.h"
#include "core/file.h"

namespace mcpac::toolchain {

[[nodiscard]] Result<void> make_waiting_pipe(const std::filesystem::path& pipe);

// The writer's end, open: the reader stands there, or came there this moment. It goes on with what
// is said, or with nothing when this is dropped: then it should be ended.
class WaitingPipe {
 public:
  // Without waiting; false where there is no reader, or not yet.
  [[nodiscard]] static WaitingPipe open(const std::filesystem::path& pipe);
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(writer_); }
  // At most PIPE_BUF bytes (4,096), which a pipe takes at once or not at all. Once.
  [[nodiscard]] Result<void> say(std::string_view text) &&;

 private:
  explicit WaitingPipe(UniqueFd writer) : writer_(std::move(writer)) {}
  UniqueFd writer_;
};

}  // namespace mcpac::toolchain
