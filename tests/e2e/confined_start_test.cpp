// Confined servers that start, end, are started again, or cannot be.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "e2e/support_confined.h"
#include "faults/support_descendants.h"

using e2e::Confined;
using e2e::Gateway;
using e2e::has;
using e2e::server;

namespace {

namespace fs = std::filesystem;

std::set<std::string> lines_of(const std::string& file) {
  std::set<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

}  // namespace

TEST_SUITE("e2e/confined") {
  TEST_CASE("a confined server that cannot be started says so, with what to write") {
    struct Case {
      std::string entry;
      std::string said;
    };
    const auto entry = [](const std::string& command, const std::string& sandbox) {
      return fmt::format(R"("command": "{}", "sandbox": {})", command, sandbox);
    };
    const std::vector<Case> cases = {
        {entry("node", R"({"files": ["./nowhere"]})"), "make it, or name what is there"},
        {entry("node", R"({"files": ["./nowhere:rw"]})"), "MCPAC-E0720"},
        {entry("node", R"({"files": ["./link"]})"), "leads through a link"},
        {entry("node", R"({"files": ["/"]})"), "cannot be granted"},
        {entry("node", R"({"files": ["/proc"]})"), "kernel's view"},
        {entry("node", R"({"files": ["."]})"), ""},
        {entry("node", R"({"file": ["."]})"), "files"},
        {entry("node", R"({"files": "data"})"), "MCPAC-E0111"},
        {entry("node", "3"), "true, false"},
        {entry("./no interpreter", "true"), "script without its interpreter"},
        {entry("./set id", "true"), "set-id"},
        {entry("./nowhere", "true"), "check \\\"command\\\""},
        {entry("npx", "true"), "downloads"},
        {entry("docker", "true"), "no child of it"},
        {R"("url": "https://example.com/mcp", "sandbox": true)", "goes with"},
    };
    for (const auto& [text, said] : cases) {
      CAPTURE(text);
      if (said.empty()) continue;
      const Confined confined(false, fmt::format(R"({{"mcpServers": {{"one": {{{}}}}}}})", text));
      fs::create_symlink("data", confined.path("link"));
      confined.workspace.write("no interpreter", "#!/nowhere/interpreter\n");
      fs::copy_file("/bin/true", confined.path("set id"));
      REQUIRE(::chmod(confined.path("no interpreter").c_str(), 0755) == 0);
      REQUIRE(::chmod(confined.path("set id").c_str(), 04755) == 0);
      const auto tested = confined.mcpac({"server", "test", "one", "--json"});
      INFO(tested.out << tested.err);
      CHECK(tested.exit_code != 0);
      CHECK(has(tested.out + tested.err, said));
    }
  }

  TEST_CASE(
      "a confined server is started again whoever was killed or stopped, and nothing is left") {
    faults::adopt_orphans();
    const auto mounted = lines_of("/proc/self/mounts");
    const Confined confined(false, fmt::format(R"({{"mcpServers": {{"attempts": {{
        "command": "/usr/bin/python3", "args": ["{}"], "era": "initialize",
        "sandbox": {{"files": ["./data:rw"], "memory": "64 MB"}}}}}}}})",
                                               server("attempts.py")));
    confined.generate();
    const std::string note = confined.path("data/note");
    struct Case {
      std::string victim;  // a process, or ""
      int signal;
      std::string attempt;  // after it
      std::string on;
      std::string said;
    };
    const std::vector<Case> cases = {
        {"", 0, "end", "3", "exit status 3"},
        {"", 0, "hold", "500", "of memory, and may have 64MB"},
        {"mcpac-keeper", SIGKILL, "read", note, ""},
        {"mcpac-keeper", SIGSTOP, "end", "0", "server attempts"},
        {"mcpac-warden", SIGKILL, "read", note, ""},
        {"mcpac-warden", SIGSTOP, "end", "0", "server attempts"},
    };
    for (const Case& one : cases) {
      CAPTURE(one.victim);
      CAPTURE(one.said);
      Gateway gateway(confined);
      CHECK(has(gateway.attempt("read", note), "a note"));
      if (!one.victim.empty()) gateway.signal(one.victim, one.signal);
      // What is stopped is in nobody's way.
      if (one.signal == SIGSTOP) CHECK(has(gateway.attempt("read", note), "a note"));
      // Of one that was killed the end may have been seen by then: the call is the next one's
      // first.
      const std::string said = gateway.attempt(one.attempt, one.on);
      INFO(said);
      CHECK(has(said, one.said));
      if (one.signal != SIGKILL) CHECK_FALSE(has(said, "a note"));
      CHECK(has(gateway.attempt("read", note), "a note"));
      // The last ones are not even told to end.
      gateway.end(one.signal == SIGSTOP ? SIGKILL : 0);
      for (const auto& left : faults::wait_for_all_descendants())
        FAIL_CHECK("left: " << left.pid << " " << left.name << ": " << left.command);
    }
    {
      Gateway gateway(confined);
      // Of all that it starts together; having them does not end it.
      for (int i = 0; i < 2; ++i) {
        const std::string said = gateway.attempt("threads", "5000");
        INFO(said);
        CHECK(has(said, "bounded"));
        CHECK_FALSE(has(said, "unbounded"));
      }
      confined.workspace.write("data/other", "another description from now on");
      gateway.attempt("end", "0");
      CHECK(has(gateway.attempt("read", note), "MCPAC-E0402"));
      gateway.end(0);
      CHECK(faults::wait_for_all_descendants().empty());
    }
    // The record names the server that ended.
    const auto record = confined.mcpac({"audit", "list", "--json", "--kind", "Anomaly"}).out;
    CHECK(has(record, R"("detail": "attempts")"));
    CHECK(has(record, "the connection to a server ended during the run"));
    for (const std::string& line : lines_of("/proc/self/mounts")) {
      if ((has(line, "mcpac") || line.starts_with("sandbox ")) && !mounted.contains(line))
        FAIL_CHECK("still mounted: " << line);
    }
  }

  TEST_CASE("a confined server that ends says how, what it wrote, and what it had") {
    const Confined confined;
    confined.generate();
    const std::string ended = confined.attempt("end", "3");
    INFO(ended);
    CHECK(has(ended, "exit status 3"));
    CHECK(has(ended, "sandbox"));
  }
}
