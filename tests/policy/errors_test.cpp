#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "policy/support_world.h"
#include "policy/text/parser.h"

namespace mcpac::policy::testing {
namespace {

Error error_of(const std::string& grant) {
  const World world;
  const auto authority = world.grant({grant});
  REQUIRE_MESSAGE(!authority.has_value(), grant << " loads");
  return authority.error();
}

}  // namespace

TEST_CASE("an unknown tool is a load error that shows the place and names the nearest tool") {
  const Error error = error_of("kv.get, filesystem.read_txt_file");
  CHECK(error.id == ErrorId::kRuleUnknownName);
  CHECK(error.what == "the lock knows no tool 'read_txt_file' of server filesystem");
  CHECK(error.where ==
        "--grant:1:20\n    | kv.get, filesystem.read_txt_file\n    |                    ^");
  CHECK(error.fix == "did you mean filesystem.read_text_file?");
  CHECK(error_of("filesystem.read_te").fix == "did you mean filesystem.read_text_file?");
}

TEST_CASE("an unknown server names the nearest server") {
  const Error error = error_of("filesytem.read_text_file");
  CHECK(error.id == ErrorId::kRuleUnknownName);
  CHECK(error.fix == "did you mean filesystem?");
  CHECK(error_of("weather.now").fix.starts_with("`mcpac generate` adds the servers"));
}

TEST_CASE("a name alone is answered with both rules that it may stand for") {
  const Error alone = error_of("kv");
  CHECK(alone.id == ErrorId::kRuleSyntax);
  CHECK(alone.fix ==
        "write kv.TOOL for one tool of a server kv, kv.* for all of them, SERVER.kv for a tool kv");
  CHECK(error_of("*").fix == "write SERVER.* for all tools of one server, a rule each");
}

TEST_CASE("what stands where something else was expected is answered with what to write") {
  for (const auto& [text, fix] :
       {std::pair{"", "write SERVER.TOOL, or SERVER.* for all tools of one server"},
        {".get", "write SERVER.TOOL, or SERVER.* for all tools of one server"},
        {"kv.", "`mcpac tools list` names the tools; '*' stands for all of the server"},
        {"kv.get,", "leave out the last ','"},
        {"kv.get(key any", "close the brackets with )"},
        {"kv.get(key == a/b.txt)", "write it in double quotes"},
        {"kv.get(key == 'a')", "write it with \" instead of '"},
        {"kv.get(key in [\"a\"])", "a list stands in braces, e.g. {1, 2}"},
        {"kv.get(key >= \"a\")", "<, <=, > and >= compare numbers; a text has ==, in or like"},
        {"kv.get calls < 3", "a clause says the most that it admits, e.g. calls <= 3"},
        {"kv.get; kv.set", "write each rule in a --grant of its own"},
        {"kv.get|kv.set", "write ',' between tools: kv.get,kv.set"},
        {"kv.get and kv.set", "write ',' between tools: kv.get,kv.set"},
        {"kv.get 3", "name what the number limits: calls <= 3 for the whole run, or rate 10/min"},
        {"kv.get <= 3", "name what is limited: calls <= 3, or bytes in <= 10MB"},
        {"kv.get calls 3", "a clause says the most that it admits, e.g. calls <= 3"},
        {"kv.get calls <= x", "e.g. calls <= 3"},
        {"kv.get calls <= 10/m", "write rate 10/min"},
        {"kv.get calls <= 10/hour", "write rate 10/h"},
        {"kv.get rate 10/m", "write 10/min"},
        {"kv.get rate 10/second", "write 10/s"},
        {"kv.get rate 10/day",
         "write how many an hour, e.g. 10/h; calls <= 10 is of the whole run"},
        {"kv.get rate 10/week", "e.g. 10/min"},
        {"kv.get rate 10", "e.g. 10/min"},
        {"kv.get rate <= 10/min", "e.g. rate 10/min"},
        {"kv.get bytes <= 10", "bytes in <= 10MB, or bytes out <= 64KB"},
        {"kv.get cost <= 1", "e.g. cost <= 1 USD"},
        {"kv.get audit all", "e.g. audit hash"},
        {"kv.get(key any; key any)", "write ',' between arguments"},
        {"kv.get(key in {\"a\"; \"b\"})", "write ',' between the items, and } behind the last"},
        {"kv.get(key in {\"a\"|\"b\"})", "write ',' between the items, and } behind the last"},
        {"kv.get(key like a*)", "write it in double quotes"},
        {"kv.get(key starts 'a')", "write it with \" instead of '"},
        {"kv.get(key re a)", "e.g. re /^[a-z]+$/"},
        {"kv.get(key 5)", "write == 5 for this number, 0..5 for all up to it"},
        {"kv.get(key any,)", "e.g. path within ./data"},
        {"kv.get(.., ..)", "keep one of them"},
        {"kv.get(key ip 10.0.0.0/8)", "ip in {10.0.0.0/8}"},
        {"filesystem.read_text_file(path within {./a,./b})",
         "a test names one place: write a rule for each, or the folder that holds them all"},
        {"filesystem.read_text_file(path within ./a except ./a/b)",
         "a list stands in braces, e.g. except {./data/private}"},
        {"filesystem.read_text_file path within ./data",
         "put the tests in brackets: filesystem.read_text_file(path within ./data)"},
        {"filesystem.read_text_file where path within ./data calls <= 3",
         "put the tests in brackets: filesystem.read_text_file(path within ./data)"},
        {"filesystem.read_text_file(path within ./data) && head <= 3",
         "put the tests in brackets: filesystem.read_text_file(path within ./data, head <= 3)"},
        {"kv.get(key any) && calls <= 3",
         "leave out '&&': clauses stand side by side behind the rule"},
        {"kv.get(key any) and rate 3/min",
         "leave out 'and': clauses stand side by side behind the rule"},
        {"kv.get(key any), calls <= 3", "leave out the ',' before the clause"},
        {"kv:get", "write kv.get"},
        {"kv->get", "write kv.get"},
        {"mcp__kv__get", "write kv.get"},
        {"kv__get", "write kv.get"},
        {"kv.get(key = \"a\")", "write =="},
        {"kv.get(key === \"a\")", "write == or !=, with two signs"},
        {"kv.get(key =~ \"a\")", "write re /…/"},
        {"filesystem.read_text_file(path.startsWith(\"data\"))",
         "e.g. path within ./data, or name starts \"a\""},
        {"filesystem.read_text_file(path within)", "e.g. ./data, ~/notes or /srv/data"}}) {
    CAPTURE(text);
    const Error error = error_of(text);
    CHECK(error.id == ErrorId::kRuleSyntax);
    CHECK(error.fix == fix);
  }
  for (const char* both : {"kv.get(key any && key any)", "kv.get(key any and key any)"})
    CHECK(error_of(both).fix.starts_with("write ',' between arguments"));
  for (const char* either :
       {"kv.get(key any || key any)", "kv.get(key any or key any)", "kv.get(key == \"a\" | \"b\")"})
    CHECK(error_of(either).fix.starts_with("write a rule for each"));
}

TEST_CASE("what other languages call otherwise is answered with the word for it") {
  for (const auto& [text, fix] :
       {std::pair{"kv.get max 3", "write calls <= 3"},
        {"kv.get call <= 3", "write calls <= 3"},
        {"kv.get bytes_in <= 3KB", "write bytes in <= 10MB"},
        {"kv.get costs <= 1", "write cost <= 1.00 USD"},
        {"kv.get(key regex /a/)", "write re /…/"},
        {"kv.get(key contains \"a\")", "write like \"*…*\""},
        {"kv.get(key startsWith \"a\")", "write starts \"…\""},
        {"kv.get(key endsWith \"a\")", "write ends \"…\""},
        {"kv.get(key beginsWith \"a\")", "write starts \"…\""},
        {"kv.get(key Contains \"a\")", "write like \"*…*\""},
        {"kv.get(key oneOf \"a\")", "write in {\"a\", \"b\"}"},
        {"kv.get(key not in {\"a\"})",
         "write != VALUE; a test is turned around by a rule deny, or except {…}"},
        {"kv.get(key: \"a\")", "a value is compared with ==: path == \"a\""},
        {"filesystem.read_text_file(path inside ./a)", "write within PATH"},
        {"filesystem.read_text_file(path within data)", "./data"},
        {"filesystem.read_text_file(path within $HOME/x)", "~/x"},
        {"filesystem.read_text_file(path within file:///x)", "/x"},
        {"filesystem.read_text_file(path within ~bob/x)", "write the whole path, from /"},
        {"filesystem.read_text_file(path within ../x)", "/tmp/x"}}) {
    CAPTURE(text);
    CHECK(error_of(text).fix == fix);
  }
}

TEST_CASE("$HOME is answered with the folder that it is, also where that is not the account's") {
  World world;
  world.bases.home = "/home/of-account";
  const std::string rule = "filesystem.read_text_file(path within $HOME/data)";
  const auto fix_of = [&](const std::string& home) {
    auto environment = world.environment();
    environment.home_variable = home;
    LayerText run;
    run.name = "the command line";
    LayerText places = run;
    run.grants = {rule};
    places.places = {"files \"$HOME/data\" read-only"};
    const std::string of_rule = Authority::load({run}, environment).error().fix;
    const std::string of_files = Authority::load({places}, environment).error().fix;
    // "~/" is quoted: a shell would expand it, to another folder where $HOME is another.
    CHECK((of_files == "--files " + of_rule || of_files == "--files '" + of_rule + "'"));
    return of_rule;
  };
  CHECK(fix_of("") == "~/data");
  CHECK(fix_of("/home/of-account") == "~/data");
  CHECK(fix_of("/tmp/other") == "/tmp/other/data");
}

TEST_CASE(
    "a file that is no policy is answered with what one is, at the place where it goes wrong") {
  const World world;
  const auto error_in = [&](const std::string& file) {
    const auto authority =
        world.load({{.name = "p", .grants = {}, .asks = {}, .denies = {}, .files = {{file, "p"}}}});
    REQUIRE_MESSAGE(!authority.has_value(), file);
    return authority.error();
  };
  for (const auto& [text, fix] :
       {std::pair{"kv.get\n", "write allow, ask or deny before kv."},
        {"permit kv.get\n", "write allow"},
        {"allow kv.get\nblock kv.set\n", "write deny"},
        {"allow kv.get; deny kv.set\n", "nothing stands between statements: write one a line"},
        {"allow kv.g*\n",
         "'*' stands for all tools of a server, and for no part of a name: write SERVER.*, or a "
         "rule "
         "for each tool"},
        {"{\"allow\": []}\n",
         "a policy is no JSON: a statement a line, such as allow SERVER.TOOL(path within ./data)"},
        {"deny filesystem.read_text_file path within ./data\n",
         "put the tests of the rule in brackets: SERVER.TOOL(path within ./data)"},
        {"allow kv.get(key any) && calls <= 3\n",
         "leave out '&&': clauses stand side by side behind the rule"},
        {"// kv\n", "a comment begins with #"},
        {"\xEF\xBB\xBF"
         "allow kv.get\n",
         "save the file as UTF-8 without it"},
        {"policy x { allow kv.get }\n", "write \"x\""},
        {"policy \"x\" {\n  allow kv.get\n", "close the block \"x\""},
        {"use \"look\"\n", "the file has none: profile \"…\" { … }"}}) {
    CAPTURE(text);
    CHECK(error_in(text).fix == fix);
  }
  CHECK(error_in("allow kv\n\n").where == "p:1:9\n    | allow kv\n    |         ^");
}

TEST_CASE("a verb in a rule of the command line is answered with the option that it is") {
  for (const auto& [text, fix] : {std::pair{"allow kv.get", "--grant RULE"},
                                  {"ask kv.get", "--ask RULE"},
                                  {"kv.get, deny kv.get", "--deny RULE"}}) {
    CAPTURE(text);
    const Error error = error_of(text);
    CHECK(error.id == ErrorId::kRuleSyntax);
    CHECK(error.why.contains("the option is the verb"));
    CHECK(error.fix == fix);
  }
  CHECK(error_of("ask").fix ==
        "write ask.TOOL for one tool of a server ask, ask.* for all of them, SERVER.ask for a tool "
        "ask");
}

TEST_CASE("a part of a name with a star is answered with why there is none") {
  for (const char* part : {"filesystem.read_*", "kv.g*"}) {
    CAPTURE(part);
    const Error error = error_of(part);
    CHECK(error.why.starts_with("'*' stands for all tools of a server"));
    CHECK(error.fix == "write SERVER.*, or a rule for each tool");
  }
}

TEST_CASE("an unknown argument names the nearest argument") {
  const Error error = error_of("filesystem.read_text_file(pth within ./data)");
  CHECK(error.id == ErrorId::kRuleUnknownName);
  CHECK(error.fix == "did you mean 'path'?");
  const Error far = error_of("filesystem.read_text_file(zzzz within ./data)");
  CHECK(far.fix.starts_with("there are: "));
  CHECK(far.fix.contains("path"));
}

TEST_CASE("a tool with a dot in its name must be quoted, and the error says how") {
  World world;
  world.add_tools(Json{{"gh.\"issues.create\"", Json{{"type", "object"}}}});
  const auto plain = world.grant({"gh.issues.create"});
  REQUIRE(!plain.has_value());
  CHECK(plain.error().fix.find("gh.\"issues.create\"") != std::string::npos);
  CHECK(world.grant({"gh.\"issues.create\""}).has_value());
  // Also beside a tool that merely begins alike.
  world.add_tools(Json{{"gh.\"issues-all\"", Json{{"type", "object"}}}});
  CHECK(world.grant({"gh.issues.create"}).error().fix.find("issues.create") != std::string::npos);
}

TEST_CASE("what other languages write is answered with what is written here, at its place") {
  const Error equal = error_of("kv.get(key = \"a\")");
  CHECK(equal.fix == "write ==");
  CHECK(equal.where == "--grant:1:12\n    | kv.get(key = \"a\")\n    |            ^");
  for (const char* folder : {"./data", "/data", "~/data", "@filesystem/data"}) {
    CAPTURE(folder);
    CHECK(error_of("filesystem.read_text_file(path in " + std::string(folder) + ")").fix ==
          "write within");
  }
  CHECK(error_of("filesystem.read_text_file(path in \"a\")").fix != "write within");
  for (const char* cpp : {"filesystem::read_text_file", "mcp::filesystem::read_text_file"}) {
    CAPTURE(cpp);
    CHECK(error_of(cpp).fix == "write server.tool, as `mcpac tools list` does");
  }
}

TEST_CASE("what is told to be written is the rule that was meant") {
  for (const char* apart : {"mcp.filesystem.read_text_file", "filesystem/read_text_file",
                            "filesystem read_text_file"}) {
    CAPTURE(apart);
    CHECK(error_of(apart).fix == "write filesystem.read_text_file");
  }
  const auto everywhere = parse_rule({"--deny", "*(* within ~/.ssh)"}, Effect::kDeny);
  REQUIRE_FALSE(everywhere);
  CHECK(everywhere.error().fix == "write *.* for all tools of all servers");
  CHECK(error_of("filesystem.read_text_file(path within /srv/data/*)").fix == "within /srv/data");
  CHECK(error_of("filesystem.read_text_file(path within /srv/*/data)").fix ==
        "matches /srv/*/data/**");
}

TEST_CASE("a misspelt test names the nearest test") {
  CHECK(error_of("filesystem.read_text_file(path witin ./data)").fix == "did you mean 'within'?");
}

TEST_CASE("a test of a list is answered with the test of each element, another with what fits") {
  CHECK(error_of("filesystem.read_multiple_files(paths within ./data)").fix ==
        "paths[*] within ./data");
  CHECK(error_of("filesystem.read_multiple_files(paths 1..10)").fix ==
        "a list takes size 1..10, and tests of each element: [*]");
  CHECK(error_of("filesystem.read_text_file(path any, head starts \"a\")").fix ==
        "a number takes ==, !=, <, <=, >, >=, 1..100 and in {…}");
  CHECK(error_of("filesystem.read_text_file(path 1..10)").fix.starts_with("a string takes"));
}

TEST_CASE("a rule that can never match is a load error") {
  for (const char* grant :
       {"kv.get calls <= 0", "kv.get bytes in <= 0KB", "math.add(a > 5 < 3, b any)",
        "kv.get(key == \"a\" == \"b\")", "kv.get(key 1..10)", "github.create_issue(title any)",
        "filesystem.read_text_file(path absent, ..)", "kv.get()", "kv.get(key len 5..1)",
        "http.get(url host 127.0.0.1)", "http.get(url host localhost)",
        "http.get(url host a.example ip in {10.0.0.0/8})",
        "filesystem.read_text_file(path within @server/x)"}) {
    CHECK_MESSAGE(error_of(grant).id == ErrorId::kRuleIneffective, grant);
  }
}

TEST_CASE("a limit on a deny or an ask is refused, for authority would grow when it is used up") {
  const World world;
  for (const bool deny : {true, false}) {
    LayerText layer{
        .name = "the command line", .grants = {"kv.get"}, .asks = {}, .denies = {}, .files = {}};
    (deny ? layer.denies : layer.asks).emplace_back("kv.get for 10m");
    const auto loaded = world.load({layer});
    REQUIRE_FALSE(loaded.has_value());
    CHECK(loaded.error().what == (deny ? "a limit on a rule of deny" : "a limit on a rule of ask"));
    CHECK(loaded.error().why.find(deny ? "be allowed" : "nobody be asked") != std::string::npos);
    CHECK(loaded.error().fix.find(deny ? "on the allow" : "mcpac.policy") != std::string::npos);
  }
}

TEST_CASE("what an ask may not limit itself, the allow of a layer above limits") {
  const World world;
  LayerText asks{
      .name = "the command line", .grants = {}, .asks = {"kv.get"}, .denies = {}, .files = {}};
  LayerText ceiling{.name = "mcpac.policy",
                    .grants = {"kv.get calls <= 1"},
                    .asks = {},
                    .denies = {},
                    .files = {}};
  auto authority = world.load({asks, ceiling}).value();
  const auto get = Permission::parse("kv.get").value();
  const Json key = {{"key", "a"}};
  const auto asked = authority.decide(get, key).asks;
  CHECK(authority.decide(get, key, nullptr, asked).allowed());
  const Decision second = authority.decide(get, key, nullptr, asked);
  CHECK(second.effect == Effect::kDeny);
  CHECK(second.reason == "its one call per run is used up");
}

TEST_CASE("a policy file shows line and column of its mistake") {
  const World world;
  const auto authority = world.load({{.name = "mcpac.policy",
                                      .grants = {},
                                      .asks = {},
                                      .denies = {},
                                      .files = {"allow kv.get\nalow kv.set\n"}}});
  REQUIRE(!authority.has_value());
  CHECK(authority.error().where == "mcpac.policy:2:1\n    | alow kv.set\n    | ^");
  CHECK(authority.error().fix == "did you mean 'allow'?");
}

TEST_CASE("a rule text of two million bytes is refused before it is read") {
  CHECK(error_of("kv.get(key == \"" + std::string(2'000'000, 'a') + "\")").id ==
        ErrorId::kRuleSyntax);
}

}  // namespace mcpac::policy::testing
