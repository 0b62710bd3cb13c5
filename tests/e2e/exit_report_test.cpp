// What is said of programs that ended by themselves, and of what they waited for.
#include <doctest/doctest.h>

#include "e2e/workspace.h"

using e2e::has;
using e2e::Workspace;
using mcpac::Json;

namespace {

std::string reporting_program(const std::string& tools, const std::string& body,
                              const std::string& result = "int") {
  return "#include <mcpac.hpp>\n#include <print>\n#include <stdexcept>\n#include <string>\n" +
         result + " agent_main(mcpac::Requires<" + tools + "> rt) {\n" + body + "\n}\n";
}

e2e::Outcome ran(const std::string& tool, const std::string& body,
                 std::vector<std::string> more = {}) {
  return Workspace::shared_fixture().execute(reporting_program("mcp::fixture::" + tool, body),
                                             "fixture." + tool, std::move(more));
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_SUITE("e2e/own end") {
  TEST_CASE("an error that a program does not catch is told once, and stands in its report") {
    const std::string body = "rt.fixture.fail(); return 0;";
    const auto told = ran("fail", body);
    CHECK(told.exit_code == 69);
    CHECK(has(told.err, "mcpac: tool error: fixture.fail: the tool says no\n"));
    CHECK(times(told.err, "the tool says no") == 1);
    const auto run = ran("fail", body, {"--json"});
    CHECK(run.exit_code == 69);
    const Json error = run.json().value("error", Json());
    REQUIRE(error.is_object());
    CHECK(error.at("id") == "MCPAC-E0803");
    CHECK(error.at("what") == "fixture.fail: the tool says no");
    CHECK(has(error.at("why").get<std::string>(), "did not catch"));
  }

  TEST_CASE(
      "an uncaught exception stands in the report, an exit code of the program's own does not") {
    const auto thrown = ran("echo", "(void)rt; throw std::runtime_error(\"boom\");", {"--json"});
    CHECK(thrown.exit_code == 71);
    const Json error = thrown.json().value("error", Json());
    REQUIRE(error.is_object());
    CHECK(error.at("id") == "MCPAC-E0706");
    CHECK(error.at("what") == "uncaught exception: std::runtime_error: boom");
    const auto caught = ran("fail", "return rt.fixture.fail.try_call() ? 0 : 69;", {"--json"});
    CHECK(caught.exit_code == 69);
    CHECK_FALSE(caught.json().contains("error"));
  }

  TEST_CASE(
      "what is too long for the connection is an error that names the limit, and no end of it") {
    const auto run = ran("echo", R"(
  try {
    rt.fixture.echo({.zebra = std::string(20u << 20u, 'x')});
  } catch (const mcpac::InvalidArguments& error) {
    std::println("{}: {}", error.permission(), error.what());
  }
  std::println("{}", rt.fixture.echo({.zebra = "small"}).text());
  rt.fixture.echo({.zebra = std::string(20u << 20u, 'x')});
  return 0;)");
    INFO(run.out, run.err);
    CHECK(run.exit_code == 65);
    CHECK(has(run.out, "fixture.echo: what is sent at a time"));
    CHECK(has(run.out, "16777216 bytes (16 MiB), and this has 209716"));
    CHECK(has(run.out, "\n{\"zebra\":\"small\"}\n"));
    CHECK(has(run.err, "mcpac: invalid arguments: fixture.echo: what is sent at a time"));
  }

  TEST_CASE("a call of almost the limit is made") {
    const auto run = ran("env", R"(
  std::println("{}", rt.fixture.env({.name = std::string((16u << 20u) - 300, 'x')}).text());
  return 0;)");
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.out == "(unset)\n");
  }

  TEST_CASE("a result that is too long is a failure of the run, and no result that is missing") {
    const auto run = Workspace::shared_fixture().execute(
        reporting_program("", "(void)rt; return std::string(20u << 20u, 'x');", "mcpac::Json"), "",
        {"--json"});
    CHECK(run.exit_code == 65);
    const Json report = run.json();
    CHECK_FALSE(report.contains("result"));
    CHECK(report.value("error", Json::object()).value("id", "") == "MCPAC-E0801");
  }

  TEST_CASE("a run that its time ends says which call it waited for") {
    const auto run = ran("hang", "rt.fixture.hang(); return 0;", {"--timeout", "1"});
    INFO(run.err);
    CHECK(run.exit_code == 124);
    CHECK(has(run.err, "MCPAC-E0705"));
    CHECK(has(run.err, "why: fixture.hang had not answered for "));
    CHECK(has(run.err,
              " s; the call was sent and may have been done: look before you repeat it; "
              "no call had ended"));
    const auto loops =
        ran("echo", "(void)rt; for (volatile int i = 0;; i = i + 1) {}", {"--timeout", "1"});
    CHECK(loops.exit_code == 124);
    CHECK(has(loops.err, "why: no call had been made"));
  }

  TEST_CASE("a run that its time ends says what was done by then, in words and in JSON") {
    const std::string source =
        reporting_program("mcp::fixture::echo, mcp::fixture::fail, mcp::fixture::hang",
                          R"(
  for (int i = 0; i < 2; ++i) rt.fixture.echo({.zebra = "x"});
  static_cast<void>(rt.fixture.fail.try_call());
  rt.fixture.hang();
  return 0;)");
    const std::string grants = "fixture.echo,fixture.fail,fixture.hang";
    const auto& workspace = Workspace::shared_fixture();
    const auto told = workspace.execute(source, grants, {"--timeout", "1"});
    INFO(told.err);
    CHECK(has(told.err,
              "look before you repeat it; calls that had ended: fixture.echo 2, fixture.fail 1 (1 "
              "failed)\n"));
    const Json calls =
        workspace.execute(source, grants, {"--timeout", "1", "--json"}).json().at("calls");
    REQUIRE(calls.at("in_flight").size() == 1);
    CHECK(calls.at("in_flight")[0].at("permission") == "fixture.hang");
    CHECK(calls.at("in_flight")[0].at("outcome") == "unknown");
    CHECK(calls.at("ended") ==
          Json::array(
              {{{"permission", "fixture.echo"}, {"calls", 2}, {"failed", 0}, {"unknown", 0}},
               {{"permission", "fixture.fail"}, {"calls", 1}, {"failed", 1}, {"unknown", 0}}}));
  }

  TEST_CASE("an error that a server answers is called one, and not an error of the transport") {
    const auto run = ran("rpc_error", "rt.fixture.rpc_error(); return 0;");
    CHECK(run.exit_code == 69);
    CHECK(has(run.err,
              "mcpac: error of the server: fixture.rpc_error: server fixture answered "
              "tools/call with error -32602: bad red arguments"));
    CHECK_FALSE(has(run.err, "transport"));
    const auto report = ran("rpc_error", "rt.fixture.rpc_error(); return 0;", {"--json"}).json();
    CHECK(report.value("error", Json::object()).value("id", "") == "MCPAC-E0305");
  }

  TEST_CASE("a server that is slow to start is named while it is waited for") {
    const Workspace workspace(
        R"({"mcpServers": {"late": {"command": "sh", "args": ["late.sh"], "timeout": 4000}}})");
    const std::string real = Workspace::fixture("plain");
    const Json entry = Json::parse(real).at("mcpServers").at("fixture");
    std::string command = "exec " + entry.at("command").get<std::string>();
    for (const auto& word : entry.at("args")) command += " '" + word.get<std::string>() + "'";
    workspace.write("late.sh", command + "\n");
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const std::string source =
        reporting_program("mcp::late::echo", "rt.late.echo({.zebra = \"x\"}); return 0;");
    // Compiled before, which may take longer than the server is given.
    REQUIRE(workspace.execute(source, "late.echo").exit_code == 0);
    workspace.write("late.sh", "exec sleep 60\n");
    const auto run = workspace.execute(source, "late.echo", {"--timeout", "1"});
    INFO(run.err);
    CHECK(run.exit_code == 69);  // of the server: --timeout is of the program, which never began
    CHECK(times(run.err, "waiting for the server late") == 1);
    CHECK(has(run.err, "MCPAC-E0302"));
    const auto called = workspace.mcpac({"tools", "call", "late.echo", "--grant", "late.echo"});
    CHECK(times(called.err, "waiting for the server late") == 1);
  }
}
