// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/stage.h"

#include <time.h>

#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

namespace mcpac::analyzer {
namespace {

std::atomic<const char*> current = "reading the source";

// Of the whole process, since it started.
std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void set_stage(const char* stage) {
  current = stage;
}

void watch(std::chrono::seconds limit, std::function<void(const char*)> too_long) {
  try {
    std::thread([limit, too_long = std::move(too_long)] {
      // The clock of the processor, not of the wall: a busy machine makes no program a bomb. Again
      // and again, since the thread that works cannot have used more than has passed.
      for (auto used = processor_time(); used < limit; used = processor_time())
        std::this_thread::sleep_for(limit - used);
      too_long(current);
    }).detach();
  } catch (const std::system_error&) {
    return;  // the host's limit remains
  }
}

}  // namespace mcpac::analyzer
