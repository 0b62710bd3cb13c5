// How a run ended, in words.
#include <doctest/doctest.h>

#include <csignal>

#include "toolchain/child/stage.h"

namespace mcpac::run {
namespace {

using sandbox::Verdict;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

}  // namespace

TEST_SUITE("execute/verdict_words") {
  TEST_CASE("an end for memory names the limit and what was used, with the way to more") {
    Verdict verdict;
    verdict.kind = Verdict::Kind::kMemoryLimit;
    verdict.code = SIGKILL;
    verdict.limit = {{"memory", 256 * kMebibyte, 304 * kMebibyte}};
    CHECK(toolchain::describe(verdict) ==
          "was ended at its memory limit of 256 MiB: it had used 304 MiB");
    CHECK(toolchain::remedy_of(verdict) == "less at a time, or --memory SIZE");
  }

  TEST_CASE("whose a signal was is said where it was not the first thread's, or the machine's") {
    Verdict verdict;
    verdict.kind = Verdict::Kind::kSignalled;
    verdict.code = SIGSEGV;
    CHECK(toolchain::describe(verdict) == "was ended by signal 11 (Segmentation fault)");
    verdict.note = "in another thread than its first";
    CHECK(toolchain::describe(verdict) ==
          "was ended by signal 11 (Segmentation fault) in another thread than its first");
  }

  TEST_CASE("a program that ended by itself had what was refused to it") {
    Verdict verdict;
    verdict.limit = {{"processes", 64, 64}};
    CHECK(toolchain::describe(verdict) ==
          "ended with exit code 0; it had 64 of the 64 threads that it may have");
  }
}

}  // namespace mcpac::run
