// SPDX-License-Identifier: Apache-2.0

#include "toolchain/child/waiting_tool.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/protocol.h"
#include "toolchain/child/waiting_pipe.h"

namespace mcpac::toolchain {
namespace {

// A path can lead to another file than before. Of a folder its time of change is left out: what is
// written into it is what a tool waits for.
std::string file_at(const std::filesystem::path& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) file = {};
  const bool folder = S_ISDIR(file.st_mode);
  return fmt::format("{} {} {}.{} ", file.st_dev, file.st_ino, folder ? 0 : file.st_ctim.tv_sec,
                     folder ? 0 : file.st_ctim.tv_nsec);
}

}  // namespace

std::string asked_of_warden(const sandbox::Spec& spec) {
  std::string text = file_at(spec.program) + spec.program.native() + '\0';
  for (const sandbox::Mount& mount : spec.mounts) text += file_at(mount.host);
  return text + sandbox::encode_spawn(spec);
}

bool is_waiting(const sandbox::Child& child) {
  pollfd ended{child.end_descriptor(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0;
}

Result<WaitingTool> WaitingTool::start(sandbox::Warden& warden, const sandbox::Spec& spec,
                                       std::filesystem::path pipe) {
  std::string made_for = asked_of_warden(spec);
  auto child = start_child(warden, spec);
  if (!child) return pass_on(child);
  return WaitingTool(std::move(*child), std::move(made_for), std::move(pipe));
}

std::optional<PipedChild> WaitingTool::tell(std::string_view text) && {
  auto pipe = WaitingPipe::open(pipe_);
  // A second opener would stand there until its time is over.
  ::unlink(pipe_.c_str());
  if (pipe && std::move(pipe).say(text)) return std::move(child_);
  let_go();
  return std::nullopt;
}

bool WaitingTool::fits(const sandbox::Spec& spec) const {
  return is_waiting(child_.child) && made_for_ == asked_of_warden(spec);
}

}  // namespace mcpac::toolchain
