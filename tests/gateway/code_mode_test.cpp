// Code mode as it is shipped: mcpac serve --code, the official client before it, real servers
// behind.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/ids.h"
#include "core/json.h"
#include "e2e/workspace.h"
#include "faults/support_descendants.h"
#include "gateway/support_http.h"
#include "gateway/support_serving.h"
#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway::testing;
using e2e::has;
using e2e::Workspace;

namespace {

constexpr const char* kReads = R"(#include <mcpac.hpp>
#include <print>
using namespace mcp;
mcpac::Json agent_main(mcpac::Requires<filesystem::read_text_file, everything::echo> rt) {
  for (const auto& line : rt.filesystem.read_text_file({.path = "data/a.txt"}).lines())
    std::println("{}", line);
  return {{"echo", rt.everything.echo({.message = "hello"}).text()}};
}
)";

// Calls everything.echo five times and says how each call ended.
constexpr const char* kFiveTimes = R"(#include <mcpac.hpp>
#include <print>
#include <string>
using namespace mcp;
int agent_main(mcpac::Requires<everything::echo> rt) {
  for (int i = 0; i < 5; ++i) {
    const auto said = rt.everything.echo.try_call({.message = std::to_string(i)});
    std::println("{}", said ? "made" : said.error().what());
  }
  return 0;
}
)";

constexpr const char* kOnce = R"(#include <mcpac.hpp>
#include <print>
using namespace mcp;
int agent_main(mcpac::Requires<everything::echo> rt) {
  std::println("{}", rt.everything.echo({.message = "asked"}).text());
  return 0;
}
)";

constexpr const char* kForever = R"(#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<>) {
  mcpac::log("it runs");
  for (volatile int i = 0;; i = i + 1) {
  }
}
)";

// What is done once on a machine is done before a client waits for it.
const Workspace& warm_workspace() {
  const Workspace& workspace = Workspace::shared();
  static const bool is_warm = [&] {
    return workspace
               .execute("#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { return 0; }\n",
                        "everything.echo")
               .exit_code == 0;
  }();
  REQUIRE(is_warm);
  return workspace;
}

Json executed(const char* source) {
  return made("execute_agent", {{"source", source}});
}

const Json& content(const Json& saw, std::size_t at) {
  INFO(saw.at("results").at(at).dump());
  REQUIRE(saw.at("results").at(at).contains("structuredContent"));
  return saw.at("results").at(at).at("structuredContent");
}

// Every run of the log is whole and decides again as it did.
void check_records(const Workspace& workspace) {
  const auto verified = workspace.mcpac({"audit", "verify"});
  INFO(verified.out, verified.err);
  CHECK(verified.exit_code == 0);
  for (const Json& started : events(workspace, "RunStarted")) {
    const auto replayed = workspace.mcpac({"audit", "replay", started.at("run_id")});
    INFO(started.at("payload").at("program").dump(), replayed.out, replayed.err);
    CHECK(replayed.exit_code == 0);
  }
}

// A request of 2026-07-28 whose client shows forms.
Json asking(int id, const Json& params) {
  Json whole = stateless(params);
  whole["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {
      {"elicitation", {{"form", Json::object()}}}};
  whole["_meta"]["progressToken"] = "how far";
  return request(id, "tools/call", whole);
}

// The answer to a request of which progress is told.
Json answer_to(const Serving& serving, const Json& message) {
  const auto answer =
      post(serving.port(), {.token = serving.token(),
                            .more = stateless_headers("tools/call", "execute_agent"),
                            .body = message.dump()});
  INFO(answer.body);
  const auto messages = answer.messages();
  REQUIRE_FALSE(messages.empty());
  return messages.back();
}

// Names of the processes that `pid` started and that are there.
std::vector<std::string> children_of(pid_t pid) {
  std::vector<std::string> names;
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid))) {
    std::ifstream list(task.path() / "children");
    for (pid_t child = 0; list >> child;) {
      std::ifstream file(fmt::format("/proc/{}/comm", child));
      std::string name;
      std::getline(file, name);
      names.push_back(name);
    }
  }
  return names;
}

