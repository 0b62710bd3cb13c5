// The accepted tier: kept privately, and anything odd about its file means tier A.
#include "cli/accepted_tier.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "core/file.h"

namespace mcpac::cli {

TEST_SUITE("cli/accepted tier") {
  using sandbox::Tier;

  TEST_CASE("what was accepted is read back, private, and accepting A takes it away") {
    const auto folder = TemporaryFolder::create("/tmp", "mcpac-test-accepted");
    REQUIRE(folder);
    const auto file = folder->path() / "below" / "accepted-tier";
    CHECK(accepted_tier(file) == Tier::kA);
    for (const Tier tier : {Tier::kB, Tier::kC}) {
      REQUIRE(accept_tier(file, tier));
      CHECK(accepted_tier(file) == tier);
      struct stat info {};
      REQUIRE(::stat(file.c_str(), &info) == 0);
      CHECK((info.st_mode & 0777) == 0600);
    }
    REQUIRE(accept_tier(file, Tier::kA));
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK(accept_tier(file, Tier::kA));
  }

  TEST_CASE("a file that says anything else, or that others can write, accepts nothing") {
    const auto folder = TemporaryFolder::create("/tmp", "mcpac-test-accepted");
    REQUIRE(folder);
    const auto file = folder->path() / "accepted-tier";
    for (const char* text : {"", "B", "B\n\n", "b\n", "D\n", "A\n", "BC\n", "B\nC\n"}) {
      CAPTURE(text);
      REQUIRE(write_file_atomic(file, text, 0600));
      CHECK(accepted_tier(file) == Tier::kA);
    }
    REQUIRE(write_file_atomic(file, "B\n", 0600));
    CHECK(accepted_tier(file) == Tier::kB);
    for (const mode_t mode : {mode_t{0620}, mode_t{0602}}) {
      REQUIRE(::chmod(file.c_str(), mode) == 0);
      CHECK(accepted_tier(file) == Tier::kA);
    }
    REQUIRE(::chmod(file.c_str(), 0600) == 0);
    const auto link = folder->path() / "link";
    std::filesystem::create_symlink(file, link);
    CHECK(accepted_tier(link) == Tier::kA);
    if (::geteuid() != 0) return;
    REQUIRE(::chown(file.c_str(), 4242, 4242) == 0);
    CHECK(accepted_tier(file) == Tier::kA);
  }
}

}  // namespace mcpac::cli
