// What a run is given with --arguments: with real servers, in the record, in a recording, and in a
// worker of the resident host.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "e2e/resident.h"
#include "e2e/workspace.h"

using e2e::has;
using e2e::Workspace;
using mcpac::Json;
namespace fs = std::filesystem;

namespace {

const std::string kReads = R"(#include <mcpac.hpp>
#include <string>
using namespace mcp;
mcpac::Json agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  const auto path = mcpac::argument<std::string>("path");
  const auto text = rt.filesystem.read_text_file({.path = path, .head = mcpac::argument<int>("head", 1)}).text();
  return {{"text", text}, {"given", mcpac::arguments()}};
}
)";
const std::string kReadGrant = "filesystem.read_text_file(path within ./data, ..)";

const std::string kEchoes = R"(#include <mcpac.hpp>
#include <print>
#include <string>
int agent_main(mcpac::Requires<mcp::fixture::echo, mcp::fixture::env> rt) {
  rt.fixture.echo({.apple = mcpac::argument<std::string>("apple")});
  std::println("given {}", mcpac::arguments().dump());
  return 7;
}
)";

const std::string kTakesAJob = R"(#include <mcpac.hpp>
#include <optional>
#include <print>
#include <string>
#include <vector>
struct Size {
  double width = 0;
  std::optional<double> height;
  static void mcpac_visit(auto& self, auto& visit) {
    visit("width", self.width);
    visit("height", self.height);
  }
};
struct Job {
  std::string path;
  int count = 0;
  std::vector<Size> sizes;
  std::optional<Size> most;
  static void mcpac_visit(auto& self, auto& visit) {
    visit("path", self.path);
    visit("count", self.count);
    visit("sizes", self.sizes);
    visit("most", self.most);
  }
};
void agent_main(mcpac::Requires<>) {
  const auto job = mcpac::arguments<Job>();
  std::println("{} {} {}", job.path, job.count, job.sizes.size());
}
)";

e2e::Outcome reads(const Workspace& workspace, const std::string& arguments,
                   std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--arguments", arguments});
  return workspace.execute(kReads, kReadGrant, more);
}

std::size_t programs_built() {
  const auto folder = Workspace::shared_cache() / "mcpac" / "programs";
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

Json last_started(const Workspace& workspace) {
  return workspace.mcpac({"audit", "list", "--kind", "RunStarted", "--json"}).json().back();
}

}  // namespace