// What waits for a program below `pid`: processes by their names.
std::map<std::string, pid_t> waiting_below(pid_t pid) {
  std::map<std::string, pid_t> found;
  for (const auto& process : faults::descendants_of(pid)) {
    const std::string program = process.command.substr(0, process.command.find(' '));
    for (const char* tool : {"clang", "ld.lld", "mcpac-analyzer", "mcpac-runner"}) {
      if (program.ends_with(tool)) found[tool] = process.pid;
    }
  }
  return found;
}

// Each look starts a program or reads files; so many of them are more than minutes.
void until(const std::function<bool()>& is_so) {
  for (int looks = 0; looks < 5'000; ++looks) {
    if (is_so()) return;
  }
  FAIL("it never came to be");
}

}  // namespace

TEST_SUITE("gateway/code mode") {
  TEST_CASE("a client searches, describes, analyses and runs a program, over both doors") {
    const Workspace& workspace = warm_workspace();
    const std::vector<std::string> options{
        "--code", "--grant", "filesystem.read_text_file(path within ./data, ..),everything.echo"};
    const Json calls =
        Json::array({made("search_tools", {{"query", "read the text of a file"}}),
                     made("describe_tools",
                          {{"names", {"filesystem.read_text_file", "filesystem.write_file"}}}),
                     made("analyze_agent", {{"source", kReads}}), executed(kReads),
                     made("filesystem.read_text_file", {{"path", "data/a.txt"}})});
    const Serving serving(workspace, options);
    for (const Json& saw :
         {served_over_stdio(workspace, options, calls),
          official_client(workspace, {"http", serving.url(), serving.token(), calls.dump()})}) {
      CHECK(saw.at("tools") == Json{"search_tools", "describe_tools", "analyze_agent",
                                    "execute_agent", "everything.echo",
                                    "filesystem.read_text_file"});
      const std::string told = saw.at("instructions");
      CHECK(has(told, "# Write an mcpac program"));
      CHECK(has(told, "path within"));
      CHECK_FALSE(has(told, "write_file"));
      const Json& found = content(saw, 0).at("tools");
      REQUIRE_FALSE(found.empty());
      CHECK(found.at(0).at("name") == "filesystem.read_text_file");
      CHECK(has(found.at(0).at("granted").at(0).get<std::string>(),
                "allow filesystem.read_text_file(path within"));
      const Json& described = content(saw, 1);
      CHECK(described.at("tools").size() == 1);
      CHECK(has(described.at("tools").at(0).at("declaration").get<std::string>(), "path"));
      CHECK(described.at("unknown") == Json{"filesystem.write_file"});
      CHECK(content(saw, 2).at("granted") == true);
      CHECK(content(saw, 2).at("report").at("uses").size() == 2);
      const Json& ran = content(saw, 3);
      CHECK(ran.at("exit_code") == 0);
      CHECK(ran.at("stdout") == "alpha\nbeta\n");
      CHECK(has(ran.at("result").at("echo").get<std::string>(), "hello"));
      CHECK(saw.at("results").at(3).at("isError") == false);
      CHECK_FALSE(has(ran.dump(), workspace.folder().string()));
      CHECK(text_in(saw.at("results").at(4)) == "alpha\nbeta\n");
      CHECK(saw.at("progress").size() > 3);
    }
    check_records(workspace);
  }

  TEST_CASE("a program that a client writes once runs with what it is given each time") {
    const Workspace& workspace = warm_workspace();
    const char* source = R"(#include <mcpac.hpp>
#include <string>
using namespace mcp;
mcpac::Json agent_main(mcpac::Requires<everything::echo> rt) {
  const auto said = rt.everything.echo({.message = mcpac::argument<std::string>("message")}).text();
  return {{"said", said}, {"given", mcpac::arguments()}};
}
)";
    const auto with = [&](const Json& arguments) {
      return made("execute_agent", {{"source", source}, {"arguments", arguments}});
    };
    const Json calls =
        Json::array({with({{"message", "one"}}), with({{"message", "two"}, {"more", {1, 2}}}),
                     executed(source), with({1})});
    const std::vector<std::string> options{"--code", "--grant", "everything.echo"};
    const Json saw = served_over_stdio(workspace, options, calls);
    CHECK(has(content(saw, 0).at("result").at("said").get<std::string>(), "one"));
    CHECK(content(saw, 0).at("result").at("given") == Json{{"message", "one"}});
    CHECK(has(content(saw, 1).at("result").at("said").get<std::string>(), "two"));
    CHECK(content(saw, 1).at("result").at("given").at("more") == Json{1, 2});
    CHECK(content(saw, 2).at("exit_code") == 65);
    CHECK(has(content(saw, 2).at("stderr").get<std::string>(), "/message is missing"));
    CHECK(saw.at("results").at(3).at("_meta").at("mcpac/error").at("kind") == "invalid_arguments");
    const Serving serving(workspace, options);
    const Json large{{"source", source},
                     {"arguments", {{"message", std::string(std::size_t{1} << 20U, 'x')}}}};
    const Json refused =
        answer_to(serving, asking(1, {{"name", "execute_agent"}, {"arguments", large}}))
            .at("result")
            .at("structuredContent");
    CHECK(refused.at("error").at("id") == "MCPAC-E0104");
    CHECK_FALSE(refused.contains("run_id"));
    CHECK(has(saw.at("instructions").get<std::string>(), "mcpac::argument<"));
    check_records(workspace);
  }

  TEST_CASE("the tools of the next program wait for it, and nothing waits when the gateway ends") {
    const Workspace& workspace = warm_workspace();
    std::map<std::string, pid_t> last;
    {
      Serving serving(workspace, {"--code", "--grant", "everything.echo"});
      const auto run = [&](int salt) {
        const std::string source = fmt::format(
            "// {}\n#include <mcpac.hpp>\n#include <print>\n"
            "int agent_main(mcpac::Requires<mcp::everything::echo> rt) {{\n"
            "  std::print(\"{{}}\", rt.everything.echo({{.message = \"{}\"}}).text());\n"
            "  return 0;\n}}\n",
            new_uuid_v7(SystemClock()), salt);
        const Json answer =
            answer_to(serving,
                      asking(1, {{"name", "execute_agent"}, {"arguments", {{"source", source}}}}))
                .at("result")
                .at("structuredContent");
        INFO(answer.dump());
        CHECK(answer.at("exit_code") == 0);
        CHECK(has(answer.at("stdout").get<std::string>(), std::to_string(salt)));
      };
      CHECK(waiting_below(serving.pid()).empty());
      for (int salt = 1; salt <= 3; ++salt) {
        run(salt);
        until([&] { return waiting_below(serving.pid()).size() == 4; });
        const auto now = waiting_below(serving.pid());
        // Each serves once.
        for (const auto& [tool, pid] : now) CHECK(last[tool] != pid);
        last = now;
      }
      CHECK(serving.end() == 0);
    }
    for (const auto& [tool, pid] : last) {
      CAPTURE(tool);
      CHECK_FALSE(std::filesystem::exists(fmt::format("/proc/{}", pid)));
    }
    check_records(workspace);
  }

  TEST_CASE("what a server asks of a program's call is recorded with that call") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const char* source = R"(#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::fixture::echo, mcp::fixture::ask> rt) {
  rt.fixture.echo({.zebra = "x"});
  (void)rt.fixture.ask.try_call({.method = "elicitation/create"});
  return 0;
}
)";
    const Json saw = served_over_stdio(workspace, {"--code", "--grant", "fixture.echo,fixture.ask"},
                                       Json::array({executed(source)}), "once");
    INFO(saw.dump());
    CHECK(content(saw, 0).at("exit_code") == 0);
    const auto asked = events(workspace, "ClientAsked");
    REQUIRE(asked.size() == 1);
    const std::string client = asked[0].at("run_id");
    std::vector<Json> calls;
    for (const Json& check : events(workspace, "CapabilityCheck")) {
      if (check.at("run_id") == client && check.at("payload").at("capability") == "fixture.ask")
        calls.push_back(check.at("payload").at("call_id"));
    }
    REQUIRE(calls.size() == 1);
    CHECK(asked[0].at("payload").at("call_id") == calls[0]);
    check_records(workspace);
  }

  TEST_CASE("what cannot run comes back as data that says why") {
    const Workspace& workspace = warm_workspace();
    const char* ungranted = R"(#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::write_file> rt) {
  rt.filesystem.write_file({.path = "data/x", .content = "x"});
  return 0;
}
)";
    const char* outside = R"(#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  rt.filesystem.read_text_file({.path = "/etc/passwd"});
  return 0;
}
)";
    const char* later = R"(#include <mcpac.hpp>
