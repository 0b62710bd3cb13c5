// mcpac audit: the record of real runs through the real binary.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/json_schema.h"
#include "e2e/workspace.h"
#include "places.h"

using e2e::Workspace;
using mcpac::Json;

namespace {

namespace fs = std::filesystem;

const char* const kReads =
    "#include <filesystem.hpp>\n"
    "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n"
    "  (void)rt.filesystem.read_text_file({.path = \"data/a.txt\"}).text();\n"
    "  return 0;\n"
    "}\n";

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The id of the last run that a program's calls were recorded of.
std::string last_run() {
  const auto events = Workspace::shared().mcpac({"audit", "list", "--json"}).json();
  REQUIRE_FALSE(events.empty());
  return events.back()["run_id"];
}

}  // namespace

TEST_SUITE("e2e/audit") {
  TEST_CASE("a run is proven until one byte of its record is another") {
    const auto& workspace = Workspace::shared();
    const auto ran = workspace.execute(kReads, "filesystem.read_text_file");
    INFO(ran.out << ran.err);
    REQUIRE(ran.exit_code == 0);
    const std::string run = last_run();
    const auto proven = workspace.mcpac({"audit", "verify", "--run", run});
    INFO(proven.out << proven.err);
    CHECK(proven.exit_code == 0);
    CHECK(proven.out.find(run + "  proven") != std::string::npos);

    const fs::path file = workspace.state() / "audit" / (run + ".jsonl");
    const std::string whole = text_of(file);
    std::string changed = whole;
    const auto at = changed.find("read_text_file");
    REQUIRE(at != std::string::npos);
    changed[at] = 'R';
    std::ofstream(file, std::ios::binary) << changed;
    const auto tampered = workspace.mcpac({"audit", "verify", "--run", run, "--json"});
    std::ofstream(file, std::ios::binary) << whole;
    CHECK(tampered.exit_code == 77);
    CHECK(tampered.json()["runs"][0]["standing"] == "tampered");
    CHECK_FALSE(tampered.json()["runs"][0]["problems"].empty());
  }

  TEST_CASE("a run that is taken away is missed, and an unknown one is an error") {
    const auto& workspace = Workspace::shared();
    REQUIRE(workspace.execute(kReads, "filesystem.read_text_file").exit_code == 0);
    const std::string run = last_run();
    const fs::path file = workspace.state() / "audit" / (run + ".jsonl");
    const fs::path aside = workspace.folder() / "aside.jsonl";
    fs::rename(file, aside);
    const auto missed = workspace.mcpac({"audit", "verify"});
    fs::rename(aside, file);
    INFO(missed.out << missed.err);
    CHECK(missed.exit_code == 77);
    CHECK(missed.out.find(run) != std::string::npos);
    CHECK(workspace.mcpac({"audit", "verify", "--run", "ffffffff"}).exit_code == 66);
  }

  TEST_CASE("a real run is replayed as it was recorded, and a changed record is no run to replay") {
    const auto& workspace = Workspace::shared();
    const auto ran =
        workspace.execute(kReads, "filesystem.read_text_file(path within ./data, ..) audit args");
    INFO(ran.out << ran.err);
    REQUIRE(ran.exit_code == 0);
    const std::string run = last_run();
    const auto replayed = workspace.mcpac({"audit", "replay", run, "--json"});
    INFO(replayed.out << replayed.err);
    REQUIRE(replayed.exit_code == 0);
    CHECK(replayed.json()[0]["decisions"] == 1);
    CHECK(replayed.json()[0]["recomputed"] == 1);
    CHECK(replayed.json()[0]["differences"].empty());

    const auto could =
        workspace.mcpac({"audit", "query", "touched", "data", "--run", run, "--json"});
    INFO(could.out << could.err);
    REQUIRE(could.exit_code == 0);
    REQUIRE(could.json().size() == 1);  // who did could
    CHECK(could.json()[0]["did"] == true);
    const auto other =
        workspace.mcpac({"audit", "query", "touched", "data/other", "--run", run, "--json"});
    REQUIRE(other.json().size() == 1);
    CHECK(other.json()[0]["did"] == false);
    CHECK(other.json()[0]["argument"] == "path");
    CHECK(workspace.mcpac({"audit", "query", "touched", "/etc/passwd", "--run", run, "--json"})
              .json()
              .empty());
    CHECK(workspace.mcpac({"audit", "query", "after-revocation"}).exit_code == 0);

    const fs::path file = workspace.state() / "audit" / (run + ".jsonl");
    const std::string whole = text_of(file);
    const auto schema = mcpac::JsonSchema::compile(
        Json::parse(text_of(mcpac::testing::in_source("docs/audit-log.schema.json"))));
    REQUIRE(schema);
    std::istringstream lines(whole);
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      const auto violation = (*schema)->validate(Json::parse(line));
      CHECK_MESSAGE(!violation, (violation ? violation->pointer + " " + violation->message : ""));
    }

    std::string changed = whole;
    const auto at = changed.find("path within ./data");
    REQUIRE(at != std::string::npos);
    changed.replace(at, 18, "path within ./dada");
    std::ofstream(file, std::ios::binary) << changed;
    const auto refused = workspace.mcpac({"audit", "replay", run});
    const auto asked = workspace.mcpac({"audit", "query", "after-revocation", "--run", run});
    std::ofstream(file, std::ios::binary) << whole;
    CHECK(refused.exit_code == 77);
    CHECK(refused.err.find("MCPAC-E0902") != std::string::npos);
    CHECK(asked.exit_code == 77);
    CHECK(asked.err.find("MCPAC-E0902") != std::string::npos);
  }

  TEST_CASE("list is narrowed by refusal, tool, time and number, and questions say run and value") {
    const auto& workspace = Workspace::shared();
    const auto call = [&](const std::string& path) {
      return workspace.mcpac({"tools", "call", "filesystem.read_text_file", "--grant",
                              "filesystem.read_text_file(path within ./data, ..)", "--path", path});
    };
    CHECK(call("data/a.txt").exit_code == 0);
    CHECK(call("/etc/passwd").exit_code == 77);
    CHECK(call("/etc/hostname").exit_code == 77);
    const auto listed = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {"audit", "list", "--json"});
      return workspace.mcpac(std::move(more)).json();
    };
    const Json denied = listed({"--denied", "--tool", "filesystem.read_text_file", "--limit", "2"});
    REQUIRE(denied.size() == 2);
    CHECK(denied[0].at("payload").at("target") == "/etc/passwd");
    CHECK(denied[1].at("payload").at("target") == "/etc/hostname");
    const Json of_tool = listed({"--tool", "filesystem.*", "--since", "1h"});
    CHECK(
        std::ranges::any_of(of_tool, [](const Json& e) { return e.at("kind") == "CallFinished"; }));
    CHECK(
        std::ranges::none_of(of_tool, [](const Json& e) { return e.at("kind") == "RunStarted"; }));
    CHECK(listed({"--tool", "memory.*", "--denied"}).empty());
    CHECK(listed({"--since", "2099-01-01"}).empty());
    CHECK(workspace.mcpac({"audit", "list", "--since", "yesterday"}).exit_code == 64);
    CHECK(workspace.mcpac({"audit", "list", "--since", ""}).exit_code == 64);
    for (const char* far : {"9999-12-31", "999999d", "99999999999999999999d"}) {
      const auto refused = workspace.mcpac({"audit", "list", "--since", far});
      CHECK(refused.exit_code == 64);
      CHECK(refused.err.find("is out of range") != std::string::npos);
    }
    workspace.write("refused.cpp", R"(#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::list_directory>) { return 0; }
)");
    CHECK(workspace.mcpac({"execute", "-f", "refused.cpp"}).exit_code == 77);
    const Json runs = listed({"--denied", "--tool", "filesystem.list_directory", "--limit", "1"});
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].at("kind") == "RunRefused");
    const auto cut = workspace.mcpac({"audit", "list", "--denied", "--limit", "1"});
    CHECK(std::ranges::count(cut.out, '\n') == 1);
    CHECK(cut.err.find(" earlier: --limit ") != std::string::npos);

    const std::string run = denied[1].at("run_id");
    CHECK(workspace.mcpac({"audit", "verify", run}).exit_code == 0);
    const auto asked = workspace.mcpac({"audit", "query", "denied", "--run", run});
    CHECK(asked.out.find("run " + run.substr(0, 13)) != std::string::npos);
    CHECK(asked.out.find(denied[1].at("time").get<std::string>()) != std::string::npos);
    CHECK(asked.out.find("of /etc/hostname") != std::string::npos);
    const Json row =
        workspace.mcpac({"audit", "query", "denied", "--run", run, "--json"}).json()[0];
    CHECK(row.at("values") == Json{"/etc/hostname"});
    CHECK(row.at("runs") == Json{run});
  }

  TEST_CASE("where nothing was recorded there is nothing to prove, and that is no error") {
    const Workspace empty("{\"mcpServers\": {}}");
    const auto verified = empty.mcpac({"audit", "verify"});
    CHECK(verified.exit_code == 0);
    CHECK(verified.err.find("nothing has been recorded yet") != std::string::npos);
    const fs::path audit = empty.state() / "audit";
    fs::create_directories(audit);
    std::ofstream(audit / "old-run.jsonl")
        << R"({"event_id":"1","kind":"RunEnded","payload":{},"run_id":"old-run","time":"t"})"
        << "\n";
    const auto old = empty.mcpac({"audit", "verify"});
    CHECK(old.exit_code == 0);
    CHECK(old.out.find("old-run  unprovable") != std::string::npos);
    CHECK(empty.mcpac({"audit", "verify", "--key", "absent"}).exit_code == 69);
  }
}
