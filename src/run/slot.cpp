// SPDX-License-Identifier: Apache-2.0

#include "run/slot.h"

#include <sys/socket.h>

#include <utility>

#include "toolchain/child/waiting_tool.h"

namespace mcpac::run {
Result<Channel> make_channel() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ErrorId::kInternal, "cannot make the program's channel");
  return Channel{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<Slot> Slot::open(sandbox::Warden& warden, const sandbox::Spec& spec) {
  auto channel = make_channel();
  if (!channel) return pass_on(channel);
  // An image fits the runner that it was linked for: another file in the same place is another.
  std::string made_for = toolchain::asked_of_warden(spec);
  sandbox::Spec with_channel = spec;
  with_channel.channel = channel->theirs.get();
  auto child = toolchain::start_child(warden, std::move(with_channel));
  if (!child) return pass_on(child);
  return Slot(std::move(*child), std::move(channel->ours), std::move(made_for));
}

void Slot::make_memory_ready() {
  auto memory = ImageMemory::make();
  if (!memory) return;  // the run asks again, and says why
  memory->make_ready();
  memory_ = std::move(*memory);
}

bool Slot::fits(const sandbox::Spec& spec) const {
  // One that ended while it waited (for memory, say) is replaced like one of another kind.
  return toolchain::is_waiting(child_.child) && made_for_ == toolchain::asked_of_warden(spec);
}

}  // namespace mcpac::run
