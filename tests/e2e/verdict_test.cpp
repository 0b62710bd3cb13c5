// What grants will make of the calls in a source, before anything is compiled; the formats in which
// that is told; and what a new version of a program can do more.
#include <doctest/doctest.h>

#include <array>

#include "core/file.h"
#include "core/json_schema.h"
#include "e2e/workspace.h"
#include "places.h"

using e2e::has;
using e2e::Workspace;
using mcpac::Json;

namespace {

// Reads one constant path; `body` is the statement that does.
std::string reading(const std::string& body) {
  return "#include <mcpac.hpp>\nusing namespace mcp;\n"
         "int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {\n  " +
         body + "\n  return 0;\n}\n";
}

const std::string kPasswd = reading("rt.filesystem.read_text_file({.path = \"/etc/passwd\"});");
const std::string kData = "filesystem.read_text_file(path within ./data)";

e2e::Outcome permissions(std::vector<std::string> words) {
  words.insert(words.begin(), "permissions");
  return Workspace::shared().mcpac(words);
}

void must_fit_the_schema(const Json& report) {
  const auto text = mcpac::read_file(mcpac::testing::in_source("docs/analysis-report.schema.json"));
  const auto schema = mcpac::JsonSchema::compile(mcpac::parse_json(text.value()).value());
  const auto violation = schema.value()->validate(report);
  const std::string why = violation ? violation->pointer + " " + violation->message : "";
  CHECK_MESSAGE(!violation.has_value(), why);
}

}  // namespace