TEST_SUITE("e2e/arguments") {
  TEST_CASE("a program reads what it is given, and is built once for all that it is given") {
    const auto& workspace = Workspace::shared();
    const auto first = reads(workspace, R"({"path": "data/a.txt"})");
    INFO(first.err);
    REQUIRE(first.exit_code == 0);
    CHECK(first.json() == Json{{"text", "alpha"}, {"given", {{"path", "data/a.txt"}}}});
    const auto built = programs_built();
    workspace.write("run.json", R"({"path": "data/a.txt", "head": 2, "deep": [{"x": null}]})");
    const auto second = reads(workspace, "@run.json");
    INFO(second.err);
    CHECK(second.json().at("text") == "alpha\nbeta");
    CHECK(second.json().at("given").at("deep") == Json::array({{{"x", nullptr}}}));
    CHECK(programs_built() == built);
  }

  TEST_CASE("without any it is an empty object, and what the program misses ends it in words") {
    const auto& workspace = Workspace::shared();
    const auto none = workspace.execute(
        "#include <mcpac.hpp>\nmcpac::Json agent_main(mcpac::Requires<>) { return "
        "mcpac::arguments(); }\n",
        "");
    INFO(none.err);
    CHECK(none.json() == Json::object());
    const auto missing = reads(workspace, "{}");
    CHECK(missing.exit_code == 65);
    CHECK(has(missing.err,
              "mcpac: invalid arguments of the run: /path is missing: expected a string"));
    const auto wrong = reads(workspace, R"({"path": 7})");
    CHECK(wrong.exit_code == 65);
    CHECK(has(wrong.err, "/path: expected a string, got the number 7\n"));
  }

  TEST_CASE(
      "arguments that do not fit a struct end its program with one line that says what to change") {
    const auto& workspace = Workspace::shared();
    const auto takes = [&workspace](const std::string& arguments) {
      return workspace.execute(kTakesAJob, "", {"--arguments", arguments});
    };
    const auto fits = takes(R"({"path": "a", "count": 2, "sizes": [{"width": 1}]})");
    INFO(fits.err);
    REQUIRE(fits.exit_code == 0);
    CHECK(fits.out == "a 2 1\n");
    for (const auto& [arguments, said] : std::vector<std::pair<std::string, std::string>>{
             {R"({"path": "a", "count": "2", "sizes": []})",
              "/count: expected an integer, got a string that holds a number: pass the number"},
             {R"({"path": "a", "count": 2, "sizes": [{"width": 1}, {"width": null}]})",
              "/sizes/1/width: expected a number, got null"},
             {R"({"path": "a", "sizes": []})", "/count is missing: expected an integer"},
             {"{}", "/path is missing: expected a string; none were given"},
             {R"({"path": "a", "count": 2, "sizes": [], "most": {"width": 1, "hieght": 2}})",
              R"(/most/hieght is unknown: did you mean "height"?)"},
             {R"({"path": "a", "count": 2, "sizes": [], "\u202e\n": 1})",
              R"(/\u202e\n is unknown: known are "path", "count", "sizes", "most")"}}) {
      const auto run = takes(arguments);
      CHECK(run.exit_code == 65);
      CHECK(run.out.empty());
      CHECK(run.err == "mcpac: invalid arguments of the run: " + said + "\n");
    }
  }

  TEST_CASE("what is no JSON object is refused before anything is done") {
    const auto& workspace = Workspace::shared();
    struct Case {
      const char* arguments;
      int exit_code;
      const char* id;
    };
    for (const auto& [arguments, exit_code, id] :
         {Case{R"({"path": )", 65, "MCPAC-E0103"}, Case{R"({"a": 1, "a": 2})", 65, "MCPAC-E0103"},
          Case{"[]", 64, "MCPAC-E1000"}, Case{"@none.json", 66, "MCPAC-E0101"}}) {
      const auto run = reads(workspace, arguments);
      INFO(arguments, run.err);
      CHECK(run.exit_code == exit_code);
      CHECK(has(run.err, id));
      CHECK(run.out.empty());
    }
  }

  TEST_CASE("a rule decides on the value of the run, which no analysis knows") {
    const auto& workspace = Workspace::shared();
    const auto outside = reads(workspace, R"({"path": "/etc/passwd"})");
    CHECK(outside.exit_code == 77);
    CHECK(has(outside.err, "mcpac: denied: filesystem.read_text_file"));
    CHECK_FALSE(has(outside.err, "MCPAC-E0710"));
    workspace.write("reads.cpp", kReads);
    const auto report =
        workspace.mcpac({"permissions", "analyze", "--json", "--grant", kReadGrant, "reads.cpp"});
    INFO(report.err);
    const Json uses = report.json().at("uses");
    REQUIRE(uses.size() == 1);
    CHECK_FALSE(has(uses.dump(), "data/a.txt"));
  }

  TEST_CASE("the record has a digest of them that cannot be tried out, and never their text") {
    const auto& workspace = Workspace::shared();
    const std::string given = R"({"path": "data/a.txt", "note": "not-for-the-log"})";
    std::vector<std::string> digests;
    for (int i = 0; i < 2; ++i) {
      REQUIRE(reads(workspace, given).exit_code == 0);
      const Json started = last_started(workspace);
      digests.push_back(started.at("payload").at("binding").at("arguments"));
      const std::string id = started.at("run_id");
      CHECK_FALSE(
          has(workspace.mcpac({"audit", "list", "--run", id, "--json"}).out, "not-for-the-log"));
      CHECK(workspace.mcpac({"audit", "verify", "--run", id}).exit_code == 0);
      CHECK(workspace.mcpac({"audit", "replay", id}).exit_code == 0);
    }
    CHECK(digests[0].size() == 64);
    CHECK(digests[0] != digests[1]);
    REQUIRE(reads(workspace, R"({"path": "data/a.txt"})").exit_code == 0);
    REQUIRE(
        workspace
            .execute("#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { return 0; }\n", "")
            .exit_code == 0);
    CHECK_FALSE(last_started(workspace).at("payload").at("binding").contains("arguments"));
  }

  TEST_CASE(
      "a recording holds them: a replay has the same ones, and says which others it is given") {
    const Workspace workspace(Workspace::real_servers());
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const auto first = reads(workspace, R"({"path": "data/a.txt"})", {"--record", "run.rec"});
    INFO(first.err);
    REQUIRE(first.exit_code == 0);
    const auto same = workspace.execute(kReads, kReadGrant, {"--replay", "run.rec"});
    INFO(same.err);
    CHECK(same.exit_code == 0);
    CHECK(same.out == first.out);
    const auto equal = reads(workspace, R"({ "path":"data/a.txt" })", {"--replay", "run.rec"});
    CHECK(equal.exit_code == 0);
    const auto other =
        reads(workspace, R"({"path": "data/b.txt", "head": 1})", {"--replay", "run.rec"});
    CHECK(other.exit_code == 77);
    CHECK(has(other.err, "MCPAC-E0742"));
    CHECK(has(other.err, "/head is 1, recorded nothing"));
    CHECK(has(other.err, R"(/path is "data/b.txt", recorded "data/a.txt")"));
    CHECK(other.out.empty());
  }

  TEST_CASE(
      "they reach a program in a worker, and in a runner that waited before they were known") {
    {
      const e2e::Resident host;
      host.prepare();
      host.workspace.write("run.json", R"({"apple": "from a file"})");
      const std::vector<std::pair<std::string, std::string>> runs{
          {R"({"apple":"one"})", "given {\"apple\":\"one\"}\n"},
          {R"({"apple":"two","n":2})", "given {\"apple\":\"two\",\"n\":2}\n"},
          {"@run.json", "given {\"apple\":\"from a file\"}\n"}};
      for (const auto& [arguments, expected] : runs) {
        host.wait_for("waits");
        const auto run =
            host.execute(kEchoes, e2e::kGrants, {"--arguments", arguments, "--verbose"});
        INFO(run.err);
        CHECK(run.exit_code == 7);
        CHECK(run.out == expected);
        CHECK(has(run.err, "a runner waited for the program"));
      }
      host.check_served(runs.size());
    }
    e2e::check_nothing_is_left();
  }
}
