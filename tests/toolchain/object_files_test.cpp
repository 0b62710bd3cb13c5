#include <doctest/doctest.h>

#include <filesystem>

#include "core/file.h"
#include "toolchain/library_symbols.h"
#include "toolchain/toolchain.h"

namespace {

using namespace mcpac;
using namespace mcpac::toolchain;

constexpr const char* kLlvm = "/usr/lib/llvm-19";

}  // namespace

TEST_SUITE("execute/library_symbols") {
  TEST_CASE("every library and start file of the real link is read, and a list is read back") {
    auto toolchain = ask_driver(kLlvm);
    REQUIRE(toolchain.has_value());
    // Any object stands for the runtime's here.
    const auto symbols =
        LibrarySymbols::of_link(toolchain->link, "/usr/lib/x86_64-linux-gnu/crt1.o");
    REQUIRE(symbols.has_value());
    for (const char* name : {"open", "_start", "malloc", "_Znwm", "__cxa_throw", "sin",
                             "_ZNSt3__14coutE", "_Unwind_Resume", "__libc_start_main"})
      CHECK_MESSAGE(symbols->contains(name), name);
    for (const char* name : {"main", "agent_main", "runtime", "_Z6helperv", ""})
      CHECK_MESSAGE(!symbols->contains(name), name);
    const auto again = LibrarySymbols::from_bytes(symbols->to_bytes());
    REQUIRE(again.has_value());
    CHECK(again->to_bytes() == symbols->to_bytes());
    CHECK(again->contains("open"));
  }

  TEST_CASE("a list that is cut off or empty is an error and never an empty list") {
    CHECK_FALSE(LibrarySymbols::from_bytes("").has_value());
    CHECK_FALSE(LibrarySymbols::from_bytes("1234567").has_value());
  }

  TEST_CASE("a library that is not there or is none is an error") {
    const auto missing = LibrarySymbols::of_link({"-L/nonexistent", "-lc"}, "");
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().id == ErrorId::kToolchainMissing);
    auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-lib-");
    REQUIRE(folder.has_value());
    const auto file = folder->path() / "libx.a";
    for (const char* text :
         {"!<arch>\n", "!<arch>\n/               0           0     0     0      ",
          "GROUP ( /nonexistent/liby.a )"}) {
      REQUIRE(write_file_atomic(file, text).has_value());
      CHECK_FALSE(LibrarySymbols::of_link({"-L" + folder->path().string(), "-lx"}, "").has_value());
    }
  }
}
