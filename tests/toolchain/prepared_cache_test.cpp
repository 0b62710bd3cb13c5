#include "toolchain/prepared_cache.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include "core/file.h"
#include "toolchain/precompile.h"

using namespace mcpac;
using namespace mcpac::toolchain;
namespace fs = std::filesystem;

namespace {

struct PreparedFolder {
  TemporaryFolder home = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
  [[nodiscard]] fs::path at(const std::string& name) const { return home.path() / name; }
  // A whole one, as it looks from outside, last used so many hours ago.
  fs::path make(const std::string& name, int hours) const {
    const fs::path folder = at(name);
    fs::create_directories(folder / "include/mcpac");
    for (const char* file :
         {"runtime.pch", "runtime.o", "symbols", "runner", "runner.symbols", "image_table.o",
          "random_device.o", "agent.hpp", "include/mcpac/warm_tools.hpp", "agent.pch"})
      REQUIRE(write_file_atomic(folder / file, "x").has_value());
    const std::vector<std::string> command{"true"};
    const Toolchain toolchain{command, command, command, command, command,
                              command, command, command, "",      command};
    REQUIRE(write_file_atomic(folder / "toolchain.json", to_text(to_json(toolchain))).has_value());
    fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    return folder;
  }
};

}  // namespace

TEST_SUITE("execute/prepared cache") {
  TEST_CASE("the folders that were used last are kept, each kind as many as it may have") {
    const PreparedFolder cache;
    for (int i = 1; i <= 6; ++i) cache.make(fmt::format("servers-{}", i), i);
    for (int i = 1; i <= 3; ++i) cache.make(fmt::format("runtime-{}", i), i);
    REQUIRE(write_file_atomic(cache.at("lock"), "").has_value());
    // What was the oldest is used.
    CHECK(load_servers(cache.at("servers-6")).has_value());
    drop_the_oldest(cache.home.path(), {.servers = 3, .runtimes = 1});
    for (const char* kept : {"servers-6", "servers-1", "servers-2", "runtime-1", "lock"})
      CHECK_MESSAGE(fs::exists(cache.at(kept)), kept);
    CHECK(std::distance(fs::directory_iterator(cache.home.path()), {}) == 5);
    drop_the_oldest(cache.home.path(), {.servers = 3, .runtimes = 1});
    CHECK(std::distance(fs::directory_iterator(cache.home.path()), {}) == 5);
  }

  TEST_CASE("a folder that somebody uses is not removed, however old it is") {
    const PreparedFolder cache;
    const auto old = cache.make("servers-old", 0);
    auto prepared = load_servers(old);
    REQUIRE(prepared.has_value());
    auto known = *prepared;  // as one that waits has it
    prepared = fail(ErrorId::kInternal, "");
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(9));
    cache.make("servers-new", 1);
    drop_the_oldest(cache.home.path(), {.servers = 1});
    CHECK(fs::exists(old / "agent.pch"));
    known = {};
    drop_the_oldest(cache.home.path(), {.servers = 1});
    CHECK_FALSE(fs::exists(old));
    CHECK(fs::exists(cache.at("servers-new")));
  }

  TEST_CASE("a folder that is being removed is not used: it is not there any more") {
    const PreparedFolder cache;
    const auto folder = cache.make("servers-a", 1);
    {
      const UniqueFd removes(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      REQUIRE(::flock(removes.get(), LOCK_EX) == 0);
      CHECK_FALSE(load_servers(folder).has_value());
    }
    CHECK(load_servers(folder).has_value());
    CHECK_FALSE(load_servers(cache.at("servers-none")).has_value());
  }
}
