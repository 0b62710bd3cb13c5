#include "gateway/kept_memory.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

using namespace mcpac;

namespace {

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

constexpr std::size_t kLarge = std::size_t{10} << 20U;
constexpr std::size_t kCopies = 4;

void hold_one_result() {
  std::vector<std::unique_ptr<char[]>> copies;
  for (std::size_t i = 0; i < kCopies; ++i) {
    copies.emplace_back(new char[kLarge]);
    std::memset(copies.back().get(), 1, kLarge);
  }
}

}  // namespace

#if defined(__GLIBC__) && !defined(MCPAC_SANITIZED)  // those have an allocator of their own
TEST_SUITE("gateway/kept_memory") {
  TEST_CASE(
      "what large results took stays for the next ones, grows no further, and is given back") {
    gateway::keep_memory_of_results();
    // The loop has a thread of its own, and with it an arena.
    std::thread([] {
      const auto before = resident_bytes();
      hold_one_result();
      const auto kept = resident_bytes();
      CHECK(kept >= before + kLarge);
      for (int i = 0; i < 20; ++i) hold_one_result();
      CHECK(resident_bytes() < kept + kLarge);
      gateway::give_back_memory();
      CHECK(resident_bytes() < before + kLarge);
    }).join();
  }
}
#endif