#include <string>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  std::string path;
  for (char c : std::string("dxtbqbttxe")) path += c == 'd' ? '/' : 'q';
  rt.filesystem.read_text_file({.path = path});
  return 0;
}
)";
    const char* crashes = R"(#include <mcpac.hpp>
int agent_main(mcpac::Requires<>) {
  volatile int* nowhere = nullptr;
  return *nowhere;
}
)";
    const Json calls = Json::array(
        {executed(ungranted), executed(outside), executed(later), executed(crashes),
         made("execute_agent", {{"source", kForever}, {"limits", {{"timeout_s", 1}}}}),
         made("execute_agent", {{"source", kOnce}, {"limits", {{"timeout_s", 1e9}}}}),
         made("analyze_agent", {{"source", outside}}), made("search_tools", Json::object())});
    const Json saw = served_over_stdio(
        workspace, {"--code-only", "--grant", "filesystem.read_text_file(path within ./data, ..)"},
        calls);
    CHECK(saw.at("tools") ==
          Json{"search_tools", "describe_tools", "analyze_agent", "execute_agent"});
    for (std::size_t i = 0; i < 5; ++i) CHECK(saw.at("results").at(i).at("isError") == true);
    // A tool that was not granted is one that nobody has.
    CHECK(content(saw, 0).at("error").at("id") == "MCPAC-E0503");
    CHECK_FALSE(content(saw, 0).contains("run_id"));
    CHECK(content(saw, 1).at("error").at("id") == "MCPAC-E0710");
    CHECK(content(saw, 2).at("exit_code") == 77);
    CHECK(has(content(saw, 2).at("stderr").get<std::string>(), "mcpac: denied: filesystem.read"));
    CHECK(content(saw, 2).at("denials").at(0).at("permission") == "filesystem.read_text_file");
    CHECK(content(saw, 3).at("exit_code") == 139);
    CHECK(content(saw, 4).at("error").at("id") == "MCPAC-E0705");
    CHECK(content(saw, 4).at("log").at(0).at("text") == "it runs");
    CHECK(saw.at("results").at(5).at("_meta").at("mcpac/error").at("kind") == "invalid_arguments");
    CHECK(content(saw, 6).at("granted") == false);
    CHECK(content(saw, 6).at("error").at("id") == "MCPAC-E0710");
    CHECK(saw.at("results").at(7).at("_meta").at("mcpac/error").at("kind") == "invalid_arguments");
    check_records(workspace);
  }

  TEST_CASE("a program whose result was lost, being too long, or that caught nothing, has failed") {
    const Workspace& workspace = warm_workspace();
    const char* long_result = R"(#include <mcpac.hpp>
mcpac::Json agent_main(mcpac::Requires<>) {
  return std::string(17u << 20u, 'x');
}
)";
    const char* throws = R"(#include <mcpac.hpp>
