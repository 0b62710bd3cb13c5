// Questions through the real binary: approver commands, a person at a pseudo terminal, and nobody.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "e2e/workspace.h"

using e2e::has;
using e2e::Workspace;

namespace {

// Echoes three texts; of a denial it prints what a program hears.
const std::string kEchoes = R"(#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcp::fixture::echo> rt) {
  for (const char* text : {"one", "two", "three"}) {
    auto said = rt.fixture.echo.try_call({.zebra = text});
    std::println("{}: {}", text, said ? "said" : said.error().what());
  }
  return 0;
}
)";

Workspace& shared_project() {
  static const auto written = Workspace::shared_fixture().write("echoes.cpp", kEchoes);
  return Workspace::shared_fixture();
}

// Answers yes before the run; during it `answer`, a Python expression over the question q and the
// number n of calls asked about before. Writes down every question.
std::string approver(const std::string& name, const std::string& answer,
                     const std::string& before = "") {
  const auto log = (shared_project().folder() / (name + ".log")).string();
  const auto file = shared_project().write(name + ".py", fmt::format(R"(import json, os, sys, time
q = json.load(sys.stdin)
log = "{}"
n = sum(1 for line in open(log) if '"kind": "call"' in line) if os.path.exists(log) else 0
open(log, "a").write(json.dumps(q) + "\n")
if q["kind"] == "program":
    print(json.dumps(dict(question=q["question"], answer="yes")))
    sys.exit(0)
{}
print(json.dumps(dict(question=q["question"], **({}))))
)",
                                                                     log, before, answer));
  return "python3 " + file.string();
}

std::vector<mcpac::Json> questions(const std::string& name) {
  std::vector<mcpac::Json> all;
  std::string text = shared_project().read(name + ".log");
  for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
    all.push_back(*mcpac::parse_json(text.substr(0, end)));
  return all;
}

e2e::Outcome ask(const std::string& command, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"execute", "-f", "echoes.cpp", "--ask", "fixture.echo"};
  if (!command.empty()) words.insert(words.end(), {"--approver", command});
  words.insert(words.end(), more.begin(), more.end());
  return shared_project().mcpac(words);
}

}  // namespace

