// Native programs that try what a process can try. The analyzer only warns about these: it is the
// kernel that must hold. Each case says the exact end.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "e2e/workspace.h"

using e2e::Workspace;

namespace {

// Runs `body`, which prints one line, as an agent without any permission.
std::string says(const std::string& body) {
  const auto run = Workspace::shared().execute(fmt::format(R"(#include <mcpac.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <print>
#include <signal.h>
#include <stdlib.h>
#include <string>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/swap.h>
#include <sys/uio.h>
#include <unistd.h>
int agent_main(mcpac::Requires<>) {{
  {}
  return 0;
}}
)",
                                                           body),
                                               "");
  return fmt::format("exit {}: {}", run.exit_code, run.out);
}

}  // namespace

TEST_SUITE("e2e/hostile") {
  TEST_CASE("opening a file fails") {
    CHECK(says(R"(std::println("{}", std::ifstream("/etc/passwd").is_open());)") ==
          "exit 0: false\n");
    CHECK(says(R"(std::println("{}", ::open("/", O_RDONLY | O_DIRECTORY) < 0);)") ==
          "exit 0: true\n");
    CHECK(says(R"(std::println("{}", ::open("/proc/self/mem", O_RDWR) < 0);)") == "exit 0: true\n");
  }

  TEST_CASE("a socket cannot be made") {
    CHECK(says(R"(std::println("{}", ::socket(AF_INET, SOCK_STREAM, 0) < 0);)") ==
          "exit 0: true\n");
    CHECK(says(R"(std::println("{}", ::socket(AF_UNIX, SOCK_STREAM, 0) < 0);)") ==
          "exit 0: true\n");
  }

  TEST_CASE("a process cannot be started") {
    CHECK(says(R"(std::println("{}", ::fork() < 0);)") == "exit 0: true\n");
    CHECK(
        says(
            R"(char* words[] = {nullptr}; std::println("{}", ::execve("/bin/sh", words, words) < 0);)") ==
        "exit 0: true\n");
  }

  TEST_CASE("reaching into another process ends the program") {
    CHECK(says("::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);") == "exit 137: ");
    CHECK(says("iovec v{}; ::process_vm_readv(1, &v, 1, &v, 1, 0);") == "exit 137: ");
    CHECK(says("::swapoff(\"x\");") == "exit 137: ");
  }

  TEST_CASE("nothing of the host leaks in: environment, descriptors") {
    CHECK(says(R"(std::println("{}", environ == nullptr || environ[0] == nullptr);)") ==
          "exit 0: true\n");
    CHECK(
        says(
            R"(int open = 0; for (int fd = 4; fd < 4096; ++fd) open += ::close(fd) == 0; std::println("{}", open);)") ==
        "exit 0: 0\n");
  }
}
