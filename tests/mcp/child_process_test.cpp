// What a server's process inherits of ours, and what it does not.
#include "mcp/child_process.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdint>
#include <string>

#include <boost/asio/io_context.hpp>

using namespace mcpac;

namespace {

std::uint64_t mask_in(const std::string& status, const std::string& name) {
  const auto at = status.find(name);
  REQUIRE(at != std::string::npos);
  return std::stoull(status.substr(at + name.size(), 16), nullptr, 16);
}

}  // namespace

TEST_SUITE("mcp/child_process") {
  TEST_CASE("a child starts with no signal ignored or blocked, whatever we do with ours") {
    // As TerminalApprover ignores them, so that a question in the background does not stop us.
    const auto before_in = std::signal(SIGTTIN, SIG_IGN);
    const auto before_out = std::signal(SIGTTOU, SIG_IGN);
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
    boost::asio::io_context loop;
    const auto child = mcp::ChildProcess::spawn(
        loop.get_executor(),
        {.program = "/bin/cat", .arguments = {"cat", "/proc/self/status"}, .environment = {}});
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    std::signal(SIGTTIN, before_in);
    std::signal(SIGTTOU, before_out);
    REQUIRE(child);
    const std::string status =
        read_descriptor((*child)->stdout_end.get(), "status", 1U << 16U).value();
    // Two are the C library's own (its posix_spawn leaves 32 and 33 ignored).
    CHECK(mask_in(status, "SigIgn:\t") == (mask_in(status, "SigIgn:\t") & 0x180000000U));
    CHECK(mask_in(status, "SigBlk:\t") == 0);
  }
}
