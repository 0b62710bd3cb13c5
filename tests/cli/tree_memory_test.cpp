// What `mcpac ps` counts for a worker.
#include "cli/tree_memory.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

using namespace mcpac;

TEST_SUITE("cli/tree_memory") {
  TEST_CASE("what a child holds counts, and what it shares with its parent counts once") {
    constexpr std::size_t kBytes = std::size_t{64} << 20U;
    void* const shared =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    std::memset(shared, 1, kBytes);
    const auto before = cli::tree_memory(::getpid());
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      // All pages of the shared memory, and as many of its own.
      std::memset(shared, 2, kBytes);
      void* const own =
          ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      std::memset(own, 1, kBytes);
      if (::write(ready[1], "+", 1) != 1) ::_exit(1);
      ::pause();
      ::_exit(0);
    }
    char said = 0;
    REQUIRE(::read(ready[0], &said, 1) == 1);
    const auto with_child = cli::tree_memory(::getpid());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::munmap(shared, kBytes);
    CHECK(before > kBytes);
    CHECK(with_child > before + kBytes * 3 / 4);
    CHECK(with_child < before + kBytes * 3 / 2);
  }

  TEST_CASE("a process that is gone holds nothing") {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    CHECK(cli::tree_memory(child) == 0);
  }
}
