#include "toolchain/lead.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "analyzer/lead.h"
#include "core/file.h"
#include "toolchain/child/waiting_pipe.h"

using namespace mcpac;
namespace fs = std::filesystem;

namespace {

TemporaryFolder folder() {
  return TemporaryFolder::create(fs::temp_directory_path(), "mcpac-lead-test-").value();
}

}  // namespace

TEST_SUITE("execute/lead") {
  TEST_CASE("a lead to a program is three files that whoever compiles can read") {
    const auto at = folder();
    REQUIRE(toolchain::write_lead(at.path(), "/source/a.cpp"));
    CHECK(read_file(at.path() / "main.cpp") == std::string(analyzer::lead::kMainText));
    CHECK(read_file(at.path() / "before") == "");
    CHECK(read_file(at.path() / "source") == "#include \"/source/a.cpp\"\n");
    for (const auto& file : fs::directory_iterator(at.path())) {
      CHECK(fs::status(file).permissions() == fs::perms(0444));
    }
  }

  TEST_CASE("where a tool waits, only what comes before the program and the way to it differ") {
    const auto at = folder();
    const auto prepared = folder();
    // As an older mcpac generated the headers.
    CHECK_FALSE(toolchain::write_waiting_lead(at.path(), prepared.path()));
    CHECK(fs::is_empty(at.path()));
    fs::create_directories(prepared.path() / "include/mcpac");
    REQUIRE(write_file_atomic(prepared.path() / "include/mcpac/warm_uses.hpp", ""));
    REQUIRE(toolchain::write_waiting_lead(at.path(), prepared.path()));
    CHECK(read_file(at.path() / "main.cpp") == std::string(analyzer::lead::kMainText));
    CHECK(read_file(at.path() / "before")->contains("namespace mcpac::detail::ahead {"));
    CHECK(fs::is_fifo(toolchain::pipe_of_lead(at.path())));
  }

  TEST_CASE("how clang came from the lead to the program is no matter of the user's") {
    CHECK(toolchain::without_lead("In file included from /lead/main.cpp:2:\n"
                                  "In file included from /lead/source:1:\n"
                                  "/source/a.cpp:1:1: error: no\n") ==
          "/source/a.cpp:1:1: error: no\n");
    // How it came from there to a header is.
    CHECK(toolchain::without_lead("In file included from /lead/main.cpp:2:\n"
                                  "In file included from /lead/source:1:\n"
                                  "In file included from /source/a.cpp:1:\n"
                                  "/source/b.hpp:1:1: error: no") ==
          "In file included from /source/a.cpp:1:\n/source/b.hpp:1:1: error: no");
    CHECK(toolchain::without_lead("") == "");
    CHECK(toolchain::without_lead("error: /lead/main.cpp:2: said the program\n") ==
          "error: /lead/main.cpp:2: said the program\n");
  }
}

TEST_SUITE("execute/waiting pipe") {
  TEST_CASE("where nobody stands there is nobody to talk to, and nobody waits to find that out") {
    const auto at = folder();
    const auto pipe = at.path() / "pipe";
    REQUIRE(toolchain::make_waiting_pipe(pipe));
    CHECK_FALSE(toolchain::WaitingPipe::open(pipe));
    CHECK_FALSE(toolchain::WaitingPipe::open(at.path() / "nothing"));
  }

  TEST_CASE("whoever opened it hears what is said, and its end") {
    const auto at = folder();
    const auto pipe = at.path() / "pipe";
    REQUIRE(toolchain::make_waiting_pipe(pipe));
    struct stat info {};
    REQUIRE(::stat(pipe.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0644);
    Result<std::string> heard;
    std::thread reader([&] {
      const UniqueFd open(::open(pipe.c_str(), O_RDONLY | O_CLOEXEC));
      heard = read_descriptor(open.get(), "the pipe", 100);
    });
    for (int i = 0; i < 10'000; ++i) {
      if (auto open = toolchain::WaitingPipe::open(pipe)) {
        CHECK(std::move(open).say("words"));
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    reader.join();
    CHECK(heard == "words");
  }

  TEST_CASE("what is no pipe is not written to") {
    const auto at = folder();
    const auto target = at.path() / "file";
    REQUIRE(write_file_atomic(target, "mine"));
    const auto link = at.path() / "link";
    fs::create_symlink(target, link);
    CHECK_FALSE(toolchain::WaitingPipe::open(link));
    CHECK(read_file(target) == "mine");
  }
}