TEST_SUITE("e2e/asking") {
  TEST_CASE("once is asked for every call, run only for the first, and all of it is recorded") {
    const auto once = ask(approver("once", "dict(answer='once')"), {"--json"});
    INFO(once.err);
    CHECK(once.exit_code == 0);
    CHECK(has(once.json().at("stdout").get<std::string>(), "three: said"));
    const auto asked = questions("once");
    REQUIRE(asked.size() == 4);
    CHECK(asked[0].at("kind") == "program");
    CHECK(asked[0].at("declared")[0].at("standing") == "asks");
    CHECK(asked[1].at("permission") == "fixture.echo");
    CHECK(asked[1].at("arguments") == mcpac::Json{{"zebra", "one"}});
    CHECK(asked[1].at("rules")[0].at("rule") == "ask fixture.echo");
    const auto log = shared_project().mcpac(
        {"audit", "list", "--json", "--run", once.json().at("run_id").get<std::string>()});
    CHECK(has(log.out, "\"Approval\""));
    CHECK(has(log.out, asked[1].at("question").get<std::string>()));

    CHECK(has(ask(approver("run", "dict(answer='run')")).out, "three: said"));
    CHECK(questions("run").size() == 2);
  }

  TEST_CASE("a no denies one call, and the program hears permission and reason only") {
    const auto run = ask(approver("no", "dict(answer='no' if n == 1 else 'once')"));
    INFO(run.err);
    CHECK(has(run.out, "one: said"));
    CHECK(has(run.out,
              "two: permission denied: fixture.echo: it needs an approval, and the answer was no"));
    CHECK(has(run.out, "three: said"));
    CHECK_FALSE(has(run.out, "ask fixture.echo"));
    CHECK(has(run.err, "denied: fixture.echo"));
  }

  TEST_CASE("until holds in later runs of exactly this program, is listed and forgotten") {
    if (!shared_project().has_account()) return;
    const std::string command = approver("until", "dict(answer='until', until='1h')");
    CHECK(has(ask(command).out, "three: said"));
    CHECK(questions("until").size() == 2);
    CHECK(has(ask(command).out, "three: said"));
    CHECK(questions("until").size() == 3);  // the screen, and no call
    const auto listed = shared_project().mcpac({"approvals", "list", "--json"}).json();
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].at("rule") == "ask fixture.echo");
    struct stat info {};
    REQUIRE(::stat((shared_project().home() / ".local/state/mcpac/approvals.json").c_str(),
                   &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600U);

    // Another program, one byte apart.
    shared_project().write("echoes.cpp", kEchoes + "\n");
    CHECK(has(ask(command).out, "three: said"));
    CHECK(questions("until").size() == 5);
    shared_project().write("echoes.cpp", kEchoes);
    // Other rules.
    CHECK(has(ask(command, {"--grant", "fixture.add"}).out, "three: said"));
    CHECK(questions("until").size() == 7);
    // Other rules by a profile, once with the same name.
    for (const char* rules : {"allow fixture.add", "allow fixture.*"}) {
      shared_project().write("look.policy", fmt::format("profile \"look\" {{ {} }}", rules));
      const auto before = questions("until").size();
      CHECK(has(ask(command, {"--policy", "look.policy", "--profile", "look"}).out, "three: said"));
      CHECK(questions("until").size() == before + 2);
    }

    CHECK(shared_project().mcpac({"approvals", "forget", "nothing"}).exit_code == 66);
    const auto id = listed[0].at("id").get<std::string>().substr(0, 12);
    CHECK(shared_project().mcpac({"approvals", "forget", id}).exit_code == 0);
    CHECK(has(ask(command).out, "three: said"));
    CHECK(questions("until").size() == 13);
    CHECK(shared_project().mcpac({"approvals", "forget", "--all"}).exit_code == 0);
    CHECK(shared_project().mcpac({"approvals", "list", "--json"}).json().empty());
  }

  TEST_CASE("never denies for good, and a file that was tampered with is not believed") {
    if (!shared_project().has_account()) return;
    const std::string command = approver("never", "dict(answer='never')");
    CHECK(has(ask(command).out, "three: permission denied"));
    CHECK(questions("never").size() == 2);
    CHECK(has(ask(command).out, "one: permission denied"));
    CHECK(questions("never").size() == 3);
    std::string text = shared_project().read(".home/.local/state/mcpac/approvals.json");
    const auto at = text.find("\"never\"");
    REQUIRE(at != std::string::npos);
    shared_project().write(".home/.local/state/mcpac/approvals.json",
                           text.replace(at, 7, "\"until\""));
    const auto run = ask(approver("after", "dict(answer='no')"));
    CHECK(has(run.err, "ignored"));
    CHECK(questions("after").size() == 4);
    CHECK(shared_project().mcpac({"approvals", "forget", "--all"}).exit_code == 0);
  }

  TEST_CASE(
      "an approver that fails is a no: garbage, two answers, another question, a crash, silence") {
    const std::vector<std::pair<std::string, std::string>> failures = {
        {"garbage", "print('yes please'); sys.exit(0)"},
        {"twice",
         "a = json.dumps(dict(question=q['question'], answer='once')); print(a); print(a); "
         "sys.exit(0)"},
        {"other", "q['question'] = '0' * 64"},
        {"crash", "sys.exit(3)"},
        {"status", "print(json.dumps(dict(question=q['question'], answer='once'))); sys.exit(1)"},
        {"flood", "print('x' * 1000000); sys.exit(0)"},
        {"late", "time.sleep(60)"}};
    for (const auto& [name, code] : failures) {
      CAPTURE(name);
      const auto run = ask(approver(name, "dict(answer='run')", code), {"--approver-timeout", "3"});
      INFO(run.out, run.err);
      CHECK(has(
          run.out,
          "one: permission denied: fixture.echo: it needs an approval, and no valid answer came"));
      CHECK_FALSE(has(run.out, "said"));
    }
    CHECK(ask("'unclosed").exit_code == 64);
    const auto absent = ask("/nowhere/approver");
    CHECK(absent.exit_code == 77);
    CHECK(has(absent.err, "MCPAC-E0712"));
  }

  TEST_CASE(
      "where nobody can be asked the run is refused with the way out, or runs and is denied") {
    const auto refused = ask("");
    CHECK(refused.exit_code == 77);
    CHECK(has(refused.err, "MCPAC-E0711"));
    CHECK(has(refused.err, "--approver COMMAND"));
    const auto denied = ask("", {"--expect-denials"});
    INFO(denied.err);
    CHECK(denied.exit_code == 0);
    CHECK(
        has(denied.out, "one: permission denied: fixture.echo: it needs an approval, and nobody"));
    // Granted outright: no screen, and nobody is missed.
    CHECK(shared_project()
              .mcpac({"execute", "-f", "echoes.cpp", "--grant", "fixture.echo"})
              .exit_code == 0);
  }

  TEST_CASE(
      "--review shows what is granted outright, too, and what is new since the last approval") {
    const std::string command = approver("review", "dict(answer='once')");
    const auto review = [&](const std::string& source) {
      return shared_project().mcpac({"execute", "-f", source, "--grant", "fixture.echo,fixture.add",
                                     "--review", "--approver", command});
    };
    CHECK(review("echoes.cpp").exit_code == 0);
    std::string more = kEchoes;
    more.replace(more.find("mcp::fixture::echo"), 18, "mcp::fixture::echo, mcp::fixture::add");
    shared_project().write("echoes.cpp", more);
    CHECK(review("echoes.cpp").exit_code == 0);
    shared_project().write("echoes.cpp", kEchoes);
    const auto asked = questions("review");
    REQUIRE(asked.size() == 2);
    CHECK(asked[0].at("declared")[0].at("standing") == "allowed");
    CHECK_FALSE(asked[1].at("last_approved").is_null());
    for (const auto& item : asked[1].at("declared"))
      CHECK(item.at("new") == (item.at("permission") == "fixture.add"));
  }

  TEST_CASE("analyze says that a use asks") {
    const auto run =
        shared_project().mcpac({"permissions", "analyze", "echoes.cpp", "--ask", "fixture.echo"});
    CHECK(has(run.out + run.err, "conditional: asks"));
  }

  TEST_CASE("a review without anybody names a way out that is one") {
    shared_project().write(
        "quiet.cpp", "#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { return 0; }\n");
    const auto run = shared_project().mcpac({"execute", "-f", "quiet.cpp", "--review"});
    CHECK(run.exit_code == 77);
    CHECK(has(run.err, "MCPAC-E0711"));
    CHECK(has(run.err, "without --review"));
    CHECK_FALSE(has(run.err, "--expect-denials"));
    CHECK(has(ask("").err, "--expect-denials"));
  }

  TEST_CASE("a person at the terminal is shown what cannot draw, and answers in words") {
    shared_project().write("draws.cpp", R"(#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcp::fixture::echo> rt) {
  auto said = rt.fixture.echo.try_call({.zebra = "\033[2J\u202Eevil\r\nmcpac asks: fine"});
  std::println("{}", said ? "said" : "denied");
  return 0;
}
)");
    const auto at_terminal = [&](const std::string& answers) {
      return shared_project().with_person(answers,
                                          {"execute", "-f", "draws.cpp", "--ask", "fixture.echo"});
    };
    const auto yes = at_terminal("y,perhaps,until yesterday,show,once");
    INFO(yes.out);
    CHECK(has(yes.out, "Run it? [y/N]"));
    CHECK(has(yes.out, R"(zebra = "\u001b[2J\u202eevil\r\nmcpac asks: fine")"));
    CHECK(has(yes.out, "under these rules:\r\n    the command line: ask fixture.echo\r\n"));
    CHECK_FALSE(has(yes.out, "the program's declaration"));
    CHECK(has(yes.out, "may draws.cpp make this call?\r\n  tool echo of server fixture\r\n"));
    CHECK(has(yes.out, "asked by the command line: ask fixture.echo"));
    CHECK(has(yes.out, "That is none of the answers."));
    CHECK(has(yes.out, "until wants a time that is to come"));
    CHECK(has(yes.out, "said"));
    CHECK_FALSE(has(yes.out, "\033[2J"));
    CHECK(yes.exit_code == 0);
    const auto unclear = at_terminal("y,1,2,3,4,5");
    CHECK(has(unclear.out, "none of the answers. It counts as a no"));
    CHECK(has(unclear.out, "denied"));
    const auto no = at_terminal("n");
    CHECK(no.exit_code == 77);
    CHECK(has(no.out, "MCPAC-E0712"));
    // What to do after an answer is told to who gave it: nothing, or how it is taken back.
    CHECK(has(no.out, "nothing, where the no was meant"));
    const auto once = at_terminal("y,n");
    INFO(once.out);
    CHECK(has(once.out, "fix: nothing, where the no was meant: the next run asks again"));
    CHECK_FALSE(has(once.out, "That is none of the answers."));
    if (!shared_project().has_account()) return;
    for (const char* answers : {"y,never", "y"}) {
      const auto never = at_terminal(answers);
      INFO(never.out);
      CHECK(has(never.out, "it is asked again after `mcpac approvals forget ID`"));
      CHECK_FALSE(has(never.out, "--approver COMMAND answers"));
    }
    CHECK(shared_project().mcpac({"approvals", "forget", "--all"}).exit_code == 0);
  }

  TEST_CASE("the screen before a run tells a changed program from the one that was approved") {
    if (!shared_project().has_account()) return;
    const std::string command = approver("changed", "dict(answer='no')");
    const auto review = [&](const std::string& end) {
      shared_project().write(
          "changes.cpp",
          "#include <mcpac.hpp>\nint agent_main(mcpac::Requires<mcp::fixture::echo> rt) "
          "{\n  (void)rt.fixture.echo.try_call({.zebra = \"z\"});\n  return 0;\n}\n" +
              end);
      CHECK(shared_project()
                .mcpac({"execute", "-f", "changes.cpp", "--review", "--grant",
                        "fixture.echo(zebra any)", "--approver", command})
                .exit_code == 0);
      return questions("changed").back();
    };
    const auto first = review("");
    CHECK(first.at("last_approved").is_null());
    CHECK(first.at("same") == false);
    // The reason is about the calls that are seen, not about those that cannot be.
    CHECK(first.at("declared")[0].at("standing") == "allowed");
    CHECK(first.at("declared")[0].at("reason") == "");
    CHECK(review("").at("same") == true);
    const auto changed = review("// another one\n");
    CHECK(changed.at("same") == false);
    CHECK_FALSE(changed.at("last_approved").is_null());
    CHECK(shared_project().mcpac({"approvals", "forget", "--all"}).exit_code == 0);
  }
}
