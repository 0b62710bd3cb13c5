// mcpac policy: files of rules through the real binary, against the lock of real servers.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "e2e/workspace.h"
#include "places.h"

using e2e::has;
using e2e::Workspace;
using mcpac::Json;

namespace {

e2e::Outcome policy(std::vector<std::string> words) {
  words.insert(words.begin(), "policy");
  return Workspace::shared().mcpac(words);
}

std::string file(const std::string& name, const std::string& text) {
  return Workspace::shared().write(name, text).string();
}

// A server that decodes as servers of other languages do.
const std::string& decoders() {
  static const std::string path = mcpac::testing::in_source("tests/servers/decoders.mjs");
  return path;
}

const Workspace& with_decoders() {
  static const Workspace& generated = []() -> const Workspace& {
    static const Workspace made(fmt::format(
        R"({{"mcpServers": {{"decoders": {{"command": "node", "args": ["{}"]}}}}}})", decoders()));
    REQUIRE(made.mcpac({"generate"}).exit_code == 0);
    return made;
  }();
  return generated;
}

e2e::Outcome decoded(const std::string& tool, const std::string& arguments,
                     std::vector<std::string> rules) {
  std::vector<std::string> words{"tools", "call", "decoders." + tool, "--arguments", arguments};
  words.insert(words.end(), rules.begin(), rules.end());
  return with_decoders().mcpac(words);
}

const std::string kReads = "allow filesystem.read_text_file(path within ./data)\n";

}  // namespace

