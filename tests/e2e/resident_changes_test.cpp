// What a worker was prepared from, and what the run finds: it never sees the world as it was.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <future>

#include "e2e/resident.h"

using namespace e2e;
using mcpac::Json;
namespace fs = std::filesystem;

TEST_SUITE("e2e/resident_changes") {
  TEST_CASE("what changed since a worker was prepared is seen by the run") {
    const Resident host;
    host.prepare();
    // Another source.
    CHECK(has(host.execute("// other\n" + kEcho, kGrants).out, "echo"));
    host.check_served(1);
    // A server whose program was edited: the one that was started before is not used.
    host.wait_for("waits");
    host.edit_server("process.env[args.name] ?? '(unset)'", "'edited'");
    CHECK(has(host.execute(kEcho, kGrants).out, "token edited"));
    // Another server in the configuration: it is not the one that was approved.
    host.wait_for("waits");
    auto configuration = Resident::configuration();
    configuration.replace(configuration.find("plain"), 5, "order");
    host.workspace.write("mcpac.json", configuration);
    const auto drifted = host.execute(kEcho, kGrants);
    CHECK(drifted.exit_code == 77);
    CHECK(has(drifted.err, "MCPAC-E0402"));
    host.workspace.write("mcpac.json", Resident::configuration());
    // Another lock.
    host.wait_for("waits");
    fs::remove(host.workspace.folder() / "mcpac.lock");
    CHECK(has(host.execute(kEcho, kGrants).err, "MCPAC-E0400"));
  }

  TEST_CASE("a script that a variable names is looked at like one that is named itself") {
    auto configuration = Resident::configuration();
    configuration.replace(configuration.find("fixture.mjs"), 11, "${env:E2E_SCRIPT}");
    const e2e::RunOptions options{.environment = {"E2E_SCRIPT=./fixture.mjs"}};
    const Resident host(configuration, options);
    REQUIRE(host.execute(kEcho, kGrants, {}, options).exit_code == 7);
    host.wait_for("waits");
    host.edit_server("process.env[args.name] ?? '(unset)'", "'edited'");
    CHECK(has(host.execute(kEcho, kGrants, {}, options).out, "token edited"));
    host.check_served(1);
  }

  TEST_CASE("no server is older than a run that the host never heard of") {
    const Resident host;
    // What it answers was read when it started.
    host.workspace.write("world.txt", "old");
    host.edit_server("process.env[args.name] ?? '(unset)'", "world");
    host.edit_server("const mode = ",
                     "const world = readFileSync('world.txt', 'utf8');\nconst mode = ");
    host.prepare();
    CHECK(has(host.execute(kEcho, kGrants).out, "token old"));
    host.check_served(1);
    const pid_t waits = number(host.wait_for("waits"), "process");
    host.workspace.write("world.txt", "new");
    // Somewhere where the host cannot be reached.
    const e2e::RunOptions elsewhere{
        .environment = {"XDG_RUNTIME_DIR=" + (host.workspace.folder() / "elsewhere").string()}};
    CHECK(has(host.execute(kEcho, kGrants, {}, elsewhere).out, "token new"));
    CHECK(number(host.wait_for("waits"), "process") == waits);
    CHECK(has(host.execute(kEcho, kGrants).out, "token new"));
    host.check_served(2);
  }

  TEST_CASE("who works alone says so, and what waited for the project is prepared anew") {
    const Resident host;
    host.prepare();
    pid_t waits = number(host.wait_for("waits"), "process");
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"execute", "-c", kEcho, "--grant", kGrants, "--alone"},
          {"tools", "call", "fixture.echo", "--grant", "fixture.echo", "--apple", "a"}}) {
      const auto alone = host.run(words);
      CAPTURE(alone.err);
      CHECK((alone.exit_code == 7 || alone.exit_code == 0));
      const pid_t after = number(host.wait_for("waits"), "process");
      CHECK(after != waits);
      waits = after;
    }
    host.check_served(0);
  }

  TEST_CASE("a project is one however its file is spelled") {
    const Resident host;
    host.prepare();
    fs::create_directories(host.workspace.folder() / "sub");
    CHECK(host.execute(kEcho, kGrants, {"--config", "sub/../mcpac.json"}).exit_code == 7);
    host.check_served(1);
    CHECK(host.wait_for("waits").at("project") ==
          (fs::canonical(host.workspace.folder()) / "mcpac.json").string());
  }

  TEST_CASE("servers that wait and that the next program may not call are gone when it runs") {
    const Resident host;
    host.prepare();
    const pid_t worker = number(host.wait_for("waits"), "process");
    const auto is_server = [](const auto& one) { return has(one.command, "fixture.mjs"); };
    const auto has_server = [&] {
      return std::ranges::any_of(faults::descendants_of(worker), is_server);
    };
    REQUIRE(!host.wait_for_children(worker, is_server).empty());
    auto run = std::async(std::launch::async, [&] {
      return host.run({"execute", "-c", R"(#include <mcpac.hpp>
#include <chrono>
#include <thread>
int agent_main(mcpac::Requires<>) {
  for (int i = 0; i < 6000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return 0;
}
)"});
    });
    host.wait_for_run([](const Json&) { return true; });
    CHECK(!has_server());
    host.check_served(1);
    ::kill(number(host.shown().at("workers").at(0), "client"), SIGTERM);
    CHECK(run.get().exit_code == 143);
  }

  TEST_CASE("a header that was changed after a worker was prepared is not compiled") {
    const Resident host;
    host.prepare();
    const auto header = host.workspace.folder() / "servers/fixture.hpp";
    host.workspace.write("servers/fixture.hpp", host.workspace.read("servers/fixture.hpp") + "\n");
    const auto drifted = host.execute(kEcho, kGrants);
    CHECK(drifted.exit_code != 7);
    CHECK(has(drifted.err, "MCPAC-E0403"));
    CHECK(has(drifted.err, header.filename().string()));
    host.check_served(1);
  }

  TEST_CASE("a worker that was prepared for one server runs a program for another") {
    auto configuration = Resident::configuration();
    configuration.replace(configuration.rfind("}}"), 2,
                          R"(, "other": {"command": "node", "args": ["fixture.mjs", "plain"]}}})");
    const Resident host(configuration);
    host.prepare();
    const std::string source = R"(#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcp::other::echo, mcp::fixture::echo> rt) {
  std::println("{}", rt.other.echo({.apple = "a"}).text());
  std::println("{}", rt.fixture.echo({.apple = "b"}).text());
  return 5;
}
)";
    const std::vector<std::string> words{"execute", "-c", source, "--grant"};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), words.begin(), words.end());
      return host.run(more);
    };
    const auto served = with({"other.echo,fixture.echo"});
    CHECK_MESSAGE(served.exit_code == 5, served.err);
    host.check_served(1);
    host.wait_for("waits");
    CHECK(with({"other.echo,fixture.echo", "--alone"}).out == served.out);
    host.wait_for("waits");
    // What it knows of one server's tools decides nothing about the other's.
    const auto denied = with({"other.echo,fixture.echo where apple == \"a\"", "--expect-denials"});
    CHECK(denied.exit_code != 5);
    host.wait_for("waits");
    const auto missing = with({"fixture.echo"});
    CHECK(missing.exit_code == 77);
    CHECK(has(missing.err, "other.echo"));
    host.check_served(3);
  }

  TEST_CASE("rules that were written after a worker was prepared hold") {
    const Resident host;
    host.prepare();
    host.workspace.write("mcpac.policy", "deny fixture.env\n");
    const auto denied = host.execute(kEcho, kGrants, {"--expect-denials"});
    CHECK(denied.exit_code != 7);
    CHECK(has(denied.err, "fixture.env"));
    host.check_served(1);
  }

  TEST_CASE(
      "another environment, folder or umask: no worker that was prepared from something else") {
    const Resident host;
    host.prepare();
    const auto environment = host.execute(kEcho, kGrants, {}, {.environment = {"LC_TEST=other"}});
    CHECK(environment.exit_code == 7);
    CHECK(has(environment.out, "token other"));
    host.check_served(0);
    host.wait_for("waits");
    // Now it is the other environment that is prepared.
    CHECK(has(host.execute(kEcho, kGrants, {}, {.environment = {"LC_TEST=other"}}).out,
              "token other"));
    host.check_served(1);
    host.wait_for("waits");
    // From another folder the server's own path leads nowhere, as it does alone.
    fs::create_directories(host.workspace.folder() / "sub");
    const e2e::RunOptions below{.folder = host.workspace.folder() / "sub"};
    const auto alone =
        host.execute(kEcho, kGrants, {"--alone", "--config", "../mcpac.json"}, below);
    const auto folder = host.execute(kEcho, kGrants, {"--config", "../mcpac.json"}, below);
    CHECK(folder.exit_code == alone.exit_code);
    host.check_served(1);
  }
}
