// Settings: kept privately, and anything odd about their file or its folders counts as absent.
#include "cli/settings.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "core/file.h"

namespace mcpac::cli {

TEST_SUITE("cli/settings") {
  namespace fs = std::filesystem;
  using sandbox::Tier;

  // A home folder with a setting in it.
  struct Home {
    TemporaryFolder folder = TemporaryFolder::create("/tmp", "mcpac-test-settings").value();
    fs::path home = folder.path() / "home";
    fs::path tier = home / ".config/mcpac/accepted-tier";
    fs::path off = home / ".config/mcpac/no-permission-check";
    Home() {
      fs::create_directories(tier.parent_path());
      for (const auto& made : {home, home / ".config", tier.parent_path()})
        REQUIRE(::chmod(made.c_str(), 0755) == 0);
    }
  };

  TEST_CASE("what was accepted is read back, private, and accepting A takes it away") {
    const Home made;
    fs::remove_all(made.home / ".config");
    CHECK(accepted_tier(made.home) == Tier::kA);
    CHECK(tier_setting(made.home).refused.empty());
    for (const Tier tier : {Tier::kB, Tier::kC}) {
      REQUIRE(accept_tier(made.home, tier));
      CHECK(accepted_tier(made.home) == tier);
      struct stat info {};
      REQUIRE(::stat(made.tier.c_str(), &info) == 0);
      CHECK((info.st_mode & 0777) == 0600);
    }
    REQUIRE(accept_tier(made.home, Tier::kA));
    CHECK_FALSE(fs::exists(made.tier));
    CHECK(accept_tier(made.home, Tier::kA));
  }

  TEST_CASE("a file that says anything else, or that others can write, accepts nothing") {
    const Home made;
    for (const char* text : {"", "B", "B\n\n", "b\n", "D\n", "A\n", "BC\n", "B\nC\n"}) {
      CAPTURE(text);
      REQUIRE(write_file_atomic(made.tier, text, 0600));
      CHECK(accepted_tier(made.home) == Tier::kA);
    }
    REQUIRE(write_file_atomic(made.tier, "B\n", 0600));
    CHECK(accepted_tier(made.home) == Tier::kB);
    for (const mode_t mode : {mode_t{0620}, mode_t{0602}}) {
      REQUIRE(::chmod(made.tier.c_str(), mode) == 0);
      CHECK(accepted_tier(made.home) == Tier::kA);
    }
    REQUIRE(::chmod(made.tier.c_str(), 0600) == 0);
    const auto kept = made.home / "kept";
    fs::rename(made.tier, kept);
    fs::create_symlink(kept, made.tier);
    CHECK(accepted_tier(made.home) == Tier::kA);
    CHECK(tier_setting(made.home).refused == made.tier.string() + " is a link");
    if (::geteuid() != 0) return;
    fs::remove(made.tier);
    fs::rename(kept, made.tier);
    CHECK(accepted_tier(made.home) == Tier::kB);
    REQUIRE(::chown(made.tier.c_str(), 4242, 4242) == 0);
    CHECK(accepted_tier(made.home) == Tier::kA);
    CHECK(tier_setting(made.home).refused ==
          made.tier.string() + " belongs to another user (uid 4242)");
  }

  TEST_CASE("what others could have put there is not taken, and the path at fault is named") {
    const Home made;
    REQUIRE(write_file_atomic(made.off, "allowed\n", 0600));
    REQUIRE(is_allowed(off_switch_setting(made.home)));
    for (const fs::path& at :
         {made.off, made.off.parent_path(), made.home / ".config", made.home}) {
      CAPTURE(at);
      for (const mode_t mode : {mode_t{0020}, mode_t{0002}}) {
        REQUIRE(::chmod(at.c_str(), 0755 | mode) == 0);
        const auto setting = off_switch_setting(made.home);
        CHECK_FALSE(is_allowed(setting));
        CHECK(setting.refused.starts_with("others may write " + at.string() + " (mode 7"));
      }
      REQUIRE(::chmod(at.c_str(), 0755) == 0);
    }
    CHECK(is_allowed(off_switch_setting(made.home)));
    REQUIRE(write_file_atomic(made.off, "allow\n", 0600));
    CHECK(off_switch_setting(made.home).refused ==
          made.off.string() + " does not say `allowed`, on one line");
    fs::remove(made.off);
    CHECK(off_switch_setting(made.home).refused.empty());
    fs::create_directory(made.off);
    CHECK(off_switch_setting(made.home).refused == made.off.string() + " is no file");
  }

  TEST_CASE("a folder that is a link within the home folder is followed, and none out of it") {
    const Home made;
    fs::rename(made.home / ".config", made.home / "dotfiles");
    fs::create_symlink("dotfiles", made.home / ".config");
    REQUIRE(write_file_atomic(made.off, "allowed\n", 0600));
    CHECK(is_allowed(off_switch_setting(made.home)));
    fs::rename(made.home / "dotfiles", made.folder.path() / "elsewhere");
    fs::remove(made.home / ".config");
    fs::create_symlink(made.folder.path() / "elsewhere", made.home / ".config");
    const auto setting = off_switch_setting(made.home);
    CHECK_FALSE(is_allowed(setting));
    CHECK(setting.refused.find("leads out of the home folder, to") != std::string::npos);
    CHECK(read_setting("", "no-permission-check").refused ==
          "the system's record of users has no home folder for this account");
  }
}

}  // namespace mcpac::cli