TEST_SUITE("e2e/policy") {
  TEST_CASE("diff says what a new policy admits more and less, and nothing of other words") {
    const auto narrow = file("narrow.policy", kReads);
    const auto wide = file("wide.policy", "allow filesystem.read_text_file\n");
    const auto more = policy({"diff", narrow, wide});
    INFO(more.out << more.err);
    CHECK(more.exit_code == 77);
    CHECK(has(more.out, "+ filesystem.read_text_file {"));
    CHECK(has(more.out, "allow, instead of deny"));
    const auto less = policy({"diff", wide, narrow});
    CHECK(less.exit_code == 0);
    CHECK(has(less.out, "- filesystem.read_text_file {"));
    CHECK(has(less.out, ": deny, instead of allow"));
    const Json changed = policy({"diff", "--json", wide, narrow}).json();
    CHECK(changed.at("less")[0].at("old") == "allow");
    CHECK(changed.at("less")[0].at("new") == "deny");
    CHECK(has(policy({"diff", file("few.policy", "allow filesystem.read_text_file calls <= 3\n"),
                      file("one.policy", "allow filesystem.read_text_file calls <= 1\n")})
                  .out,
              ": 1 call, instead of 3 calls"));
    const auto other = file("other.policy",
                            "# in other words\npolicy \"p\" { grant filesystem.read_text_file("
                            "path within \"./data\") }\n");
    const auto same = policy({"diff", narrow, other});
    CHECK(same.exit_code == 0);
    CHECK(same.out == other + " admits nothing that " + narrow + " does not\n");
  }

  TEST_CASE("a member in another spelling reaches no server, whatever is granted") {
    // What such a server makes of it.
    const auto taken = e2e::run_program(
        {"node", decoders()}, {},
        {.input = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read",)"
                  R"("arguments":{"path":"ok","PATH":"secret"}}})"
                  "\n"});
    CHECK(has(taken.out, "path secret"));
    const std::vector<std::string> rules{"--grant", "decoders.read", "--deny",
                                         R"(decoders.read(path == "secret"))"};
    const auto honest = decoded("read", R"({"path":"ok"})", rules);
    INFO(honest.err);
    CHECK(honest.out == "path ok\n");
    CHECK(decoded("read", R"({"path":"secret"})", rules).exit_code == 77);
    for (const char* call :
         {R"({"path":"ok","PATH":"secret"})", R"({"path":"ok","pAth":"secret"})",
          "{\"path\":\"ok\",\"\u212aey\":\"x\"}", "{\"path\":\"ok\",\"path\u200d\":\"secret\"}"}) {
      CAPTURE(call);
      const auto run = decoded("read", call, rules);
      CHECK(run.exit_code != 0);
      CHECK(run.exit_code != 77);
      CHECK(run.out.empty());
      CHECK(has(run.err, "did you mean \""));
      const auto explained = with_decoders().mcpac(
          {"policy", "explain", "decoders.read", call, "--grant", "decoders.read"});
      CHECK(explained.exit_code != 0);
      CHECK(has(explained.err, "did you mean"));
    }
  }

  TEST_CASE("a deny is not passed by leaving out what the server fills in") {
    const std::vector<std::string> rules{"--grant", "decoders.act", "--deny",
                                         R"(decoders.act(options.mode == "erase"))"};
    CHECK(decoded("act", R"({"options":{}})", {"--grant", "decoders.act"}).out == "mode erase\n");
    const auto left_out = decoded("act", R"({"options":{}})", rules);
    CHECK(left_out.exit_code == 77);
    CHECK(has(left_out.err, "options.mode is left out"));
    CHECK(decoded("act", R"({"options":{"mode":"keep"}})", rules).out == "mode keep\n");
    const auto optional = decoded("act", R"({"options":{}})",
                                  {"--grant", R"(decoders.act(?options.mode == "keep"))"});
    CHECK(optional.exit_code == 77);
    CHECK(has(optional.err, "erase"));
  }

  TEST_CASE("a place in a dress that a server takes off passes no rule") {
    for (const char* dressed : {R"([\"/etc/hostname\"])", R"({\"a\": {\"b\": \"/etc/hostname\"}})",
                                " /etc/hostname", R"(\"/etc/hostname\")", "\u00a0/etc/hostname",
                                "\u200b</etc/hostname>", R"([\"[\\\"/etc/hostname\\\"]\"])"}) {
      CAPTURE(std::string(dressed));
      const std::string call = fmt::format(R"({{"path":"{}"}})", dressed);
      CHECK(decoded("open", call, {"--grant", "decoders.open"}).out == "opens /etc/hostname\n");
      for (const char* deny : {"decoders.open(path within /etc)", "*.*(* within /etc)",
                               "decoders.open(path == \"/etc/hostname\")"}) {
        CHECK(decoded("open", call, {"--grant", "decoders.open", "--deny", deny}).exit_code == 77);
      }
      const auto narrow = decoded("open", call, {"--grant", "decoders.open(path within ./)"});
      CHECK(narrow.exit_code == 77);
      CHECK_FALSE(has(narrow.err, "fix: --grant"));  // what escaped a rule is no reason for a grant
    }
    const std::vector<std::string> rules{"--grant", "decoders.pick", "--deny",
                                         "decoders.pick(id == 9007199254740992)"};
    CHECK(decoded("pick", R"({"id":9007199254740993})", {"--grant", "decoders.pick"}).out ==
          "picks 9007199254740992\n");
    CHECK(decoded("pick", R"({"id":9007199254740993})", rules).exit_code == 77);
    CHECK(decoded("pick", R"({"id":9007199254740990})", rules).exit_code == 0);
  }

  TEST_CASE("a list in a text passes no rule that names the argument") {
    const auto each = [](const std::string& call, const std::string& grant,
                         std::vector<std::string> more = {}) {
      more.insert(more.begin(), {"--grant", "decoders.each" + grant});
      return decoded("each", call, std::move(more));
    };
    for (const char* between : {",", ", ", ";", "\uff0c", ",\u00a0", ",\u200b"}) {
      CAPTURE(std::string(between));
      const std::string call = fmt::format(R"({{"paths":"a.txt{}/etc/hostname"}})", between);
      CHECK(each(call, "").out == "opens a.txt and /etc/hostname\n");
      const auto narrow = each(call, "(paths within ./)");
      CHECK(narrow.exit_code == 77);
      CHECK(has(narrow.err, "which a server may take for \"/etc/hostname\""));
      CHECK_FALSE(has(narrow.err, "fix: --grant"));
      CHECK(each(call, "(paths within / except {/etc})").exit_code == 77);
      CHECK(each(call, "", {"--deny", "decoders.each(paths within /etc)"}).exit_code == 77);
    }
    CHECK(each(R"({"paths":"report, final.txt"})", "(paths within ./)").exit_code == 0);
    const std::string urls = R"({"urls":"https://a.com/,https://evil.com/"})";
    CHECK(has(each(urls, "").out, "and https://evil.com/"));
    CHECK(each(urls, "(urls host a.com)").exit_code == 77);
    CHECK(each(R"({"urls":"https://a.com/,https://a.com/b"})", "(urls host a.com)").exit_code == 0);
  }

  TEST_CASE("a prototype gives no call a member that its rules did not see") {
    const std::string call = R"({"__proto__":{"path":"secret"}})";
    const auto taken = e2e::run_program(
        {"node", decoders()}, {},
        {.input = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"copy",)"
                  R"("arguments":)" +
                  call + "}}\n"});
    CHECK(has(taken.out, "path secret"));
    const auto run = decoded("copy", call, {"--grant", "decoders.copy"});
    CHECK(run.exit_code != 0);
    CHECK(run.out.empty());
    CHECK(has(run.err, "is a prototype to servers in JavaScript"));
    CHECK(decoded("copy", R"({"path":"ok"})", {"--grant", "decoders.copy"}).out == "path ok\n");
  }

  TEST_CASE("a bad rule is an error with its file and line, a missing file one with its name") {
    const auto good = file("good.policy", kReads);
    const auto bad = file("bad.policy", kReads + "allow filesystem.read_txt_file\n");
    const auto run = policy({"diff", good, bad});
    CHECK(run.exit_code == 78);
    CHECK(has(run.err, bad + ":2:18"));
    CHECK(has(run.err, "did you mean filesystem.read_text_file?"));
    CHECK(policy({"diff", good, "absent.policy"}).exit_code == 66);
    const auto executed =
        Workspace::shared().execute("int agent_main() { return 0; }", "", {"--policy", bad});
    CHECK(executed.exit_code == 78);
    CHECK(has(executed.err, bad + ":2:18"));
  }

  TEST_CASE("diff shows what two rules together may do more often than one limit") {
    const auto one = file("one.policy", "allow filesystem.* calls <= 5\n");
    const auto two = file("two.policy",
                          "allow filesystem.read_text_file calls <= 3\n"
                          "allow filesystem.list_directory calls <= 3\n");
    const auto more = policy({"diff", one, two});
    INFO(more.out << more.err);
    CHECK(more.exit_code == 77);
    CHECK(has(more.out, "+ filesystem.list_directory {"));
    CHECK(has(more.out, "6 calls, instead of 5 calls"));
    CHECK_FALSE(has(more.out, "?"));
  }

  TEST_CASE("check, --grant and --ask say what a rule leaves open, and the closed rule") {
    const std::string open = "filesystem.read_text_file(path starts \"./data/\")";
    const auto checked = policy({"check", file("open.policy", "allow " + open + "\n")});
    CHECK(checked.exit_code == 0);
    INFO(checked.out);
    CHECK(has(checked.out, ":1: note: 'path starts \"./data/\"' says nothing of the rest"));
    CHECK(has(checked.out, "path within ./data"));
    const std::string program = "int agent_main(mcpac::Requires<>) { return 0; }";
    for (const char* option : {"--grant", "--ask"}) {
      const auto run = Workspace::shared().execute(program, "", {option, open});
      INFO(run.err);
      CHECK(run.exit_code == 0);
      CHECK(has(run.err, std::string("warning: ") + option + ": 'path starts"));
      CHECK(has(run.err, "path within ./data"));
    }
    const auto closed = Workspace::shared().execute(
        program, "", {"--grant", "filesystem.read_text_file(path within ./data)"});
    CHECK_FALSE(has(closed.err, "warning"));
  }

  TEST_CASE("every command that takes rules says the same of what they leave open") {
    const std::string open = "filesystem.read_text_file(path starts \"./data/\")";
    const std::string spelled = "filesystem.read_text_file(path starts \"/etc\")";
    const std::string call = R"({"path":"./data/a.txt"})";
    const auto workspace = [](std::vector<std::string> words) {
      return Workspace::shared().mcpac(words);
    };
    const std::vector<std::vector<std::string>> commands = {
        {"tools", "call", "filesystem.read_text_file", "--arguments", call},
        {"policy", "explain", "filesystem.read_text_file", call},
        {"policy", "print"},
        {"prompt", "--tools", "filesystem.read_text_file"},
        {"execute", "-c", "int agent_main(mcpac::Requires<>) { return 0; }"}};
    for (auto words : commands) {
      CAPTURE(words[0]);
      for (const auto& [option, rule, closed] :
           {std::tuple{"--grant", open, "path within ./data"},
            std::tuple{"--ask", open, "path within ./data"},
            std::tuple{"--deny", spelled, "deny filesystem.read_text_file(path within /etc)"}}) {
        auto all = words;
        all.insert(all.end(), {option, rule});
        const auto run = workspace(all);
        INFO(run.err);
        CHECK(has(run.err, fmt::format("warning: {}: '", option)));
        CHECK(has(run.err, closed));
      }
    }
  }

  TEST_CASE("check tells of a deny that compares how a place is spelled, with the line to paste") {
    const std::string deny = "deny filesystem.move_file(source starts \"/etc\", ..)\n";
    const auto name = file("spelled.policy", "allow filesystem.move_file\n" + deny);
    const auto run = policy({"check", name});
    INFO(run.out);
    CHECK(run.exit_code == 0);
    CHECK(has(run.out, name + ":2: note: 'source starts \"/etc\"' compares a text"));
    const std::string closed = "deny filesystem.move_file(source within /etc, ..)";
    CHECK(has(run.out, "\n  fix: " + closed + "\n"));
    const auto json = policy({"check", "--json", name}).json();
    CHECK(json["files"][0]["notes"][0]["kind"] == "spelling");
    CHECK(json["files"][0]["notes"][0]["fix"] == closed);
    // What is said of each of them is so.
    const auto mended =
        file("mended.policy", "allow filesystem.move_file\n" + deny + closed + "\n");
    const std::string call = R"({"source":"/x/../etc","destination":"y"})";
    CHECK(policy({"explain", "filesystem.move_file", call, "--policy", name}).exit_code == 0);
    CHECK(policy({"explain", "filesystem.move_file", call, "--policy", mended}).exit_code == 77);
  }

  TEST_CASE("explain tells of every layer and rule, and exits by the answer") {
    const auto call = std::string(R"({"path":"/etc/passwd"})");
    const auto run =
        policy({"explain", "filesystem.read_text_file", call, "--grant",
                "filesystem.read_text_file(path within ./data)", "--deny", "*.*(* within /root)"});
    INFO(run.out << run.err);
    CHECK(run.exit_code == 77);
    CHECK(has(run.out, "deny: path \"/etc/passwd\" is not within ./data"));
    CHECK(has(run.out, "misses   --grant: allow filesystem.read_text_file(path within ./data)"));
    CHECK(has(run.out, "misses   --deny: deny *.*(* within /root)"));
    CHECK(has(run.out, "fix: --grant 'filesystem.read_text_file(path == \"/etc/passwd\")'"));
    const auto json = policy({"explain", "filesystem.read_text_file", call, "--json", "--grant",
                              "filesystem.read_text_file(path == \"/etc/passwd\")"});
    CHECK(json.exit_code == 0);
    const Json answer = json.json();
    CHECK(answer["effect"] == "allow");
    CHECK(answer["layers"][0]["rules"][0]["standing"] == "matches");
    CHECK(answer["arguments"]["path"] == "/etc/passwd");
    const auto invalid = policy({"explain", "filesystem.read_text_file", R"({"path":1})"});
    CHECK(invalid.exit_code == 65);
    CHECK(has(invalid.err, "MCPAC-E0801"));
    const auto unknown = policy({"explain", "filesystem.read_txt_file", "{}"});
    CHECK(has(unknown.err, "did you mean filesystem.read_text_file"));
  }

  TEST_CASE("explain says how the arguments of a call are written") {
    for (const char* wrong : {"path=x", "{path: \"x\"}", "@x.json"}) {
      const auto run = policy({"explain", "filesystem.read_text_file", wrong});
      INFO(run.err);
      CHECK(run.exit_code == 65);
      CHECK(has(run.err,
                "fix: e.g. mcpac policy explain filesystem.read_text_file '{\"path\":\"…\"}'"));
    }
    const auto missing = policy({"explain", "filesystem.read_text_file"});
    CHECK(missing.exit_code == 65);
    CHECK(has(missing.err, "the object must have the member \"path\""));
    CHECK(has(missing.err, "fix: mcpac tools describe filesystem.read_text_file"));
  }

  TEST_CASE("explain knows a program's declaration as a layer that a call needs as well") {
    const auto answer = [](const std::string& path) {
      return policy({"explain", "filesystem.read_text_file", "{\"path\":\"" + path + "\"}",
                     "--grant", "filesystem.*", "--declared",
                     "filesystem.read_text_file(path within ./data)"});
    };
    const auto inside = answer("data/a.txt");
    INFO(inside.out << inside.err);
    CHECK(inside.exit_code == 0);
    CHECK(has(inside.out, "\nthe program's declaration: allow\n"));
    const auto outside = answer("mcpac.json");
    CHECK(outside.exit_code == 77);
    CHECK(has(outside.out, "deny: path \"mcpac.json\" is not within ./data"));
    CHECK(has(outside.out, "\nthe command line: allow\n"));
    CHECK_FALSE(has(outside.out, "fix: --grant"));  // none widens what a program declares
    CHECK(policy({"explain", "filesystem.read_text_file", "{\"path\":\"a\"}", "--declared",
                  "filesystem.read_txt_file"})
              .exit_code == 78);
  }

  TEST_CASE("check loads a file, runs its tests, and says what a deny over '*' cannot see") {
    const auto good = file("tested.policy",
                           kReads +
                               "deny *.*(* within /root)\n"
                               "match filesystem.read_text_file {\"path\":\"data/a\"}\n"
                               "not_match filesystem.read_text_file {\"path\":\"/etc/passwd\"}\n");
    const auto run = policy({"check", good});
    INFO(run.out << run.err);
    CHECK(run.exit_code == 0);
    CHECK(has(run.out, good + ": ok, 2 rules, 2 self-tests\n"));
    CHECK(has(run.out, good + ":2: note: 'deny *.*(* within /root)' looks at every string"));
    for (const auto& [rule, complaint] : std::vector<std::pair<std::string, std::string>>{
             {"allow filesystem.read_text_file(path == \"a\", path == \"b\")",
              "no call that the schema admits matches"},
             {"allow filesystem.read_text_file(path starts \"a\" ends \"b\" len 1..1)",
              "no call that the schema admits matches"},
             {"allow filesystem.read_text_file(path.name == \"a\")",
              "'path' is a string, which has no members"},
             {"match filesystem.read_text_file {\"path\":\"/etc/passwd\"}", "the self-test"},
             {"match filesystem.read_text_file {\"path\":1}", "the tool takes no such call"}}) {
      CAPTURE(rule);
      const auto bad = policy({"check", good, file("mistake.policy", "\n" + rule + "\n")});
      CHECK(bad.exit_code == 78);
      CHECK(has(bad.out, good + ": ok"));
      CHECK(has(bad.err, complaint));
      CHECK(has(bad.err, "mistake.policy:2:"));
    }
    const Json json = policy({"check", "--json", good}).json();
    CHECK(json["files"][0]["self_tests"] == 2);
    CHECK(json["files"][0]["notes"].size() == 1);
  }

  TEST_CASE("check says of each rule that decides nothing where it stands, why, and what to do") {
    const auto notes = file("notes.policy",
                            "allow filesystem.read_text_file(path within ./data/a)\n"
                            "allow filesystem.read_text_file(path within ./data)\n"
                            "deny filesystem.write_file\n"
                            "allow filesystem.write_file(path within ./data, content any)\n"
                            "allow filesystem.list_directory until 2020-01-01T00:00:00Z\n"
                            "deny filesystem.write_file\n"
                            "allow memory.*\n");
    const auto run = policy({"check", notes});
    INFO(run.out << run.err);
    CHECK(run.exit_code == 0);
    CHECK(has(run.out, notes +
                           ":1: note: 'allow filesystem.read_text_file(path within ./data/a)' "
                           "admits nothing that 'allow filesystem.read_text_file(path within "
                           "./data)' (" +
                           notes + ":2) does not admit\n  why: "));
    CHECK(has(run.out, notes +
                           ":4: note: 'allow filesystem.write_file(path within ./data, content "
                           "any)' never admits a call: 'deny filesystem.write_file' (" +
                           notes + ":3) denies all that it is about\n"));
    CHECK(has(run.out, notes + ":5: note: "));
    CHECK(has(run.out, notes + ":6: note: 'deny filesystem.write_file' stands at " + notes +
                           ":3 already\n"));
    CHECK(has(run.out, notes + ":7: note: 'allow memory.*' covers every tool that memory gains"));
    const Json json = policy({"check", "--json", notes}).json();
    std::string kinds;
    for (const Json& note : json["files"][0]["notes"]) {
      kinds += note["kind"].get<std::string>() + " ";
      CHECK_FALSE(note["why"].get<std::string>().empty());
      CHECK_FALSE(note["fix"].get<std::string>().empty());
    }
    CHECK(kinds == "shadowed dead expired doubled new-tools ");
  }

  TEST_CASE("fmt keeps comments, changes nothing twice, and --check only looks") {
    const std::string untidy =
        "# what triage may do\n\n\npolicy   \"triage\"{allow filesystem.list_directory # all of "
        "it\n"
        "  # reading\n  allow filesystem.read_text_file( path within ./data,# inside\n  ?head any )"
        "\n}\n# the end";
    const std::string tidy =
        "# what triage may do\n\npolicy \"triage\" {\n  allow filesystem.list_directory  # all of "
        "it\n  # reading\n  # inside\n  allow filesystem.read_text_file(path within ./data, ?head "
        "any)\n}\n# the end\n";
    const auto name = file("untidy.policy", untidy);
    const auto look = policy({"fmt", "--check", name});
    CHECK(look.exit_code == 77);
    CHECK(Workspace::shared().read("untidy.policy") == untidy);
    CHECK(policy({"fmt", name}).exit_code == 0);
    CHECK(Workspace::shared().read("untidy.policy") == tidy);
    const auto again = policy({"fmt", "--check", name});
    CHECK(again.exit_code == 0);
    CHECK(again.out.empty());
    CHECK(policy({"fmt", file("broken.policy", "alow x.y\n")}).exit_code == 78);
  }

  TEST_CASE("a profile is taken by its name, from a file or from another that uses it") {
    const auto name = file("profiles.policy",
                           "profile \"reading\" { allow filesystem.read_text_file }\n"
                           "profile \"list\" { allow filesystem.list_directory }\n");
    const auto printed = policy({"print", "--policy", name, "--profile", "reading"});
    CHECK(printed.exit_code == 0);
    CHECK(has(printed.out, "allow filesystem.read_text_file\n"));
    CHECK_FALSE(has(printed.out, "list_directory"));
    const auto wrong = policy({"print", "--policy", name, "--profile", "readin"});
    CHECK(wrong.exit_code == 78);
    CHECK(has(wrong.err, "did you mean 'reading'?"));
  }

  TEST_CASE("what suggest proposes admits the program, and no more than the whole tool does") {
    const auto source = file("suggested.cpp",
                             "#include <mcpac.hpp>\nusing namespace mcp;\nint agent_main("
                             "mcpac::Requires<filesystem::read_text_file> rt) {\n"
                             "  rt.filesystem.read_text_file({.path = \"data/a.txt\"});\n"
                             "  return 0;\n}\n");
    const auto name = (Workspace::shared().folder() / "suggested.policy").string();
    const auto run = policy({"suggest", source, "-o", name});
    INFO(run.out << run.err);
    CHECK(run.exit_code == 0);
    CHECK(has(Workspace::shared().read("suggested.policy"),
              "allow filesystem.read_text_file(path == \"data/a.txt\")\n"));
    CHECK(Workspace::shared()
              .mcpac({"permissions", "validate", "--policy", name, source})
              .exit_code == 0);
    const auto whole = file("whole.policy", "allow filesystem.read_text_file\n");
    CHECK(policy({"diff", whole, name}).exit_code == 0);
  }

  TEST_CASE("what a recorded run was allowed is what suggest proposes of its log") {
    const std::string program =
        "#include <mcpac.hpp>\nusing namespace mcp;\nint agent_main("
        "mcpac::Requires<filesystem::read_text_file, filesystem::list_directory> rt) {\n"
        "  rt.filesystem.read_text_file({.path = \"data/a.txt\"});\n"
        "  (void)rt.filesystem.list_directory.try_call({.path = \"data\"});\n"
        "  return 0;\n}\n";
    const auto run = Workspace::shared().execute(
        program, "filesystem.read_text_file,filesystem.list_directory",
        {"--deny", "filesystem.list_directory(path == \"data\")", "--expect-denials", "--json"});
    INFO(run.out << run.err);
    REQUIRE(run.exit_code == 0);
    const std::string id = run.json().at("run_id");
    const auto name = (Workspace::shared().folder() / "recorded.policy").string();
    for (const std::string& start : {id, id.substr(0, 24)}) {
      const auto suggested = policy({"suggest", start, "-o", name, "--force"});
      INFO(suggested.out << suggested.err);
      REQUIRE(suggested.exit_code == 0);
      const auto rules = Workspace::shared().read("recorded.policy");
      CHECK(has(rules, "# The least that admits " + start + "\n"));
      CHECK(has(rules, "allow filesystem.read_text_file(path == \"data/a.txt\", ..)\n"));
      CHECK_FALSE(has(rules, "list_directory"));  // it was denied
    }
    CHECK(policy({"explain", "filesystem.read_text_file", "{\"path\":\"data/a.txt\"}", "--policy",
                  name})
              .exit_code == 0);
    const auto unknown = policy({"suggest", "00000000-0000"});
    CHECK(unknown.exit_code == 66);
    CHECK(has(unknown.err, "00000000-0000"));
  }

  TEST_CASE("suggest -o leaves a file of another text alone, unless it is told to") {
    const auto source = file("once.cpp", "int agent_main(mcpac::Requires<>) { return 0; }\n");
    const auto name = file("mine.policy", "# mine\n");
    const auto refused = policy({"suggest", source, "-o", name});
    INFO(refused.err);
    CHECK(refused.exit_code == 64);
    CHECK(has(refused.err, "mine.policy is there already"));
    CHECK(has(refused.err, "--force"));
    CHECK(Workspace::shared().read("mine.policy") == "# mine\n");
    CHECK(policy({"suggest", source, "-o", name, "--force"}).exit_code == 0);
    CHECK(has(Workspace::shared().read("mine.policy"), "# The least that admits"));
    CHECK(policy({"suggest", source, "-o", name}).exit_code == 0);  // the same text
  }

  TEST_CASE(
      "of a run without recorded arguments its places are proposed, within what it was granted") {
    const Workspace project(Workspace::real_servers());
    std::filesystem::create_directories(project.folder() / "data");
    REQUIRE(project.mcpac({"generate"}).exit_code == 0);
    const auto run_of = [&](int files, const std::string& grant) {
      std::string calls;
      for (int i = 0; i < files; ++i) {
        project.write(fmt::format("data/{}.txt", i), "x");
        calls += fmt::format("  rt.filesystem.read_text_file({{.path = \"data/{}.txt\"}});\n", i);
      }
      const auto run = project.execute(
          "#include <mcpac.hpp>\nusing namespace mcp;\nint agent_main(mcpac::Requires<filesystem::"
          "read_text_file> rt) {\n" +
              calls + "  return 0;\n}\n",
          grant, {"--json", "--grant", "memory.read_graph"});
      INFO(run.out << run.err);
      REQUIRE(run.exit_code == 0);
      return run.json().at("run_id").get<std::string>();
    };
    const auto many = run_of(6, "filesystem.*");
    const auto suggested = project.mcpac({"policy", "suggest", many});
    INFO(suggested.out << suggested.err);
    CHECK(suggested.exit_code == 0);
    CHECK(has(suggested.out, "allow filesystem.read_text_file(path within ./data, ..)\n"));
    CHECK(has(suggested.out, "# left out: memory: no call of it was recorded\n"));
    // Never more than it was granted.
    const auto narrow = run_of(6, "filesystem.read_text_file(path matches ./data/*.txt)");
    CHECK(has(project.mcpac({"policy", "suggest", narrow}).out,
              "allow filesystem.read_text_file(path within ./data matches ./data/*.txt)\n"));
    // Another server that came since, and one that means other folders now, change nothing of it.
    REQUIRE(project.mcpac({"server", "set", "memory", "--root", "data"}).exit_code == 0);
    CHECK(project.mcpac({"policy", "suggest", many}).out == suggested.out);
    REQUIRE(project.mcpac({"server", "set", "filesystem", "--root", "data"}).exit_code == 0);
    const auto moved = project.mcpac({"policy", "suggest", many});
    INFO(moved.out << moved.err);
    CHECK(moved.exit_code == 0);
    CHECK(has(moved.out, "# left out: filesystem.read_text_file, for mcpac.json says"));
    CHECK_FALSE(has(moved.out, "allow "));
  }

  TEST_CASE("what held a run back is part of what is proposed of it") {
    const Workspace project(Workspace::real_servers());
    std::filesystem::create_directories(project.folder() / "data/zz");
    REQUIRE(project.mcpac({"generate"}).exit_code == 0);
    project.write("data/a.txt", "x");
    project.write("granted.policy",
                  "allow filesystem.*\n"
                  "deny filesystem.read_text_file(path within ./data/zz)\n"
                  "deny filesystem.write_file(path within ./data/zz)\n");
    const auto run = project.execute(
        "#include <mcpac.hpp>\nusing namespace mcp;\nint agent_main(mcpac::Requires<filesystem::"
        "read_text_file, filesystem::write_file> rt) {\n"
        "  rt.filesystem.read_text_file({.path = \"data/a.txt\"});\n"
        "  rt.filesystem.write_file({.path = \"data/b.txt\", .content = \"/etc/x\"});\n"
        "  return 0;\n}\n",
        "filesystem.*",
        {"--json", "--deny", "filesystem.read_text_file(path within ./data/zz)", "--deny",
         "filesystem.write_file(path within ./data/zz)"});
    INFO(run.out << run.err);
    REQUIRE(run.exit_code == 0);
    const auto name = (project.folder() / "suggested.policy").string();
    const auto suggested = project.mcpac(
        {"policy", "suggest", run.json().at("run_id").get<std::string>(), "-o", name});
    INFO(suggested.out << suggested.err);
    REQUIRE(suggested.exit_code == 0);
    const auto rules = project.read("suggested.policy");
    INFO(rules);
    CHECK(has(rules, "allow filesystem.read_text_file(path == \"data/a.txt\", ..)\n"));
    CHECK(has(rules, "deny filesystem.read_text_file(path within ./data/zz)\n"));
    // Which of two listed texts is the place the record does not say.
    CHECK(has(rules, "allow filesystem.write_file\n"));
    CHECK(has(rules, "deny filesystem.write_file(path within ./data/zz)\n"));
    const auto granted = (project.folder() / "granted.policy").string();
    CHECK(project.mcpac({"policy", "diff", granted, name}).exit_code == 0);
    CHECK(project
              .mcpac({"policy", "explain", "filesystem.write_file",
                      R"({"path":"data/zz/x","content":"y"})", "--policy", name})
              .exit_code == 77);
  }

  TEST_CASE("a declaration beside what was granted, and called nowhere, is to be taken out") {
    const auto run = Workspace::shared().execute(
        "#include <mcpac.hpp>\nusing namespace mcp;\n"
        "struct src : mcpac::Narrow<filesystem::read_text_file> { static constexpr char where[] = "
        "\"path within ./src\"; };\n"
        "int agent_main(mcpac::Requires<src>) { return 0; }\n",
        "filesystem.read_text_file(path within ./data)");
    INFO(run.err);
    CHECK(run.exit_code == 77);
    CHECK(has(run.err, "MCPAC-E0704"));
    CHECK(has(run.err, "declared filesystem.read_text_file {\"path\":\""));
    CHECK(has(run.err, "is denied by --grant"));
    CHECK(has(run.err, "filesystem.read_text_file where path within ./src"));
    CHECK(has(run.err, "which calls it nowhere"));
    CHECK_FALSE(has(run.err, "--grant '"));
  }
}
