// mcpac up, down and ps through the real binary: with a resident host everything is as without it,
// and nothing is left of it.
#include "e2e/resident.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <thread>

#include "core/file.h"
#include "core/json.h"

using namespace e2e;
using mcpac::Json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kAnalyzer = "an analyzer waited for the program";
constexpr const char* kCompiler = "a compiler waited for the program";
constexpr const char* kRunner = "a runner waited for the program";

// It prints what it can know of where it stands, which must not tell one way from another.
constexpr const char* kOfItsPlace = R"(#include <mcpac.hpp>
#include <algorithm>
#include <map>
#include <print>
int {}_main(mcpac::Requires<mcp::fixture::echo, mcp::fixture::env> rt) {{
  std::map<std::string, std::size_t> sizes{{{{rt.fixture.echo({{.apple = "a"}}).text(), 1}}}};
  std::println("{{}} {{}} {{}} {{}}", __INCLUDE_LEVEL__, __BASE_FILE__, __FILE__, __COUNTER__);
  std::vector<std::string> names{{"b", "a", rt.fixture.env({{.name = "LC_TEST"}}).text()}};
  std::ranges::sort(names, [](const auto& x, const auto& y) {{ return x < y; }});
  std::println("{{}} {{}}", names.front(), sizes.size());
  return 0;
}}
)";

std::string source_of(const char* salt, int turn) {
  return fmt::format("// {} {}\n{}", salt, turn, kEcho);
}

// What waits for a program reads first, some tenths of a second after the worker is shown as
// waiting: more time at each turn, since machines are busy.
void wait_for_tools(const Resident& host, int turn) {
  constexpr int kTurns = 40;
  if (turn >= kTurns) FAIL("no compiler ever waited: " << host.log());
  host.wait_for("waits");
  std::this_thread::sleep_for(std::chrono::milliseconds(200) * (turn + 1));
}

// A program that nobody has seen, run until analyzer and compiler had waited for it.
Outcome execute_warm(const Resident& host, const char* salt, std::vector<std::string> more = {}) {
  more.emplace_back("--verbose");
  for (int turn = 0;; ++turn) {
    wait_for_tools(host, turn);
    auto outcome = host.execute(source_of(salt, turn), kGrants, more);
    if (has(outcome.err, kAnalyzer) && has(outcome.err, kCompiler)) return outcome;
  }
}

}  // namespace

