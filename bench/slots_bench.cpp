// SPDX-License-Identifier: Apache-2.0

// Slot to first byte: how long a program takes that finds its runner waiting in its sandbox.
//
// Method: for each image a round starts a runner in the sandbox and makes memory for an image, as a
// worker does, lets them wait, and times from the image's file to the first byte of the program's
// standard output in the parent: reading, checking, copying and sealing the image, telling the
// runner, mapping, constructors, main. Beside it, in the same round, the same with a runner that is
// started only then and without memory that is ready; a bare `posix_spawn` of a static program,
// which tells a slow hour from a slow slot; and a byte to a plain process that waits, and back,
// which is the part of the kernel's waking. Printed: median, 10th and 90th percentile in
// microseconds. Usage: bench_slots RUNNER ROUNDS IMAGE... (bench/slots.py makes them).
#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "bench/first_byte.h"
#include "run/image_memory.h"
#include "run/image_start.h"
#include "sandbox/sandbox.h"
#include "toolchain/image_file.h"

namespace {

using namespace mcpac;
using namespace mcpac::bench;

struct Pair {
  UniqueFd ours, theirs;
};

Pair make_channel() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

template <class T>
T value_of(Result<T> result) {
  if (result) {
    if constexpr (std::is_void_v<T>)
      return;
    else
      return std::move(*result);
  }
  fmt::print(stderr, "{}\n", result.error().to_text());
  std::exit(1);
}

enum class Runner { kWaiting, kStartedThen };

double round_of(sandbox::Warden& warden, const std::string& runner, const std::string& image,
                Runner when) {
  Pipe output = make_pipe();
  Pair channel = make_channel();
  sandbox::Spec spec;
  spec.program = runner;
  spec.arguments = {"agent"};
  spec.admits = spec.admits.with(sandbox::ReceivesDescriptors{});
  spec.limits.memory = std::uint64_t{256} << 20U;
  spec.limits.cpu = std::chrono::seconds(10);
  spec.standard_output = output.writer.get();
  spec.channel = channel.theirs.get();
  std::optional<sandbox::Child> child;
  std::optional<run::ImageMemory> memory;
  if (when == Runner::kWaiting) {
    child = value_of(warden.spawn(spec));
    memory = value_of(run::ImageMemory::make());
    memory->make_ready();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const auto start = Clock::now();
  const auto program = value_of(toolchain::Image::read(image));
  if (!memory) memory = value_of(run::ImageMemory::make());
  const UniqueFd sealed = value_of(std::move(*memory).sealed_with(program.mapped()));
  const run::ImagePlan plan{program.entry(), program.segments()};
  value_of(run::send_image(channel.ours.get(), sealed.get(), plan, {"agent"}));
  if (!child) child = value_of(warden.spawn(spec));
  output.writer.reset();  // a program that dies is an error, not a wait
  first_byte(output.reader.get());
  const double time = microseconds_since(start);
  child->kill(sandbox::Verdict::Kind::kKilled);
  value_of(child->wait());
  return time;
}

// A process that sends back what it is sent, until it ends with this.
class Echo {
 public:
  Echo() : channel_(make_channel()) {
    if (::fork() != 0) {
      channel_.theirs.reset();
      return;
    }
    channel_.ours.reset();
    char byte = 0;
    while (::read(channel_.theirs.get(), &byte, 1) == 1) {
      if (::write(channel_.theirs.get(), &byte, 1) != 1) break;
    }
    ::_exit(0);
  }

  // After as long a wait as a slot's.
  [[nodiscard]] double round() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    char byte = 'b';
    const auto start = Clock::now();
    if (::write(channel_.ours.get(), &byte, 1) != 1 || ::read(channel_.ours.get(), &byte, 1) != 1)
      std::exit(1);
    return microseconds_since(start);
  }

 private:
  Pair channel_;
};

}  // namespace

int main(int count, char** words) {
  if (count < 4) {
    fmt::print(stderr, "usage: bench_slots RUNNER ROUNDS IMAGE...\n");
    return 2;
  }
  auto warden = value_of(sandbox::Warden::start(MCPAC_BUILD_DIR "/libexec/mcpac/mcpac-warden"));
  const int rounds = std::max(1, std::atoi(words[2]));
  const Echo echo;
  for (int i = 3; i < count; ++i) {
    std::vector<double> waiting;
    std::vector<double> started;
    std::vector<double> bare;
    std::vector<double> bytes;
    for (int round = -1; round < rounds; ++round) {
      const double slot = round_of(warden, words[1], words[i], Runner::kWaiting);
      const double then = round_of(warden, words[1], words[i], Runner::kStartedThen);
      const double spawn = by_spawn(kHello);
      const double byte = echo.round();
      if (round < 0) continue;  // once for the caches
      waiting.push_back(slot);
      started.push_back(then);
      bare.push_back(spawn);
      bytes.push_back(byte);
    }
    const std::string image = words[i];
    print_times(image + " slot", std::move(waiting));
    print_times(image + " started when asked", std::move(started));
    print_times(image + " posix_spawn", std::move(bare));
    print_times(image + " a byte and back", std::move(bytes));
  }
  return 0;
}
