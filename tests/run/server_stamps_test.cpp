// What a server would be started from: every change that its next start would see.
#include "run/server_stamps.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/file.h"

using namespace mcpac;
using run::stamp_of_server;
namespace fs = std::filesystem;

namespace {

struct Place {
  TemporaryFolder folder =
      TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
  fs::path script = folder.path() / "server.mjs";
  mcp::ServerConfig server{};

  Place() {
    write("first");
    server.name = "one";
    server.command = "sh";
    server.arguments = {script.string()};
  }
  void write(const char* text) const { REQUIRE(write_file_atomic(script, text).has_value()); }
  [[nodiscard]] std::string stamp() const { return stamp_of_server(server).value(); }
};

// A variable for the life of the value.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_SUITE("execute/server_stamps") {
  TEST_CASE("a server has the same stamp while nothing changes, and another with another script") {
    const Place place;
    const std::string before = place.stamp();
    CHECK(place.stamp() == before);
    place.write("second");
    CHECK(place.stamp() != before);
  }

  TEST_CASE("a script that a variable names is looked at where it lies") {
    Place place;
    const Variable variable("MCPAC_TEST_PLACE", place.folder.path().string());
    place.server.arguments = {"${env:MCPAC_TEST_PLACE}/server.mjs"};
    const std::string before = place.stamp();
    place.write("second");
    CHECK(place.stamp() != before);
  }

  TEST_CASE("a program that a variable names is looked at where it lies") {
    Place place;
    ::chmod(place.script.c_str(), 0700);
    const Variable variable("MCPAC_TEST_PLACE", place.folder.path().string());
    place.server.command = "${env:MCPAC_TEST_PLACE}/server.mjs";
    place.server.arguments.clear();
    const std::string before = place.stamp();
    place.write("second");
    CHECK(place.stamp() != before);
  }

  TEST_CASE("a file in an option, below the server's folder, and one that comes to be, are seen") {
    Place place;
    place.server.working_directory = place.folder.path().string();
    place.server.arguments = {"--config=server.mjs", "later.json"};
    const std::string before = place.stamp();
    place.write("second");
    const std::string edited = place.stamp();
    CHECK(edited != before);
    REQUIRE(write_file_atomic(place.folder.path() / "later.json", "{}").has_value());
    CHECK(place.stamp() != edited);
  }

  TEST_CASE("another value of a variable that it reads is another server") {
    Place place;
    place.server.environment["TOKEN"] = "${env:MCPAC_TEST_TOKEN}";
    std::string before;
    {
      const Variable variable("MCPAC_TEST_TOKEN", "first");
      before = place.stamp();
      CHECK(before.find("first") == std::string::npos);
    }
    const Variable variable("MCPAC_TEST_TOKEN", "second");
    CHECK(place.stamp() != before);
  }

  TEST_CASE("a server that cannot be started, or whose program is no file, has no stamp") {
    Place place;
    place.server.arguments = {"${env:MCPAC_TEST_NOWHERE}"};
    CHECK(!stamp_of_server(place.server));
    place.server.arguments.clear();
    place.server.command = "mcpac-test-no-such-program";
    CHECK(!stamp_of_server(place.server));
    place.server.command = place.folder.path().string() + "/";
    CHECK(!stamp_of_server(place.server));
  }
}
