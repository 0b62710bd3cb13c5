#include "execute/run/slot.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <utility>

#include "sandbox/protocol.h"

namespace mcpac::execute {
namespace {

// Everything that the warden would be asked, as it would be asked. An image fits the runner that it
// was linked for, so another file in the same place is another program.
std::string wanted(const sandbox::Spec& spec) {
  struct stat file {};
  if (::stat(spec.program.c_str(), &file) != 0) file = {};
  return fmt::format("{} {} {}.{} {}{}{}", file.st_dev, file.st_ino, file.st_ctim.tv_sec,
                     file.st_ctim.tv_nsec, spec.program.native(), '\0',
                     sandbox::encode_spawn(spec));
}

}  // namespace

Result<Channel> make_channel() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ErrorId::kInternal, "cannot make the program's channel");
  return Channel{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<Slot> Slot::open(sandbox::Warden& warden, const sandbox::Spec& spec) {
  auto channel = make_channel();
  if (!channel) return pass_on(channel);
  std::string made_for = wanted(spec);
  sandbox::Spec with_channel = spec;
  with_channel.channel = channel->theirs.get();
  auto child = start_child(warden, std::move(with_channel));
  if (!child) return pass_on(child);
  return Slot(std::move(*child), std::move(channel->ours), std::move(made_for));
}

bool Slot::fits(const sandbox::Spec& spec) const {
  // One that ended while it waited (for memory, say) is replaced like one of another kind.
  pollfd ended{child_.child.end_descriptor(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0 && made_for_ == wanted(spec);
}

}  // namespace mcpac::execute