TEST_SUITE("e2e/resident") {
  TEST_CASE("a host that no command could use is not started, and that is said with what helps") {
    const Workspace& workspace = Workspace::shared_fixture();
    RunOptions confined;
    confined.enter = [] { return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0; };
    const auto up = workspace.mcpac({"up"}, confined);
    CHECK(up.exit_code != 0);
    CHECK(has(up.err, "a resident host that is started here would serve no command"));
    CHECK(has(up.err, "fix: start it from a shell without no_new_privs"));
    CHECK(has(workspace.mcpac({"down"}).err, "no resident host is up"));
  }

  TEST_CASE(
      "a worker does what mcpac does alone: output, exit code, record; and each serves once") {
    {
      // Its server is confined; those of the other cases are not.
      auto config = mcpac::Json::parse(Resident::configuration());
      config["mcpServers"]["fixture"]["sandbox"] = true;
      const Resident host(config.dump());
      // The first use on a machine says that it is one.
      REQUIRE(host.execute(kEcho, kGrants, {"--alone"}).exit_code == 7);
      const auto alone = host.execute(kEcho, kGrants, {"--alone"});
      CHECK(alone.exit_code == 7);
      host.check_served(0);
      host.prepare();
      const std::size_t records = host.records();
      const pid_t first = number(host.wait_for("waits"), "process");
      const auto served = host.execute(kEcho, kGrants);
      host.check_served(1);
      CHECK(served.exit_code == alone.exit_code);
      CHECK(served.out == alone.out);
      CHECK(served.err == alone.err);
      CHECK(host.records() == records + 1);
      CHECK(host.run({"audit", "verify"}).exit_code == 0);
      CHECK(number(host.wait_for("waits"), "process") != first);
      const auto again = host.execute(kEcho, kGrants);
      host.check_served(2);
      CHECK(again.out == alone.out);
    }
    check_nothing_is_left();
  }

  TEST_CASE("what waits in a sandbox is used once, by a run that would start the very same") {
    {
      const Resident host;
      host.prepare();
      const auto unseen = execute_warm(host, "one");
      CHECK(unseen.exit_code == 7);
      CHECK(has(unseen.err, kAnalyzer));
      CHECK(has(unseen.err, kRunner));
      host.wait_for("waits");
      host.execute(source_of("four", 0), kGrants);
      host.wait_for("waits");
      const auto seen = host.execute(source_of("four", 0), kGrants, {"--verbose"});
      CHECK(seen.exit_code == 7);
      CHECK_FALSE(has(seen.err, kAnalyzer));
      CHECK_FALSE(has(seen.err, kCompiler));
      CHECK(has(seen.err, kRunner));
      // Another limit is another sandbox for the program, and none for the tools.
      const auto limited = execute_warm(host, "two", {"--memory", "512MiB"});
      CHECK(limited.out == unseen.out);
      CHECK_FALSE(has(limited.err, kRunner));
      const auto alone = host.execute(source_of("three", 0), kGrants, {"--verbose", "--alone"});
      CHECK(alone.out == unseen.out);
      CHECK_FALSE(has(alone.err, "waited for the program"));
      host.wait_for("waits");
    }
    check_nothing_is_left();
  }

  TEST_CASE("what waited in vain for a program that was seen ends while that runs") {
    {
      const Resident host;
      host.prepare();
      const auto is_tool = [](const faults::Process& one) {
        return one.name.starts_with("clang") || one.name.starts_with("mcpac-analyzer");
      };
      for (const bool seen : {false, true}) {
        CAPTURE(seen);
        const auto worker = host.wait_for("waits").at("process").get<pid_t>();
        REQUIRE(!host.wait_for_children(worker, is_tool).empty());
        auto run = host.start_hanging();
        auto tools = faults::descendants_of(worker);
        for (int i = 0; i < 600 && std::ranges::any_of(tools, is_tool); ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          tools = faults::descendants_of(worker);
        }
        CHECK(std::ranges::none_of(tools, is_tool));
        CHECK(run.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
        const auto live = host.run({"runs", "list", "--json"}).json();
        REQUIRE(live.size() == 1);
        CHECK(host.run({"runs", "kill", live.at(0).at("run").get<std::string>()}).exit_code == 0);
        CHECK(run.get().exit_code == 137);
      }
      host.check_served(2);
    }
    check_nothing_is_left();
  }

  TEST_CASE("a program is the same to the byte whether its analyzer and compiler waited for it") {
    const Resident host;
    host.prepare();
    const std::string source = fmt::format(kOfItsPlace, "agent");
    const auto kept = [&] {
      const fs::path folder = Workspace::shared_cache() / "mcpac/programs";
      std::string all;
      for (const auto& entry : fs::directory_iterator(folder)) {
        all += mcpac::read_file(entry.path()).value();
        fs::remove(entry.path());
      }
      return all;
    };
    kept();
    const auto alone = host.execute(source, kGrants, {"--alone"});
    REQUIRE(alone.exit_code == 0);
    const std::string program = kept();
    REQUIRE(program.size() > 1'000);
    for (int turn = 0;; ++turn) {
      wait_for_tools(host, turn);
      const auto served = host.execute(source, kGrants, {"--verbose"});
      CHECK(served.out == alone.out);
      CHECK(kept() == program);
      if (has(served.err, kAnalyzer) && has(served.err, kCompiler)) break;
    }
  }

  TEST_CASE("what a waiting compiler says of a mistake is what any compiler says") {
    const Resident host;
    host.prepare();
    // In the program, and in a body of the library that its types make.
    const std::string here = kEcho + "\ntemplate <int> void f() { nowhere(); }\n";
    const std::string there =
        kEcho +
        "\n#include <memory>\n#include <vector>\n"
        "void f(const std::vector<std::unique_ptr<int>>& v) { auto w = v; }\n";
    for (const std::string& broken : {here, there}) {
      const auto alone = host.execute(broken, kGrants, {"--alone"});
      CHECK(alone.exit_code == 65);
      for (int turn = 0; turn < 5; ++turn) {
        wait_for_tools(host, turn);  // most of them have come to wait
        const auto served = host.execute(broken, kGrants);
        CHECK(served.exit_code == alone.exit_code);
        CHECK(served.err == alone.err);
        CHECK_FALSE(has(served.err, "/lead/"));
      }
      for (int turn = 0;; ++turn) {
        wait_for_tools(host, turn);
        const auto served = host.execute(broken, kGrants, {"--verbose"});
        CHECK(served.exit_code == alone.exit_code);
        if (has(served.err, kAnalyzer)) break;
      }
    }
  }

  TEST_CASE("refusals and mistakes are the same, too") {
    const Resident host;
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"execute", "-c", kEcho},
          {"execute", "-c", "int main() { return 0 }"},
          {"execute", "-c", kEcho, "--grant", "nothing.here"},
          {"execute"},
          {"execute", "-c", kEcho, "--json"}}) {
      REQUIRE(host.execute(kEcho, kGrants).exit_code == 7);
      auto without = words;
      without.emplace_back("--alone");
      const auto alone = host.run(without);
      host.wait_for("waits");
      const auto served_before = host.served();
      const auto served = host.run(words);
      host.check_served(served_before + 1);
      CHECK(served.exit_code == alone.exit_code);
      CHECK(served.err == alone.err);
      CHECK(served.exit_code != 0);
    }
  }

  TEST_CASE("a program on standard input, and one whose standard input is closed") {
    const Resident host;
    host.prepare();
    const auto input = host.run({"execute", "-", "--grant", kGrants}, {.input = kEcho});
    CHECK(input.exit_code == 7);
    CHECK(has(input.out, "echo"));
    host.check_served(1);
    host.wait_for("waits");
    host.workspace.write("agent.cpp", kEcho);
    const auto closed =
        e2e::run_program({"sh", "-c",
                          fmt::format("exec {} execute agent.cpp --grant {} <&-",
                                      mcpac::testing::in_build("bin/mcpac"), kGrants)},
                         host.workspace.environment(),
                         {.folder = host.workspace.folder(), .environment = kEnvironment});
    CHECK(closed.exit_code == 7);
    host.check_served(1);
  }

  TEST_CASE("Ctrl-C at the client ends the run in its worker") {
    {
      const Resident host;
      host.prepare();
      const auto outcome = host.execute(kHangs, "fixture.hang", {}, {.interrupt_at = "begun"});
      CHECK(outcome.exit_code == 130);
      CHECK(has(outcome.err, "SIGINT"));
      host.check_served(1);
    }
    check_nothing_is_left();
  }

  TEST_CASE("two at the same time: the second works alone, and both end as they should") {
    const Resident host;
    host.prepare();
    auto hanging = host.start_hanging();
    host.check_served(1);
    const auto second = host.execute(kEcho, kGrants, {"--verbose"});
    CHECK(second.exit_code == 7);
    CHECK(has(second.err, "without the resident host"));
    host.check_served(1);
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
    REQUIRE(::stat((host.workspace.folder() / ".state/run/mcpac/resident/host.sock").c_str(),
                   &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600U);
  }

  TEST_CASE("up is up, too, for a caller who closed its standard descriptors") {
    const Resident host;
    REQUIRE(host.run({"down"}).exit_code == 0);
    const auto up = e2e::run_program(
        {"sh", "-c", fmt::format("exec {} up <&- >&- 2>&-", mcpac::testing::in_build("bin/mcpac"))},
        host.workspace.environment(),
        {.folder = host.workspace.folder(), .environment = kEnvironment});
    CHECK(up.exit_code == 0);
    CHECK(host.shown().at("workers").empty());
    host.prepare();
    CHECK(host.execute(kEcho, kGrants).exit_code == 7);
    host.check_served(1);
  }

  TEST_CASE("the warden of a worker holds neither the host's log nor the terminal") {
    const Resident host;
    host.prepare();
    const pid_t worker = number(host.wait_for("waits"), "process");
    const auto wardens = host.wait_for_children(worker, [&](const auto& one) {
      return one.parent == worker && has(one.name, "mcpac-warden");
    });
    for (const auto& one : wardens) {
      for (const char* fd : {"0", "1", "2"})
        CHECK(fs::read_symlink(fmt::format("/proc/{}/fd/{}", one.pid, fd)) == "/dev/null");
    }
  }

  TEST_CASE("MCPAC_ALONE leaves the host aside") {
    const Resident host;
    host.prepare();
    CHECK(host.execute(kEcho, kGrants, {}, {.environment = {"MCPAC_ALONE=1"}}).exit_code == 7);
    host.check_served(0);
  }

  TEST_CASE("a host that nobody asks for anything ends by itself") {
    const Workspace workspace(Resident::configuration());
    const auto outcome = workspace.mcpac({"up", "--foreground", "--idle-timeout", "1"});
    CHECK(outcome.exit_code == 0);
    CHECK(has(outcome.err, "nobody asked"));
    CHECK(!fs::exists(workspace.folder() / ".state/run/mcpac/resident/host.sock"));
  }
}
