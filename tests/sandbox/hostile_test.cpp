// Each case is one thing a hostile program does, the exact way it ends, and, where that proves
// something, how it ends outside the sandbox.
#include <doctest/doctest.h>

#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

struct Case {
  std::vector<std::string> words;
  std::string inside;
  std::string outside;  // empty: not run
};

void check_all(const std::vector<Case>& cases, Profile profile = Profile::kAgent) {
  auto warden = Warden::start(warden_program());
  REQUIRE(warden);
  for (const Case& one : cases) {
    CAPTURE(one.words);
    CHECK(describe(run(*warden, hostile(one.words, profile))) == one.inside);
    if (!one.outside.empty()) CHECK(run_outside(one.words) == one.outside);
  }
}

}  // namespace

TEST_SUITE("sandbox/hostile") {
  TEST_CASE("a plain program runs and its exit code and output arrive") {
    check_all({{{"hello"}, "exit 7 hello", "exit 7 hello"}, {{"leave", "3"}, "exit 3", "exit 3"}});
  }
}

}  // namespace mcpac::sandbox::test
