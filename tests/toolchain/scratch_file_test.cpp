#include "toolchain/child/scratch_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "core/file.h"

using namespace mcpac;
using toolchain::write_scratch;

TEST_SUITE("execute/scratch file") {
  TEST_CASE("a scratch file has the mode that it was given, whatever the umask") {
    const auto folder =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-test-").value();
    const auto file = folder.path() / "agent";
    const mode_t before = ::umask(077);
    const auto written = write_scratch(file, "bytes", 0755);
    ::umask(before);
    REQUIRE(written.has_value());
    struct stat info {};
    REQUIRE(::stat(file.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0755U);
    CHECK(read_file(file).value() == "bytes");
  }

  TEST_CASE("a scratch file never takes the place of one that is there, nor follows a link") {
    const auto folder =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-test-").value();
    const auto file = folder.path() / "agent";
    REQUIRE(write_scratch(file, "first", 0644));
    CHECK_FALSE(write_scratch(file, "second", 0644));
    CHECK(read_file(file).value() == "first");
    std::filesystem::create_symlink(folder.path() / "elsewhere", folder.path() / "link");
    CHECK_FALSE(write_scratch(folder.path() / "link", "bytes", 0644));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "elsewhere"));
  }
}
