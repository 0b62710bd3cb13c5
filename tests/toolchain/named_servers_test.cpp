#include "toolchain/named_servers.h"

#include <doctest/doctest.h>

#include <filesystem>

using namespace mcpac;
using namespace mcpac::toolchain;

namespace {

codegen::Lock lock_with(std::initializer_list<const char*> names) {
  codegen::Lock lock;
  for (const std::string name : names) {
    codegen::LockedServer server;
    server.name = name;
    server.cpp_name = "mcp::" + name;
    lock.servers.push_back(std::move(server));
  }
  return lock;
}

std::set<std::string> named(const std::string& text) {
  const auto source = source_from_text(text, "<code>");
  REQUIRE(source);
  const auto snapshot = Snapshot::take(*source);
  REQUIRE(snapshot);
  return named_servers(*snapshot, lock_with({"filesystem", "git", "github", "std_"}));
}

using Headers = std::set<std::string>;

}  // namespace

TEST_SUITE("execute/named servers") {
  TEST_CASE("a program is given the servers that it names, and no others") {
    CHECK(named("int agent_main(mcpac::Requires<mcp::git::log> rt);") == Headers{"git.hpp"});
    CHECK(named("using namespace mcp; rt.filesystem.x(); // like github") ==
          Headers{"filesystem.hpp", "github.hpp"});
    CHECK(named("#include <std_.hpp>\n") == Headers{"std_.hpp"});
    CHECK(named("int main() {}").empty());
  }

  TEST_CASE("a server whose name is only a part of a word is not named") {
    CHECK(named("int githubs, my_git, git2;").empty());
  }

  TEST_CASE("a name that goes on in the next line is one name") {
    CHECK(named("mcp::file\\\nsystem::x y;") == Headers{"filesystem.hpp"});
    CHECK(named("mcp::file\\  \r\nsystem::x y;") == Headers{"filesystem.hpp"});
  }

  TEST_CASE("a program that can paste names together gets every server") {
    const Headers every{"filesystem.hpp", "git.hpp", "github.hpp", "std_.hpp"};
    CHECK(named("#define JOIN(a, b) a##b\n") == every);
    CHECK(named("%:define JOIN(a, b) a %:%: b\n") == every);
    CHECK(named("#define JOIN(a, b) a #\\\n# b\n") == every);
  }
}
