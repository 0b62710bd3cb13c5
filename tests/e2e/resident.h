// A project with a resident host, through the real binary.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "e2e/workspace.h"
#include "faults/support_descendants.h"
#include "places.h"

namespace e2e {

inline const std::string kEcho = R"(#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcp::fixture::echo, mcp::fixture::env> rt) {
  std::println("echo {}", rt.fixture.echo({.apple = "a"}).text());
  std::println("token {}", rt.fixture.env({.name = "LC_TEST"}).text());
  return 7;
}
)";
inline const std::string kGrants = "fixture.echo,fixture.env";

inline const std::string kHangs = R"(#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcp::fixture::hang> rt) {
  std::println("begun");
  rt.fixture.hang({});
  return 0;
}
)";

// With the host, and with all the time that a busy machine may want.
inline const std::vector<std::string> kEnvironment{"MCPAC_ALONE=", "MCPAC_RESIDENT_PATIENCE=30"};

// A project of its own, with the fixture's program in it, and a host that ends with the case.
class Resident {
 public:
  explicit Resident(const std::string& config = configuration(),
                    const e2e::RunOptions& options = {})
      : workspace(config) {
    faults::adopt_orphans();
    std::filesystem::copy_file(mcpac::testing::in_source("tests/servers/fixture.mjs"),
                               workspace.folder() / "fixture.mjs");
    const auto generated = run({"generate"}, options);
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
    // What the case says wins: it comes last.
    options.environment.insert(options.environment.begin(), kEnvironment.begin(),
                               kEnvironment.end());
    return workspace.mcpac(std::move(words), options);
  }
  e2e::Outcome execute(const std::string& source, const std::string& grants,
                       std::vector<std::string> more = {},
                       const e2e::RunOptions& options = {}) const {
    std::vector<std::string> words{"execute", "-c", source, "--grant", grants};
    words.insert(words.end(), more.begin(), more.end());
    return run(std::move(words), options);
  }
  // Nothing where no host is up; asked again where it could not answer.
  [[nodiscard]] mcpac::Json shown() const {
    for (int i = 0; i < 20; ++i) {
      const auto shown = run({"ps", "--json"});
      if (shown.exit_code == 0) return shown.json();
    }
    return run({"ps", "--json"}).json();
  }
  // Waits until the one worker is in this state, and returns it.
  mcpac::Json wait_for(const std::string& state) const {
    for (int i = 0; i < 1'200; ++i) {
      const mcpac::Json host = shown();
      if (!host.is_null() && host.at("workers").size() == 1 &&
          host.at("workers")[0].at("state") == state)
        return host.at("workers")[0];
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL("no worker came to be as it should: " << log());
    return {};
  }
  // What the worker that waits has started once it is ready: it makes its warden and servers while
  // it is shown as waiting already.
  template <class Is>
  [[nodiscard]] std::vector<faults::Process> wait_for_children(pid_t worker, Is is) const {
    for (int i = 0; i < 1'200; ++i) {
      auto found = faults::descendants_of(worker);
      std::erase_if(found, [&](const auto& one) { return !is(one); });
      if (!found.empty()) return found;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL("the worker did not start what it should: " << log());
    return {};
  }
  // One run that works alone, after which a worker waits that knows the servers.
  void prepare() const {
    REQUIRE(execute(kEcho, kGrants).exit_code == 7);
    REQUIRE(wait_for("waits").at("servers") == mcpac::Json{"fixture"});
  }
  [[nodiscard]] std::string log() const { return workspace.read(".state/mcpac/resident.log"); }
  // How many commands workers have served.
  [[nodiscard]] std::size_t served() const {
    const std::string text = log();
    std::size_t count = 0;
    for (auto at = text.find(" serves "); at != std::string::npos;
         at = text.find(" serves ", at + 1))
      ++count;
    return count;
  }
  // Where it is another number, the log says what happened.
  void check_served(std::size_t expected) const {
    INFO(log());
    CHECK(served() == expected);
  }
  [[nodiscard]] std::size_t records() const {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(workspace.state() / "audit"))
      count += entry.path().extension() == ".jsonl" ? 1 : 0;
    return count;
  }
  // A run whose call hangs, in a worker.
  [[nodiscard]] std::future<e2e::Outcome> start_hanging() const {
    auto run = std::async(std::launch::async, [this] { return execute(kHangs, "fixture.hang"); });
    wait_for_run([](const mcpac::Json& live) { return live.at("in_flight") == 1; });
    return run;
  }
  // Waits until one run is live and is as it should be.
  template <class Holds>
  void wait_for_run(Holds holds) const {
    for (int i = 0; i < 1'200; ++i) {
      const auto listed = run({"runs", "list", "--json"});
      const auto live = mcpac::parse_json(listed.out);
      if (listed.exit_code == 0 && live && live->size() == 1 && holds(live->at(0))) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL("no run came to be as it should: " << log());
  }
  void edit_server(const std::string& before, const std::string& after) const {
    auto script = workspace.read("fixture.mjs");
    REQUIRE(has(script, before));
    script.replace(script.find(before), before.size(), after);
    workspace.write("fixture.mjs", script);
  }

  Workspace workspace;
};

inline pid_t number(const mcpac::Json& json, const char* name) {
  return json.at(name).get<pid_t>();
}

inline void check_nothing_is_left() {
  for (const auto& left : faults::wait_for_all_descendants())
    FAIL_CHECK("left: " << left.pid << " " << left.name << ": " << left.command);
}

}  // namespace e2e
