// mcpac up, down and ps through the real binary: with a resident host everything is as without it,
// and nothing is left of it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <thread>

#include "e2e/workspace.h"
#include "faults/support_descendants.h"
#include "places.h"

using e2e::has;
using e2e::Workspace;
using mcpac::Json;
namespace fs = std::filesystem;

namespace {

const std::string kEcho = R"(#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcp::fixture::echo, mcp::fixture::env> rt) {
  std::println("echo {}", rt.fixture.echo({.apple = "a"}).text());
  std::println("token {}", rt.fixture.env({.name = "LC_TEST"}).text());
  return 7;
}
)";
const std::string kGrants = "fixture.echo,fixture.env";

const std::string kHangs = R"(#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcp::fixture::hang> rt) {
  std::println("begun");
  rt.fixture.hang({});
  return 0;
}
)";

// A project of its own, with the fixture's program in it, and a host that ends with the case.
class Resident {
 public:
  Resident() : workspace(configuration()) {
    faults::adopt_orphans();
    fs::copy_file(mcpac::testing::in_source("tests/servers/fixture.mjs"),
                  workspace.folder() / "fixture.mjs");
    const auto generated = run({"generate"});
    INFO(generated.err);
    REQUIRE(generated.exit_code == 0);
    const auto up = run({"up"});
    INFO(up.err);
    REQUIRE(up.exit_code == 0);
  }
  ~Resident() { run({"down"}); }
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  static std::string configuration() {
    return R"({"mcpServers": {"fixture": {"command": "node", "args": ["fixture.mjs", "plain"],
              "env": {"FIXTURE_TOKEN": "${env:E2E_MEMORY}"}}}})";
  }

  e2e::Outcome run(std::vector<std::string> words, e2e::RunOptions options = {}) const {
    options.environment.push_back("XDG_RUNTIME_DIR=" + (workspace.folder() / "run").string());
    return workspace.mcpac(std::move(words), options);
  }
  e2e::Outcome execute(const std::string& source, const std::string& grants,
                       std::vector<std::string> more = {},
                       const e2e::RunOptions& options = {}) const {
    std::vector<std::string> words{"execute", "-c", source, "--grant", grants};
    words.insert(words.end(), more.begin(), more.end());
    return run(std::move(words), options);
  }
  [[nodiscard]] Json shown() const { return run({"ps", "--json"}).json(); }
  // Waits until the one worker is in this state, and returns it.
  Json wait_for(const std::string& state) const {
    for (int i = 0; i < 1'200; ++i) {
      const Json host = shown();
      if (!host.is_null() && host.at("workers").size() == 1 &&
          host.at("workers")[0].at("state") == state)
        return host.at("workers")[0];
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL("no worker came to be as it should");
    return {};
  }
  // One run that works alone, after which a worker waits that knows the servers.
  void prepare() const {
    REQUIRE(execute(kEcho, kGrants).exit_code == 7);
    REQUIRE(wait_for("waits").at("servers") == Json{"fixture"});
  }
  // How many commands workers have served.
  [[nodiscard]] std::size_t served() const {
    const std::string log = workspace.read(".state/mcpac/resident.log");
    std::size_t count = 0;
    for (auto at = log.find(" serves "); at != std::string::npos; at = log.find(" serves ", at + 1))
      ++count;
    return count;
  }
  [[nodiscard]] std::size_t records() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(workspace.state() / "audit"))
      count += entry.path().extension() == ".jsonl" ? 1 : 0;
    return count;
  }
  // A run whose call hangs, in a worker.
  [[nodiscard]] std::future<e2e::Outcome> start_hanging() const {
    auto run = std::async(std::launch::async, [this] { return execute(kHangs, "fixture.hang"); });
    for (int i = 0; i < 1'200; ++i) {
      const auto listed = this->run({"runs", "list", "--json"}).json();
      if (listed.size() == 1 && listed[0].at("in_flight") == 1) return run;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL("no run came to its call");
    return run;
  }

  Workspace workspace;
};

pid_t number(const Json& json, const char* name) {
  return json.at(name).get<pid_t>();
}

void check_nothing_is_left() {
  for (const auto& left : faults::wait_for_all_descendants())
    FAIL_CHECK("left: " << left.pid << " " << left.name << ": " << left.command);
}

}  // namespace

