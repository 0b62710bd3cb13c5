// SPDX-License-Identifier: Apache-2.0

#include "sandbox/look.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>
#include <vector>

#include "sandbox/descriptors.h"
#include "sandbox/process.h"

namespace mcpac::sandbox {
namespace {

constexpr std::size_t kStackWords = 4096;  // 32 KiB from its top
constexpr int kMostMilliseconds = 1000;
static_assert(sizeof(Sight) <= PIPE_BUF);  // written whole

// What points into code, from the top of the stack on: return addresses, and what is left of older
// ones. The host tells them apart, as it has the program's file.
void read_frames(const ChildMemory& memory, std::uint64_t stack, Stand& stand) {
  const auto code = memory.code();
  for (const std::uint64_t word : memory.words(stack, kStackWords)) {
    if (stand.frame_count == stand.frames.size()) return;
    const auto points_into = [word](const AddressRange& range) { return range.contains(word); };
    if (std::ranges::any_of(code, points_into)) stand.frames[stand.frame_count++] = word;
  }
}

bool comes_in_time(int reader_end) {
  pollfd answer{reader_end, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&answer, 1, kMostMilliseconds);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

}  // namespace

Sight look_at(const ChildMemory& memory, std::uint64_t counter,
              std::optional<std::uint64_t> stack_pointer, std::optional<std::uint64_t> text) {
  Sight sight;
  sight.stand.frames[sight.stand.frame_count++] = counter;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return sight;
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t reader = ::fork();
  if (reader < 0) return sight;
  if (reader == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    // It may have to be given up and then outlive the warden, whose sockets and pipes others wait
    // for.
    auto kept = memory.descriptors();
    kept.push_back(writing.get());
    close_all_but(std::move(kept));
    if (text) memory.read_text(*text, sight.text);
    sight.stand.entry = memory.entry().value_or(0);
    if (stack_pointer) read_frames(memory, *stack_pointer, sight.stand);
    ::_exit(::write(writing.get(), &sight, sizeof sight) == sizeof sight ? 0 : 1);
  }
  writing.reset();
  if (comes_in_time(reading.get())) {
    Sight seen;
    if (::read(reading.get(), &seen, sizeof seen) == sizeof seen) sight = seen;
    sight.came = true;
    ::waitpid(reader, nullptr, 0);
  } else {
    give_up(reader);
  }
  return sight;
}

}  // namespace mcpac::sandbox
