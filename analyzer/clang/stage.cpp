#include "analyzer/clang/stage.h"

#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

namespace mcpac::analyzer {
namespace {

std::atomic<const char*> current = "reading the source";

}  // namespace

void set_stage(const char* stage) {
  current = stage;
}

void watch(std::chrono::seconds limit, std::function<void(const char*)> too_long) {
  try {
    std::thread([limit, too_long = std::move(too_long)] {
      std::this_thread::sleep_for(limit);
      too_long(current);
    }).detach();
  } catch (const std::system_error&) {
    return;  // the host's limit remains
  }
}

}  // namespace mcpac::analyzer
