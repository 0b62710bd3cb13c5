// The list of macros in codegen/reserved_words.cpp against the compilers that must take the
// headers.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "codegen/names.h"
#include "support_codegen.h"

using namespace mcpac::codegen;
using namespace mcpac::codegen::testing;

namespace {

// What a program with generated headers usually includes as well.
constexpr const char* kIncludes = R"(
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cmath>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cwchar>
#include <filesystem>
#include <future>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
)";

}  // namespace

TEST_SUITE("codegen/names") {
  TEST_CASE("every macro that the compilers define for the usual headers is a reserved word") {
    const auto folder = temporary_folder();
    REQUIRE(mcpac::write_file_atomic(folder.path() / "usual.cpp", kIncludes));
    std::set<std::string> missing;
    std::size_t macros = 0;
    for (const char* compiler : {"g++ -std=gnu++20", "clang++-14 -std=gnu++20",
                                 "clang++-19 -stdlib=libc++ -std=gnu++23"}) {
      std::istringstream lines(run(std::string(compiler) + " -dM -E '" +
                                   (folder.path() / "usual.cpp").string() + "' 2>/dev/null"));
      for (std::string define, name; lines >> define >> name; lines.ignore(1 << 20, '\n')) {
        ++macros;
        name = name.substr(0, name.find('('));
        if (!is_reserved_word(name)) missing.insert(name);
      }
    }
    CHECK(macros > 3000);
    for (const std::string& name : missing)
      CHECK_MESSAGE(false, name, " is a macro, and no reserved word");
  }

  TEST_CASE("no macro of the compilers themselves can be a name, however it is spelled") {
    std::set<std::string> macros;
    for (const char* compiler :
         {"g++ -std=gnu++20", "clang++-14 -std=gnu++20", "clang++-19 -std=gnu++23"}) {
      std::istringstream lines(run(std::string(compiler) + " -dM -E -x c++ /dev/null 2>/dev/null"));
      for (std::string define, name; lines >> define >> name; lines.ignore(1 << 20, '\n'))
        macros.insert(name.substr(0, name.find('(')));
    }
    for (const char* built_in : {"__FILE__", "__LINE__", "__DATE__", "__TIME__", "__COUNTER__",
                                 "__has_include", "_Pragma", "__VA_ARGS__"})
      macros.insert(built_in);
    CHECK(macros.size() > 300);
    for (const std::string& macro : macros) {
      // The name itself, and what a rule could complete to it.
      for (std::string original : {macro, macro.substr(0, macro.size() - 1)}) {
        CHECK_FALSE(macros.contains(assign_names({original}).front()));
        std::ranges::replace(original, '_', '-');
        CHECK_FALSE(macros.contains(assign_names({original}).front()));
      }
    }
  }
}
