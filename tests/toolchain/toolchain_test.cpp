#include "toolchain/toolchain.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "core/file.h"
#include "toolchain/compile.h"
#include "toolchain/driver_output.h"
#include "toolchain/precompile.h"
#include "toolchain/program_file.h"

using namespace mcpac;

TEST_SUITE("execute/toolchain") {
  TEST_CASE("the driver's plan is split as a shell would") {
    CHECK(
        toolchain::split_quoted(
            R"( "/usr/bin/clang" "-cc1" "a b" "say \"hi\"" "back\\slash" "")") ==
        std::vector<std::string>{"/usr/bin/clang", "-cc1", "a b", "say \"hi\"", "back\\slash", ""});
    CHECK(toolchain::split_quoted("").empty());
  }

  TEST_CASE("compiling and analysing use the same language flags and the same precompiled header") {
    const auto toolchain = toolchain::ask_driver("/usr/lib/llvm-19");
    REQUIRE(toolchain.has_value());
    const auto& compile = toolchain->compile;
    CHECK(compile.at(1) == "-cc1");
    CHECK(std::ranges::count(compile, "{source}") == 1);
    CHECK(std::ranges::count(compile, std::string(toolchain::inside::kPch)) == 1);
    CHECK(std::ranges::count(toolchain->analyze, std::string(toolchain::inside::kPch)) == 1);
    CHECK(std::ranges::count(compile, "-std=c++23") == 1);
    CHECK(std::ranges::count(toolchain->analyze, "-std=c++23") == 1);
    CHECK(toolchain->link.front().ends_with("ld.lld"));
  }

  TEST_CASE("the environment has no say in how agents are built") {
    ::setenv("LIBRARY_PATH", "/canary-library-path", 1);
    ::setenv("CPATH", "/canary-cpath", 1);
    const auto toolchain = toolchain::ask_driver("/usr/lib/llvm-19");
    ::unsetenv("LIBRARY_PATH");
    ::unsetenv("CPATH");
    REQUIRE(toolchain.has_value());
    CHECK(to_text(toolchain::to_json(*toolchain)).find("canary") == std::string::npos);
  }

  TEST_CASE("a toolchain is another one when a file of it is another, or a link leads elsewhere") {
    const auto folder =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "llvm-").value();
    const auto clang = folder.path() / "bin/clang";
    std::filesystem::create_directories(folder.path() / "bin");
    const auto absent = toolchain::toolchain_identity(folder.path());
    for (const char* name : {"one", "two"}) {
      REQUIRE(write_file_atomic(folder.path() / name, "the same size"));
      std::filesystem::last_write_time(folder.path() / name, {});
    }
    std::filesystem::create_symlink("../one", clang);
    const auto first = toolchain::toolchain_identity(folder.path());
    CHECK(first != absent);
    CHECK(toolchain::toolchain_identity(folder.path()) == first);
    std::filesystem::remove(clang);
    std::filesystem::create_symlink("../two", clang);
    CHECK(toolchain::toolchain_identity(folder.path()) != first);
  }

  TEST_CASE("commands survive the way through the cache") {
    const auto toolchain = toolchain::ask_driver("/usr/lib/llvm-19");
    REQUIRE(toolchain.has_value());
    const auto again = toolchain::toolchain_from_json(toolchain::to_json(*toolchain));
    REQUIRE(again.has_value());
    CHECK(again->compile == toolchain->compile);
    CHECK(again->link == toolchain->link);
    CHECK_FALSE(toolchain::toolchain_from_json(Json{{"compile", 3}}).has_value());
  }

  TEST_CASE("the headers call each tool once, by its name and by nothing else that a lock says") {
    const auto text = toolchain::warmed_tools({"mcp::a::read", "mcp::a::x>; } int evil() {", ""});
    CHECK(text.find("::mcpac::Method<::mcp::a::read>& tool, const ::mcp::a::read::Args& args") !=
          std::string::npos);
    CHECK(text.find("evil") == std::string::npos);
    CHECK(std::ranges::count(text, ';') == 1);
    CHECK(toolchain::warmed_tools({}).empty());
    CHECK(toolchain::warmed_tools(std::vector<std::string>(33, "mcp::a::read")).empty());
  }

  TEST_CASE("a toolchain that is not there is said with the packages to install") {
    const auto toolchain = toolchain::ask_driver("/no/such/llvm");
    REQUIRE_FALSE(toolchain.has_value());
    CHECK(toolchain.error().id == ErrorId::kToolchainMissing);
    CHECK(toolchain.error().fix.find("clang-19") != std::string::npos);
  }

  TEST_CASE("a program is an ELF file for this machine, and its interpreter is known") {
    const auto dynamic = toolchain::inspect_program("/usr/bin/env");
    REQUIRE(dynamic.has_value());
    CHECK(dynamic->interpreter == "/lib64/ld-linux-x86-64.so.2");
    CHECK(toolchain::inspect_program("/etc/passwd").error().id == ErrorId::kProgramUnusable);
    CHECK(toolchain::inspect_program("/").error().id == ErrorId::kProgramUnusable);
    CHECK(toolchain::inspect_program("/no/such/file").error().id == ErrorId::kFileUnreadable);
    auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-test-");
    const auto cut = folder->path() / "cut";
    std::ofstream(cut, std::ios::binary) << read_file("/usr/bin/env")->substr(0, 80);
    CHECK(toolchain::inspect_program(cut).error().id == ErrorId::kProgramUnusable);
  }
}
