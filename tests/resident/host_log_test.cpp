// The log of the resident host: nobody fills a disk by being refused.
#include "resident/host_log.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "core/file.h"

using namespace mcpac;
using resident::HostLog;

namespace {

std::string text_of(const UniqueFd& memory) {
  ::lseek(memory.get(), 0, SEEK_SET);
  return read_descriptor(memory.get(), "log", 1U << 20U).value();
}

}  // namespace

TEST_SUITE("resident/host_log") {
  TEST_CASE("refusals are told twenty times in ten minutes, then counted") {
    const UniqueFd memory(::memfd_create("test", MFD_CLOEXEC));
    HostLog log(memory.get());
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 10'000; ++i) log.refused("process 7: other conditions", start);
    const std::string told = text_of(memory);
    CHECK(std::ranges::count(told, '\n') == 20);
    log.refused("process 8", start + std::chrono::minutes(11));
    const std::string later = text_of(memory);
    CHECK(later.find("refused: 9980 more") != std::string::npos);
    CHECK(later.find("refused: process 8") != std::string::npos);
  }

  TEST_CASE("what it is told stays one line") {
    const UniqueFd memory(::memfd_create("test", MFD_CLOEXEC));
    HostLog(memory.get()).say("one\ntwo\x1b[2J");
    const std::string told = text_of(memory);
    CHECK(std::ranges::count(told, '\n') == 1);
    CHECK(told.find('\x1b') == std::string::npos);
  }
}