TEST_SUITE("e2e/verdict") {
  TEST_CASE("a program may be given as text, and is then the only one") {
    const auto run = permissions({"analyze", "--code", kPasswd, "--json"});
    CHECK(run.exit_code == 0);
    CHECK(run.json()["file"] == "<code>");
    CHECK(run.json()["uses"][0]["arguments"]["path"]["value"] == "/etc/passwd");
    CHECK(permissions({"analyze", "-c", kPasswd, "agent.cpp"}).exit_code == 64);
  }

  TEST_CASE("execute refuses a call that will be denied, with line, argument and rule") {
    const auto run = Workspace::shared().execute(kPasswd, kData);
    INFO(run.err);
    CHECK(run.exit_code == 77);
    CHECK(has(run.err, "MCPAC-E0710"));
    CHECK(has(run.err, "<code>:4:"));
    CHECK(has(run.err,
              "will be denied: path \"/etc/passwd\" is not within ./data "
              "[allow filesystem.read_text_file(path within ./data)]"));
    CHECK(has(run.err, "rt.filesystem.read_text_file({.path = \"/etc/passwd\"});\n"));
    // Once, although the error stands on the finding.
    CHECK(run.err.find("is not within") == run.err.rfind("is not within"));
    CHECK(has(run.err, "<code> makes a call that will be denied"));
    const auto json = Workspace::shared().execute(kPasswd, kData, {"--json"}).json();
    CHECK(json["error"]["id"] == "MCPAC-E0710");
    CHECK_FALSE(json.contains("run_id"));
    for (const auto& stage : json["stages"]) CHECK(stage["name"] != "compile");
    CHECK(json["report"]["uses"][0]["verdict"]["answer"] == "denied");
    must_fit_the_schema(json["report"]);
    CHECK(Workspace::shared().execute(kPasswd, kData, {"--dry-run"}).exit_code == 77);
  }

  TEST_CASE("a program that handles its denial runs with --expect-denials, and is denied still") {
    const std::string handled = reading(
        "if (!rt.filesystem.read_text_file.try_call({.path = \"/etc/passwd\"})) "
        "mcpac::log(\"denied\");");
    CHECK(Workspace::shared().execute(handled, kData).exit_code == 77);
    const auto run = Workspace::shared().execute(handled, kData, {"--expect-denials"});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(has(run.err, "denied"));
  }

  TEST_CASE("a call that may be allowed runs, and is decided when it is made") {
    const std::string inside = reading("rt.filesystem.read_text_file({.path = \"data/a.txt\"});");
    CHECK(Workspace::shared().execute(inside, kData).exit_code == 0);
    const std::string later = reading(
        "std::string p = \"/etc/\"; p += \"passwd\"; rt.filesystem.read_text_file({.path = p});");
    const auto run = Workspace::shared().execute(later, kData);
    INFO(run.err);
    CHECK_FALSE(has(run.err, "MCPAC-E0710"));
    CHECK(run.exit_code == 77);  // Denied, at run time
  }

  TEST_CASE("without permission checks the denial is a warning, and the call is made") {
    const std::string handled = reading(
        "if (!rt.filesystem.read_text_file.try_call({.path = \"/etc/passwd\"})) "
        "mcpac::log(\"failed\");");
    if (!Workspace::shared().allow_off_switch()) return;
    const auto run = Workspace::shared().execute(handled, kData, {"--no-permission-check"});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(has(run.err, "warning: <code>:4:"));
    CHECK(has(run.err, "would be denied, and is called: path \"/etc/passwd\" is not within"));
  }

  TEST_CASE("what the program declares narrowed counts, whatever is granted") {
    const std::string narrowed =
        "#include <mcpac.hpp>\nusing namespace mcp;\n"
        "struct data : mcpac::Narrow<filesystem::read_text_file> {\n"
        "  static constexpr char where[] = \"path within ./data\";\n};\n"
        "int agent_main(mcpac::Requires<data> rt) {\n"
        "  rt.filesystem.read_text_file({.path = \"/etc/passwd\"});\n  return 0;\n}\n";
    const auto run = Workspace::shared().execute(narrowed, "filesystem.read_text_file");
    INFO(run.err);
    CHECK(run.exit_code == 77);
    CHECK(has(run.err, "MCPAC-E0710"));
  }

  TEST_CASE("a call that the program's own Narrow denies is told without any grant") {
    const std::string narrowed =
        "#include <mcpac.hpp>\nusing namespace mcp;\n"
        "struct few : mcpac::Narrow<filesystem::read_text_file> {\n"
        "  static constexpr char where[] = \"path within ./data\";\n};\n"
        "int agent_main(mcpac::Requires<few> rt) {\n"
        "  rt.filesystem.read_text_file({.path = \"./data/a.txt\"});\n"
        "  rt.filesystem.read_text_file({.path = \"/etc/passwd\"});\n  return 0;\n}\n";
    const auto run = permissions({"analyze", "-c", narrowed});
    INFO(run.out);
    CHECK(run.exit_code == 77);
    CHECK(has(run.out, "<code>:8:"));
    CHECK_FALSE(has(run.out, "<code>:7:32: refuses"));
    CHECK(has(run.out,
              "fix: change the call, or what the program declares; where the program means"));
    CHECK(has(run.out, "its own declaration denies 1 of its uses"));
    const auto json = permissions({"analyze", "--json", "-c", narrowed}).json();
    CHECK(json["verdict"] == "denied");
    CHECK_FALSE(json["uses"][0].contains("verdict"));
    CHECK(json["uses"][1]["verdict"]["answer"] == "denied");
    must_fit_the_schema(json);
    CHECK(permissions({"validate", "-c", narrowed}).exit_code == 77);
    CHECK(permissions({"analyze", "-c", narrowed, "--expect-denials"}).exit_code == 0);
  }

  TEST_CASE("names of options that the lock does not have are told all at once") {
    const std::string reads = reading("rt.filesystem.read_text_file({.path = \"./data/a.txt\"});");
    const auto wrong =
        permissions({"analyze", "-c", reads, "--grant", "filesystem.read_textfile,nothing.x",
                     "--deny", "filesystem.no_such_thing_at_all"});
    INFO(wrong.err);
    CHECK(wrong.exit_code == 78);
    CHECK(has(wrong.err,
              "the lock knows none of filesystem.read_textfile, nothing.x, "
              "filesystem.no_such_thing_at_all"));
    CHECK(has(wrong.err, "for filesystem.read_textfile: filesystem.read_text_file"));
  }

  TEST_CASE("analyze and validate tell the verdict of each use where grants are given") {
    auto& workspace = Workspace::shared();
    workspace.write("three.cpp",
                    reading("const auto& f = rt.filesystem.read_text_file;\n"
                            "  const auto next = f({.path = \"data/a.txt\", .head = 1}).text();\n"
                            "  f({.path = next});\n"
                            "  rt.filesystem.read_text_file({.path = \"/etc/passwd\"});"));
    const auto whole =
        permissions({"analyze", "--grant", "filesystem.read_text_file", "three.cpp"});
    CHECK(whole.exit_code == 0);
    CHECK(has(whole.out, "    covered\n"));
    const auto part = permissions({"analyze", "--grant", kData, "three.cpp"});
    CHECK(part.exit_code == 77);
    CHECK(has(part.out, "    conditional: depends on"));
    CHECK(has(part.out, "    denied: path \"/etc/passwd\" is not within ./data ["));
    const auto json = permissions({"analyze", "--json", "--grant", kData, "three.cpp"});
    CHECK(json.exit_code == 77);
    must_fit_the_schema(json.json());
    CHECK(permissions({"validate", "--grant", kData, "three.cpp"}).exit_code == 77);
    CHECK(permissions({"validate", "--grant", kData, "--expect-denials", "three.cpp"}).exit_code ==
          0);
    CHECK(permissions({"analyze", "three.cpp"}).exit_code == 0);
    CHECK_FALSE(has(permissions({"analyze", "three.cpp"}).out, "covered"));
  }

  TEST_CASE("a refused program is exit 77, one that does not compile 65, in every format") {
    auto& workspace = Workspace::shared();
    workspace.write("refused.cpp", reading("asm(\"nop\");"));
    workspace.write("broken.cpp", reading("int x = ;"));
    for (const char* format : {"human", "json", "sarif", "github"}) {
      CAPTURE(format);
      for (const char* question : {"analyze", "validate"}) {
        CHECK(permissions({question, "--format", format, "refused.cpp"}).exit_code == 77);
        CHECK(permissions({question, "--format", format, "broken.cpp"}).exit_code == 65);
      }
    }
    must_fit_the_schema(permissions({"analyze", "--json", "refused.cpp"}).json());
    must_fit_the_schema(permissions({"analyze", "--format=json", "broken.cpp"}).json());
  }

  TEST_CASE(
      "code scanning and reviews get the same problems, and two formats at once are refused") {
    auto& workspace = Workspace::shared();
    workspace.write("passwd.cpp", kPasswd);
    const auto sarif = permissions({"analyze", "--sarif", "--grant", kData, "passwd.cpp"}).json();
    CHECK(sarif["version"] == "2.1.0");
    const Json result = sarif["runs"][0]["results"][0];
    CHECK(result["ruleId"] == "denied-use");
    CHECK(result["level"] == "error");
    CHECK(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "passwd.cpp");
    CHECK(result["locations"][0]["physicalLocation"]["region"]["startLine"] == 4);
    const auto github =
        permissions({"validate", "--format=github", "--grant", kData, "passwd.cpp"});
    CHECK(github.out.starts_with("::error file=passwd.cpp,line=4,col="));
    CHECK(has(github.out, "title=mcpac%3A denied-use::filesystem.read_text_file will be denied: "));
    CHECK(permissions({"analyze", "--sarif", "--json", "passwd.cpp"}).exit_code == 64);
    CHECK(permissions({"analyze", "--format=yaml", "passwd.cpp"}).exit_code == 64);
  }

  TEST_CASE("a suggestion that is pasted compiles, and declares what it says") {
    auto& workspace = Workspace::shared();
    const std::vector<std::array<std::string, 2>> programs = {
        {"filesystem::read_text_file",
         R"(rt.filesystem.read_text_file({.path = "data/a.txt", .head = 2});
            rt.filesystem.read_text_file({.path = "data/b \"x\" \\.txt"});)"},
        {"everything::get_sum", "rt.everything.get_sum({.a = 1, .b = 2.5});"},
        {"filesystem::edit_file",
         R"(rt.filesystem.edit_file({.path = "a", .edits = {{.oldText = "a", .newText = "b"}},
                                     .dryRun = true});)"}};
    for (const auto& [tag, body] : programs) {
      CAPTURE(tag);
      const auto program = [&](const std::string& before, const std::string& permission) {
        return "#include <mcpac.hpp>\nusing namespace mcp;\n" + before +
               "\nint agent_main(mcpac::Requires<" + permission + "> rt) {\n" + body +
               "\nreturn 0;\n}\n";
      };
      workspace.write("whole.cpp", program("", tag));
      const Json whole = permissions({"analyze", "--json", "whole.cpp"}).json();
      REQUIRE(whole["suggestions"].size() == 1);
      const std::string code = whole["suggestions"][0]["code"];
      const std::string name = code.substr(7, code.find(' ', 7) - 7);
      workspace.write("pasted.cpp", program(code, name));
      const auto pasted = permissions({"analyze", "--json", "pasted.cpp"});
      INFO(pasted.out);
      CHECK(pasted.exit_code == 0);
      CHECK(pasted.json()["findings"].empty());
      CHECK(pasted.json()["suggestions"].empty());
      CHECK(pasted.json()["declared_at"][0]["where"] == whole["suggestions"][0]["where"]);
      // Nothing that the program does is outside of it.
      const std::string granted = whole["uses"][0]["permission"];
      for (const Json& use :
           permissions({"analyze", "--json", "--grant", granted, "pasted.cpp"}).json()["uses"])
        CHECK(use["verdict"]["answer"] != "denied");
    }
  }

  TEST_CASE("one rule is shown by its name, suggestions are notices, and diff has formats") {
    const Json rules = permissions({"rules", "--json", "os-call"}).json();
    REQUIRE(rules.size() == 1);
    CHECK(rules[0]["rule"] == "os-call");
    const auto misspelt = permissions({"rules", "os-cal"});
    CHECK(misspelt.exit_code == 64);
    CHECK(has(misspelt.err, "did you mean 'os-call'?"));
    auto& workspace = Workspace::shared();
    workspace.write("notice.cpp", kPasswd);
    const auto github = permissions({"analyze", "--format=github", "notice.cpp"});
    CHECK(github.exit_code == 0);
    CHECK(github.out.starts_with("::notice file=notice.cpp,line=3,col="));
    CHECK(has(github.out, "%0Afix: struct read_text_file_here"));
    CHECK(permissions({"validate", "--format=github", "notice.cpp"}).out.empty());
    CHECK(permissions({"diff", "--format=json", "notice.cpp", "notice.cpp"}).json()["more"] ==
          false);
    CHECK(permissions({"diff", "--json", "--format=human", "notice.cpp", "notice.cpp"}).exit_code ==
          64);
  }

  TEST_CASE("a report whose uses grants deny is denied, in its verdict and its findings") {
    auto& workspace = Workspace::shared();
    workspace.write("denied.cpp", kPasswd);
    const auto denied = permissions({"analyze", "--json", "--grant",
                                     kData + ",memory.*,filesystem.list_directory", "denied.cpp"});
    CHECK(denied.exit_code == 77);
    const Json report = denied.json();
    must_fit_the_schema(report);
    CHECK(report["verdict"] == "denied");
    REQUIRE(report["findings"].size() == 1);
    CHECK(report["findings"][0]["rule"] == "denied-use");
    const std::string remedy = report["uses"][0]["verdict"]["would_grant"];
    CHECK(remedy == "filesystem.read_text_file(path == \"/etc/passwd\")");
    CHECK(report["uses"][0]["verdict"]["rule"] == "allow " + kData);
    CHECK(permissions({"analyze", "--grant", remedy, "denied.cpp"}).exit_code == 0);
    const auto nothing =
        permissions({"validate", "--format=json", "--grant", "memory.*", "denied.cpp"});
    CHECK(nothing.exit_code == 77);
    CHECK(nothing.json()["verdict"] == "denied");
    CHECK(nothing.json()["findings"][0]["rule"] == "not-granted");
  }

  TEST_CASE("a denial of the run is told with its rule and remedy, to the user alone") {
    const std::string later = reading(
        "std::string p = \"/etc/\"; p += \"passwd\";\n"
        "  try { rt.filesystem.read_text_file({.path = p}); }\n"
        "  catch (const mcpac::Denied& e) { mcpac::log(e.data().dump()); }");
    const auto run = Workspace::shared().execute(later, kData + ",memory.*");
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(has(run.err,
              "denied: filesystem.read_text_file: path \"/etc/passwd\" is not within ./data "
              "[allow filesystem.read_text_file(path within ./data)]\n"
              "  fix: --grant 'filesystem.read_text_file(path == \"/etc/passwd\")'"));
    const auto json = Workspace::shared().execute(later, kData + ",memory.*", {"--json"}).json();
    REQUIRE(json["denials"].size() == 1);
    CHECK(json["denials"][0]["calls"] == 1);
    const std::string heard = run.err.substr(0, run.err.find("\ndenied: "));
    CHECK(has(heard, "is not within ./data"));
    CHECK_FALSE(has(heard, "allow filesystem"));
    CHECK_FALSE(has(heard, "--grant"));
  }

  TEST_CASE("permissions diff says what a new version can do that the old one could not") {
    auto& workspace = Workspace::shared();
    workspace.write("old.cpp", reading("rt.filesystem.read_text_file({.path = \"data/a.txt\"});"));
    workspace.write("new.cpp",
                    "#include <mcpac.hpp>\nusing namespace mcp;\n"
                    "int agent_main(mcpac::Requires<filesystem::read_text_file, "
                    "filesystem::list_directory> rt) {\n"
                    "  rt.filesystem.read_text_file({.path = \"data/b.txt\"});\n"
                    "  rt.filesystem.list_directory({.path = \".\"});\n  return 0;\n}\n");
    const auto same = permissions({"diff", "old.cpp", "old.cpp"});
    CHECK(same.exit_code == 0);
    CHECK(same.out == "old.cpp can do nothing that old.cpp could not\n");
    const auto more = permissions({"diff", "old.cpp", "new.cpp"});
    CHECK(more.exit_code == 77);
    CHECK(has(more.out, "+ added     filesystem.list_directory\n"));
    CHECK(
        has(more.out, "+ uses      filesystem.read_text_file(path = \"data/b.txt\")  new.cpp:4:"));
    // A saved report stands for its source.
    workspace.write(
        "old.json",
        permissions({"analyze", "--json", "--grant", "filesystem.read_text_file", "old.cpp"}).out);
    const auto saved = permissions({"diff", "--json", "old.json", "new.cpp"});
    CHECK(saved.exit_code == 77);
    CHECK(saved.json()["more"] == true);
    CHECK(saved.json()["declared"][0]["change"] == "added");
    CHECK(saved.json()["uses"].size() == 2);
    CHECK(permissions({"diff", "new.cpp", "old.json"}).exit_code == 77);  // data/a.txt is new there
    workspace.write("less.json", R"({"file": "x"})");
    CHECK(permissions({"diff", "less.json", "old.cpp"}).exit_code == 65);
    workspace.write("broken.cpp", reading("int x = ;"));
    CHECK(permissions({"diff", "old.cpp", "broken.cpp"}).exit_code == 65);
  }
}
