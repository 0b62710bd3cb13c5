#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "analyzer/support_worker.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/json.h"
#include "places.h"

namespace {

using namespace mcpac;
using namespace mcpac::test;
using analyzer::Verdict;

constexpr const char* kHonest =
    "#include <mcpac.hpp>\n"
    "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n"
    "  rt.filesystem.read_text_file({.path = \"a\"});\n"
    "  return 0;\n"
    "}\n";

bool has_rule(const analyzer::Report& report, const std::string& rule) {
  const auto rules = rules_of(report);
  return std::ranges::find(rules, rule) != rules.end();
}

std::string error_of(const std::string& input) {
  const Answer answer = ask_worker(input);
  CHECK(answer.exit_code != 0);
  const auto json = parse_json(answer.text);
  REQUIRE(json.has_value());
  REQUIRE(find_member(*json, "error") != nullptr);
  return string_member((*json)["error"], "id");
}

std::string error_of_source(const std::string& source) {
  auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-source-");
  REQUIRE(folder.has_value());
  const auto file = folder->path() / "main.cpp";
  REQUIRE(write_file_atomic(file, source).has_value());
  return error_of(to_text(to_json(request_for(file.string(), Pch::kWith))));
}

}  // namespace

TEST_SUITE("analyzer/worker") {
  TEST_CASE("extracts permissions from Requires") {
    const auto report = analyze_text(kHonest);
    REQUIRE(report.has_value());
    CHECK(report->verdict == Verdict::kOk);
    CHECK(report->entry == analyzer::Entry::kAgentMain);
    REQUIRE(report->declared.size() == 1);
    CHECK(report->declared[0].text() == "filesystem.read_text_file");
    REQUIRE(report->uses.size() == 1);
    CHECK(report->uses[0].function == "agent_main");
    CHECK(report->uses[0].line == 3);
    CHECK(report->uses[0].column == 3);
    CHECK(report->source_digest == sha256_hex(kHonest));
  }

  TEST_CASE("says the same without a precompiled header") {
    const std::string file =
        mcpac::testing::in_source("tests/analyzer/cases/use_in_class_template.cpp");
    const auto with = analyze_file(file, Pch::kWith);
    const auto without = analyze_file(file, Pch::kWithout);
    REQUIRE(with.has_value());
    REQUIRE(without.has_value());
    CHECK(to_json(*with) == to_json(*without));
  }

  TEST_CASE("rejects forged local types") {
    const auto report = analyze_text(
        "namespace mcp::filesystem { struct read_text_file {}; }\n"
        "namespace mcpac { template <class... P> struct Requires {}; }\n"
        "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) { return 0; }\n");
    REQUIRE(report.has_value());
    CHECK(report->verdict == Verdict::kRefused);
    CHECK(has_rule(*report, "forged-type"));
    CHECK(has_rule(*report, "reopened-namespace"));
    CHECK(report->declared.empty());
  }

  TEST_CASE("rejects foreign import sources") {
    const auto shadowed = analyze_text(std::string("#include \"mcpac.hpp\"\n") + kHonest,
                                       {{"mcpac.hpp", "#pragma once\n"}});
    REQUIRE(shadowed.has_value());
    CHECK(shadowed->verdict == Verdict::kRefused);
    CHECK(has_rule(*shadowed, "foreign-header"));
    const auto outside = analyze_text(std::string("#include \"../outside.hpp\"\n") + kHonest,
                                      {{"../outside.hpp", "#pragma once\nint outside();\n"}});
    REQUIRE(outside.has_value());
    CHECK(outside->verdict == Verdict::kRefused);
    CHECK(has_rule(*outside, "foreign-header"));
  }

  TEST_CASE("a forgery in a local header is found where it stands") {
    const auto report =
        analyze_text(std::string("#include \"own/part.hpp\"\n") + kHonest,
                     {{"own/part.hpp", "#pragma once\nnamespace mcp { struct evil {}; }\n"}});
    REQUIRE(report.has_value());
    CHECK(report->verdict == Verdict::kRefused);
    REQUIRE_FALSE(report->findings.empty());
    CHECK(report->findings[0].rule == "reopened-namespace");
    CHECK(report->findings[0].file.ends_with("own/part.hpp"));
    CHECK(report->findings[0].line == 2);
  }

  TEST_CASE("an undeclared tool is said in the words of the program") {
    const auto report = analyze_text(
        "#include <mcpac.hpp>\n"
        "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n"
        "  rt.filesystem.write_file({.path = \"a\", .content = \"b\"});\n"
        "}\n");
    REQUIRE(report.has_value());
    CHECK(report->verdict == Verdict::kCompileError);
    REQUIRE_FALSE(report->findings.empty());
    CHECK(report->findings[0].line == 3);
    CHECK(report->findings[0].message.find("`filesystem.write_file` is not in the Requires") == 0);
    CHECK(report->findings[0].fix.find("add mcp::filesystem::write_file") == 0);
    CHECK(report->declared.empty());
  }

  TEST_CASE("a tool that is called without a Requires is answered with one") {
    for (const char* call : {"mcp::filesystem::read_text_file({.path = \"a\"}).text();",
                             "mcp::filesystem::read_text_file tool; tool({.path = \"a\"});"}) {
      const auto report = analyze_text(std::string("#include <mcpac.hpp>\nint agent_main() {\n  ") +
                                       call + "\n}\n");
      REQUIRE(report.has_value());
      CHECK(report->verdict == Verdict::kCompileError);
      REQUIRE_FALSE(report->findings.empty());
      const auto& finding = report->findings.back();
      CHECK(finding.message.find("`filesystem.read_text_file` is called through the parameter") ==
            0);
      CHECK(finding.fix ==
            "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt), and "
            "rt.filesystem.read_text_file(…) in it");
    }
  }

  TEST_CASE("a call that does not fit comes with one that would") {
    const auto report = analyze_text(
        "#include <mcpac.hpp>\n"
        "int agent_main(mcpac::Requires<mcp::filesystem::write_file> rt) {\n"
        "  rt.filesystem.write_file({.pth = \"a\"});\n"
        "}\n");
    REQUIRE(report.has_value());
    REQUIRE(report->findings.size() == 2);
    CHECK(report->findings[0].message.find("required argument `content`") == 0);
    CHECK(report->findings[0].fix == "({.path = \"a\", .content = …})");
    CHECK(report->findings[1].line == 3);
    CHECK(report->findings[1].column == 30);
  }

  TEST_CASE("an allowed warning stays in the report, with its reason") {
    const std::string source = std::string(kHonest) +
                               "#include <cstdlib>\n"
                               "// mcpac-allow: os-call shows that there is no home\n"
                               "const char* above() { return std::getenv(\"HOME\"); }\n"
                               "const char* below() { return std::getenv(\"HOME\"); }\n";
    const auto report = analyze_text(source);
    REQUIRE(report.has_value());
    CHECK(report->verdict == Verdict::kOk);
    REQUIRE(report->findings.size() == 2);
    CHECK(report->findings[0].line == 8);
    CHECK(report->findings[0].allowed == "shows that there is no home");
    CHECK(report->findings[1].allowed.empty());
    const std::string text = findings_text(*report, source);
    CHECK(text.find("main.cpp:8:35: allowed: ") == 0);
    CHECK(text.find("because: shows that there is no home") != std::string::npos);
    CHECK(text.find("main.cpp:9:35: warns: ") != std::string::npos);
  }

  TEST_CASE("what refuses cannot be allowed by the program that it refuses") {
    const auto report = analyze_text(std::string(kHonest) +
                                     "asm(\"nop\");  // mcpac-allow: inline-assembly it is fast\n");
    REQUIRE(report.has_value());
    CHECK(report->verdict == Verdict::kRefused);
    REQUIRE(report->findings.size() == 2);
    for (const auto& finding : report->findings) CHECK(finding.allowed.empty());
    CHECK(has_rule(*report, "allow-form"));
  }

  TEST_CASE("what is no C++ text is an error and never a report") {
    CHECK(error_of_source("") == "MCPAC-E0501");
    CHECK(error_of_source(" \n\t\n") == "MCPAC-E0501");
    CHECK(error_of_source(std::string("int a;\0int b;", 13)) == "MCPAC-E0502");
    CHECK(error_of_source("// \xff\xfe\n") == "MCPAC-E0502");
  }

  TEST_CASE("a source that is not there is an error") {
    auto request = request_for("/nonexistent/main.cpp", Pch::kWith);
    CHECK(error_of(to_text(to_json(request))) == "MCPAC-E0500");
  }

  TEST_CASE("a precompiled header that cannot be read is an error and never a report") {
    auto request = request_for(
        mcpac::testing::in_source("tests/analyzer/cases/declared_by_value.cpp"), Pch::kWithout);
    request.arguments.insert(request.arguments.begin(), {"-include-pch", "/nonexistent.pch"});
    const Answer answer = ask_worker(to_text(to_json(request)));
    const auto json = parse_json(answer.text);
    REQUIRE(json.has_value());
    CHECK(string_member(*json, "verdict") != "ok");
  }

  TEST_CASE("a malformed request is an error") {
    CHECK(error_of("") == "MCPAC-E0103");
    CHECK(error_of("{") == "MCPAC-E0103");
    CHECK(error_of("{}") == "MCPAC-E0504");
    CHECK(error_of("[1,2]") == "MCPAC-E0504");
  }

  TEST_CASE("deep nesting and endless templates end in a verdict that is not ok") {
    std::string nested = "int agent_main() { return ";
    for (int i = 0; i < 3000; ++i) nested += "(";
    const auto brackets = analyze_text(nested + "1;}");
    if (brackets) CHECK(brackets->verdict != Verdict::kOk);
    std::string sum = std::string(kHonest) + "int sum() { return 0";
    for (int i = 0; i < 3000; ++i) sum += "+1";
    const auto chain = analyze_text(sum + "; }\n");
    if (chain) CHECK(chain->verdict != Verdict::kOk);
    const auto recursion =
        analyze_text(std::string(kHonest) +
                     "template <int N> struct T { static constexpr int v = T<N + 1>::v; };\n"
                     "int v = T<0>::v;\n");
    REQUIRE(recursion.has_value());
    CHECK(recursion->verdict == Verdict::kCompileError);
  }

  TEST_CASE("thousands of nested namespaces or classes are refused before names grow") {
    for (const char* open : {"namespace a { ", "struct a { "}) {
      std::string source = kHonest;
      const bool space = std::string(open).starts_with("namespace");
      for (int i = 0; i < 100; ++i) source += open;
      for (int i = 0; i < 100; ++i) source += space ? "}" : "};";
      const auto report = analyze_text(source + "\n");
      REQUIRE(report.has_value());
      CHECK(report->verdict != Verdict::kOk);
      if (space) CHECK(has_rule(*report, "too-deep"));
    }
    std::string names = "namespace a0";
    for (int i = 1; i < 3000; ++i) names += "::a" + std::to_string(i);
    const auto report = analyze_text(std::string(kHonest) + names + " { int f(); }\n");
    REQUIRE(report.has_value());
    CHECK(report->verdict == Verdict::kRefused);
    CHECK(has_rule(*report, "too-deep"));
  }

  TEST_CASE("a source that takes too long is refused with the part that took the time") {
    std::string source = "namespace a0";
    for (int i = 1; i < 3000; ++i) source += fmt::format("::a{}", i);
    source += " {\n";
    for (int i = 0; i < 4000; ++i) source += fmt::format("int f{}() {{ return {}; }}\n", i, i);
    source += "}\n";
    auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-source-");
    REQUIRE(folder.has_value());
    const auto file = folder->path() / "main.cpp";
    REQUIRE(write_file_atomic(file, source + kHonest).has_value());
    const Answer answer = ask_worker(to_text(to_json(request_for(file.string(), Pch::kWith))));
    CHECK(answer.exit_code != 0);
    CHECK(answer.text.find("parsing it took more than 12 s") != std::string::npos);
  }

  TEST_CASE("there is never more than a person could read") {
    std::string source = kHonest;
    for (int i = 0; i < 2000; ++i) source += "asm(\"nop\");\n";
    const auto report = analyze_text(source);
    REQUIRE(report.has_value());
    CHECK(report->verdict == Verdict::kRefused);
    CHECK(report->findings.size() <= 501);
    CHECK(has_rule(*report, "too-many-findings"));
  }
}