#include <stdexcept>
int agent_main(mcpac::Requires<>) {
  throw std::runtime_error("boom");
}
)";
    const Json saw = served_over_stdio(workspace, {"--code", "--grant", "everything.echo"},
                                       Json::array({executed(long_result), executed(throws)}));
    for (std::size_t i = 0; i < 2; ++i) CHECK(saw.at("results").at(i).at("isError") == true);
    CHECK(content(saw, 0).at("error").at("id") == "MCPAC-E0801");
    CHECK(has(content(saw, 0).at("error").at("what").get<std::string>(), "16777216 bytes"));
    CHECK(content(saw, 1).at("error").at("id") == "MCPAC-E0706");
    check_records(workspace);
  }

  TEST_CASE("limits are the client's, whether it calls itself or by programs") {
    const Workspace& workspace = warm_workspace();
    const Json saw = served_over_stdio(
        workspace, {"--code", "--grant", "everything.echo calls <= 3"},
        Json::array({made("everything.echo", {{"message", "itself"}}), executed(kFiveTimes),
                     made("everything.echo", {{"message", "again"}}), executed(kFiveTimes)}));
    const std::string first = content(saw, 1).at("stdout");
    CHECK(first.starts_with("made\nmade\npermission denied: everything.echo"));
    CHECK(saw.at("results").at(2).at("isError") == true);
    CHECK(content(saw, 3).at("stdout").get<std::string>().starts_with("permission denied"));
    check_records(workspace);
  }

  TEST_CASE(
      "the record tells a program's calls in the client's run, and the two runs name each other") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const char* source = R"(#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::fixture::echo> rt) {
  rt.fixture.echo({.zebra = "x"});
  return 0;
}
)";
    const Json saw = served_over_stdio(workspace, {"--code", "--grant", "fixture.echo calls <= 1"},
                                       Json::array({executed(source)}));
    INFO(saw.dump());
    const std::string program = content(saw, 0).at("run_id");
    const auto started = events(workspace, "RunStarted");
    REQUIRE(started.size() == 2);
    const std::string client = started[0].at("run_id");
    CHECK(started[1].at("run_id") == program);
    CHECK(started[1].at("payload").at("client_run") == client);
    // Its own gate lets whole tools through; what decides its calls is recorded beside that.
    const Json& own = started[0].at("payload").at("policy").at("layers")[0].at("rules");
    const Json& behind = started[1].at("payload").at("client_policy").at("layers")[0].at("rules");
    CHECK(behind == own);
    const auto checks = events(workspace, "CapabilityCheck");
    REQUIRE(checks.size() == 2);
    for (const Json& check : checks) {
      const bool is_client = check.at("run_id") == client;
      CHECK(check.at("payload").at("allowed") == true);
      CHECK(check.at("payload").contains("program_run") == is_client);
      CHECK(check.at("payload").contains("meters") == is_client);
    }
    check_records(workspace);
  }

  TEST_CASE(
      "of programs that are refused before they begin the first are recorded, the rest counted") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const char* source = R"(#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcpac::network>) { return 0; }
)";
    constexpr std::size_t kSent = 35;
    Json programs = Json::array();
    for (std::size_t i = 0; i < kSent; ++i) programs.push_back(executed(source));
    const Json saw = served_over_stdio(workspace, {"--code", "--grant", "fixture.echo"}, programs);
    for (std::size_t i = 0; i < kSent; ++i)
      CHECK(content(saw, i).at("error").at("id") == "MCPAC-E0704");
    CHECK(events(workspace, "RunRefused").size() == 32);
    const auto counted = events(workspace, "Anomaly");
    REQUIRE(counted.size() == 1);
    CHECK(counted[0].at("payload") ==
          Json{{"what", "more programs that were refused before they began"}, {"count", 3}});
    check_records(workspace);
  }

  TEST_CASE("what a rule asks of a program's call is asked of the person, once") {
    const Workspace& workspace = warm_workspace();
    const std::vector<std::string> options{"--code", "--ask", "everything.echo"};
    const Json yes = served_over_stdio(workspace, options, Json::array({executed(kOnce)}), "once");
    CHECK(yes.at("asked").size() == 1);
    CHECK(has(yes.at("asked").at(0).get<std::string>(), R"(everything.echo {"message":"asked"})"));
    CHECK(has(content(yes, 0).at("stdout").get<std::string>(), "asked"));
    for (const std::string answer : {"no", ""}) {
      const Json no = served_over_stdio(workspace, options, Json::array({executed(kOnce)}), answer);
      CHECK(no.at("asked").size() == (answer.empty() ? 0 : 1));
      CHECK(content(no, 0).at("exit_code") == 77);
      CHECK(content(no, 0).at("denials").size() == 1);
    }
    check_records(workspace);
  }

  TEST_CASE("a client of 2026-07-28 comes back with the answer while its program waits") {
    const Workspace& workspace = warm_workspace();
    const Serving serving(workspace, {"--code", "--ask", "everything.echo"});
    for (const std::string answer : {"once", "no"}) {
      const Json params{{"name", "execute_agent"}, {"arguments", {{"source", kOnce}}}};
      const Json asked = answer_to(serving, asking(1, params)).at("result");
      REQUIRE(asked.at("resultType") == "input_required");
      CHECK(asked.at("inputRequests").at("question").at("method") == "elicitation/create");
      Json again = params;
      again["requestState"] = asked.at("requestState");
      again["inputResponses"]["question"] = {{"action", "accept"},
                                             {"content", {{"answer", answer}}}};
      const Json result = answer_to(serving, asking(2, again)).at("result");
      INFO(result.dump());
      CHECK(result.at("resultType") == "complete");
      CHECK(result.at("structuredContent").at("exit_code") == (answer == "once" ? 0 : 77));
      // The same name is worth nothing a second time.
      CHECK(answer_to(serving, asking(3, again)).contains("error"));
    }
    check_records(workspace);
  }

  TEST_CASE("a client that takes its request back ends the program, and nothing of it is left") {
    const Workspace& workspace = warm_workspace();
    Serving serving(workspace, {"--code", "--grant", "everything.echo"});
    RawClient client(serving.port());
    const Json params{{"name", "execute_agent"}, {"arguments", {{"source", kForever}}}};
    client.send(post_text(serving.port(), {.token = serving.token(),
                                           .more = stateless_headers("tools/call", "execute_agent"),
                                           .body = asking(1, params).dump()}));
    client.read_until("\"running\"");
    const auto live = [&] { return workspace.mcpac({"runs", "list", "--json"}).out; };
    until([&] { return has(live(), "<agent>"); });
    CHECK(std::ranges::count(children_of(serving.pid()), "mcpac-warden") == 1);
    client.close();
    until([&] { return !has(live(), "<agent>"); });
    // The warden is told to end last of all; the gateway's own end waits for it.
    until([&] { return std::ranges::count(children_of(serving.pid()), "mcpac-warden") == 0; });
    CHECK(serving.end() == 0);
    CHECK(events(workspace, "RunEnded").back().at("payload").at("verdict") == "asked-to-end");
    check_records(workspace);
  }

  TEST_CASE("ending the gateway, or the client by its user, ends its programs") {
    const Workspace& workspace = warm_workspace();
    for (const bool by_user : {false, true}) {
      Serving serving(workspace, {"--code", "--grant", "everything.echo"});
      const std::string run = events(workspace, "RunStarted").back().at("run_id");
      RawClient client(serving.port());
      const Json params{{"name", "execute_agent"}, {"arguments", {{"source", kForever}}}};
      client.send(
          post_text(serving.port(), {.token = serving.token(),
                                     .more = stateless_headers("tools/call", "execute_agent"),
                                     .body = asking(1, params).dump()}));
      client.read_until("\"running\"");
      const auto live = [&] { return workspace.mcpac({"runs", "list", "--json"}).out; };
      until([&] { return has(live(), "<agent>"); });
      if (by_user) {
        CHECK(workspace.mcpac({"runs", "kill", run}).exit_code == 0);
        until([&] { return !has(live(), "<agent>"); });
      }
      CHECK(serving.end() == 0);
      CHECK_FALSE(has(live(), "<agent>"));
    }
    check_records(workspace);
  }

  TEST_CASE("files are a program's only where the client's rules say so") {
    const Workspace& workspace = warm_workspace();
    const char* source = R"(#include <mcpac.hpp>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
int agent_main(mcpac::Requires<mcpac::files>) {
  std::ifstream file("data/a.txt");
  std::string line;
  std::getline(file, line);
  std::cout << line;
  return 0;
}
)";
    const Json calls = Json::array({executed(source)});
    const Json given = served_over_stdio(
        workspace, {"--code", "--grant", "everything.echo", "--files", "./data"}, calls);
    CHECK(content(given, 0).at("stdout") == "alpha");
    CHECK(has(given.at("instructions").get<std::string>(), "## Files and network"));
    const Json none = served_over_stdio(workspace, {"--code", "--grant", "everything.echo"}, calls);
    CHECK(content(none, 0).at("error").at("id") == "MCPAC-E0704");
    check_records(workspace);
  }
}