TEST_SUITE("e2e/resident") {
  TEST_CASE(
      "a worker does what mcpac does alone: output, exit code, record; and each serves once") {
    {
      const Resident host;
      const auto alone = host.execute(kEcho, kGrants, {"--alone"});
      CHECK(alone.exit_code == 7);
      CHECK(host.served() == 0);
      host.prepare();
      const std::size_t records = host.records();
      const pid_t first = number(host.wait_for("waits"), "process");
      const auto served = host.execute(kEcho, kGrants);
      CHECK(host.served() == 1);
      CHECK(served.exit_code == alone.exit_code);
      CHECK(served.out == alone.out);
      CHECK(served.err == alone.err);
      CHECK(host.records() == records + 1);
      CHECK(host.run({"audit", "verify"}).exit_code == 0);
      CHECK(number(host.wait_for("waits"), "process") != first);
      const auto again = host.execute(kEcho, kGrants);
      CHECK(host.served() == 2);
      CHECK(again.out == alone.out);
    }
    check_nothing_is_left();
  }

  TEST_CASE("refusals and mistakes are the same, too") {
    const Resident host;
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"execute", "-c", kEcho},
          {"execute", "-c", "int main() { return 0 }"},
          {"execute", "-c", kEcho, "--grant", "nothing.here"},
          {"execute"},
          {"execute", "-c", kEcho, "--json"}}) {
      const auto served_before = host.served();
      REQUIRE(host.execute(kEcho, kGrants).exit_code == 7);
      host.wait_for("waits");
      auto without = words;
      without.emplace_back("--alone");
      const auto alone = host.run(without);
      const auto served = host.run(words);
      CHECK(served.exit_code == alone.exit_code);
      CHECK(served.err == alone.err);
      CHECK(host.served() > served_before);
      CHECK(served.exit_code != 0);
    }
  }

  TEST_CASE("what changed since a worker was prepared is seen by the run") {
    const Resident host;
    host.prepare();
    // Another source.
    CHECK(has(host.execute("// other\n" + kEcho, kGrants).out, "echo"));
    CHECK(host.served() == 1);
    // A server whose program was edited: the one that was started before is not used.
    host.wait_for("waits");
    auto script = host.workspace.read("fixture.mjs");
    const std::string before = "process.env[args.name] ?? '(unset)'";
    REQUIRE(has(script, before));
    script.replace(script.find(before), before.size(), "'edited'");
    host.workspace.write("fixture.mjs", script);
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

  TEST_CASE("rules that were written after a worker was prepared hold") {
    const Resident host;
    host.prepare();
    host.workspace.write("mcpac.policy", "deny fixture.env\n");
    const auto denied = host.execute(kEcho, kGrants, {"--expect-denials"});
    CHECK(denied.exit_code != 7);
    CHECK(has(denied.err, "fixture.env"));
    CHECK(host.served() == 1);
  }

  TEST_CASE(
      "another environment, folder or umask: no worker that was prepared from something else") {
    const Resident host;
    host.prepare();
    const auto environment = host.execute(kEcho, kGrants, {}, {.environment = {"LC_TEST=other"}});
    CHECK(environment.exit_code == 7);
    CHECK(has(environment.out, "token other"));
    CHECK(host.served() == 0);
    host.wait_for("waits");
    // Now it is the other environment that is prepared.
    CHECK(has(host.execute(kEcho, kGrants, {}, {.environment = {"LC_TEST=other"}}).out,
              "token other"));
    CHECK(host.served() == 1);
    host.wait_for("waits");
    // From another folder the server's own path leads nowhere, as it does alone.
    fs::create_directories(host.workspace.folder() / "sub");
    const e2e::RunOptions below{.folder = host.workspace.folder() / "sub"};
    const auto alone =
        host.execute(kEcho, kGrants, {"--alone", "--config", "../mcpac.json"}, below);
    const auto folder = host.execute(kEcho, kGrants, {"--config", "../mcpac.json"}, below);
    CHECK(folder.exit_code == alone.exit_code);
    CHECK(host.served() == 1);
  }

  TEST_CASE("a program on standard input, and one whose standard input is closed") {
    const Resident host;
    host.prepare();
    const auto input = host.run({"execute", "-", "--grant", kGrants}, {.input = kEcho});
    CHECK(input.exit_code == 7);
    CHECK(has(input.out, "echo"));
    CHECK(host.served() == 1);
    host.wait_for("waits");
    host.workspace.write("agent.cpp", kEcho);
    const auto closed = e2e::run_program(
        {"sh", "-c",
         fmt::format("exec {} execute agent.cpp --grant {} <&-",
                     mcpac::testing::in_build("bin/mcpac"), kGrants)},
        host.workspace.environment(),
        {.folder = host.workspace.folder(),
         .environment = {"XDG_RUNTIME_DIR=" + (host.workspace.folder() / "run").string()}});
    CHECK(closed.exit_code == 7);
    CHECK(host.served() == 1);
  }

  TEST_CASE("Ctrl-C at the client ends the run in its worker") {
    {
      const Resident host;
      host.prepare();
      const auto outcome = host.execute(kHangs, "fixture.hang", {}, {.interrupt_at = "begun"});
      CHECK(outcome.exit_code == 130);
      CHECK(has(outcome.err, "SIGINT"));
      CHECK(host.served() == 1);
    }
    check_nothing_is_left();
  }

  TEST_CASE("two at the same time: the second works alone, and both end as they should") {
    const Resident host;
    host.prepare();
    auto hanging = host.start_hanging();
    CHECK(host.served() == 1);
    const auto second = host.execute(kEcho, kGrants, {"--verbose"});
    CHECK(second.exit_code == 7);
    CHECK(has(second.err, "without the resident host"));
    CHECK(host.served() == 1);
    const Json host_now = host.shown();
    REQUIRE(host_now.at("workers").size() == 1);
    CHECK(host_now.at("workers")[0].at("state") == "runs");
    ::kill(number(host_now.at("workers")[0], "client"), SIGTERM);
    CHECK(hanging.get().exit_code == 143);
  }

  TEST_CASE("kill -9 of client, worker or host leaves no process, and no record is lost") {
    for (const std::string who : {"client", "worker", "host"}) {
      CAPTURE(who);
      {
        const Resident host;
        host.prepare();
        const std::size_t records = host.records();
        auto hanging = host.start_hanging();
        const Json now = host.shown();
        const Json worker = now.at("workers").at(0);
        const pid_t victim = who == "client"   ? number(worker, "client")
                             : who == "worker" ? number(worker, "process")
                                               : number(now, "process");
        REQUIRE(::kill(victim, SIGKILL) == 0);
        const auto outcome = hanging.get();
        // What a shell sees when a command is killed; or the error that says that the host is gone.
        CHECK(outcome.exit_code == (who == "host" ? 69 : 137));
        if (who == "host") CHECK(has(outcome.err, "MCPAC-E1003"));
        CHECK(host.records() == records + 1);
        if (who != "host") host.wait_for("waits");  // and the next one is prepared
        CHECK(has(host.run({"audit", "list", "--json"}).out, "fixture.hang"));
        CHECK(host.execute(kEcho, kGrants).exit_code == 7);
      }
      check_nothing_is_left();
    }
  }

  TEST_CASE("down ends what runs, waits until nothing is left, and needs nobody to be up") {
    {
      const Resident host;
      host.prepare();
      auto hanging = host.start_hanging();
      const auto down = host.run({"down"});
      CHECK(down.exit_code == 0);
      CHECK(hanging.get().exit_code == 143);
      CHECK(has(host.run({"down"}).err, "no resident host is up"));
      CHECK(host.shown().is_null());
      CHECK(has(host.run({"ps"}).err, "no resident host is up"));
      CHECK(host.execute(kEcho, kGrants).exit_code == 7);
    }
    check_nothing_is_left();
  }

  TEST_CASE("up is said twice and is up once; ps shows what there is") {
    const Resident host;
    const auto again = host.run({"up"});
    CHECK(again.exit_code == 0);
    CHECK(has(again.err, "up already"));
    host.prepare();
    const Json shown = host.shown();
    CHECK(shown.at("memory").get<std::uint64_t>() > 0);
    CHECK(shown.at("workers")[0].at("memory").get<std::uint64_t>() > 0);
    CHECK(shown.at("workers")[0].at("project") ==
          (fs::canonical(host.workspace.folder()) / "mcpac.json").string());
    CHECK(has(host.run({"ps"}).out, "waits"));
    CHECK(host.run({"up", "--idle-timeout", "0"}).exit_code == 64);
    struct stat info {};
    REQUIRE(::stat((host.workspace.folder() / "run/mcpac/resident/host.sock").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600U);
  }

  TEST_CASE("MCPAC_ALONE leaves the host aside") {
    const Resident host;
    host.prepare();
    CHECK(host.execute(kEcho, kGrants, {}, {.environment = {"MCPAC_ALONE=1"}}).exit_code == 7);
    CHECK(host.served() == 0);
  }

  TEST_CASE("a host that nobody asks for anything ends by itself") {
    const Workspace workspace(Resident::configuration());
    const std::vector<std::string> environment{"XDG_RUNTIME_DIR=" +
                                               (workspace.folder() / "run").string()};
    const auto outcome = workspace.mcpac({"up", "--foreground", "--idle-timeout", "1"},
                                         {.environment = environment});
    CHECK(outcome.exit_code == 0);
    CHECK(has(outcome.err, "nobody asked"));
    CHECK(!fs::exists(workspace.folder() / "run/mcpac/resident/host.sock"));
  }
}
