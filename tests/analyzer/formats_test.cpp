// The forms of a report beside JSON: SARIF, GitHub annotations, text with colours; and saved
// reports.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/github_annotations.h"
#include "analyzer/rules.h"
#include "analyzer/sarif.h"
#include "analyzer/saved_report.h"
#include "core/file.h"
#include "core/json_schema.h"
#include "places.h"

namespace {

using namespace mcpac;
using namespace mcpac::analyzer;

const std::string kSource =
    "int a;\n  asm(\"nop\");\n  asm(\"nop\");\n/* \xC3\xA4 */ std::ofstream(\"x\");\n";

Report sample() {
  Report report;
  report.file = "src/agent one.cpp";
  report.source_digest = std::string(64, 'a');
  report.verdict = Verdict::kRefused;
  report.entry = Entry::kAgentMain;
  report.declared = {{"fs.read", "path within ./data", report.file, 2, 16}};
  report.uses = {{"fs.read", report.file, 1, 5, "agent_main", {{"path", {true, "/etc/passwd"}}}},
                 {"fs.read", report.file, 1, 6, "agent_main", {{"path", {}}}, true}};
  report.uses[0].foreseen = Foreseen{Foreseen::Answer::kDenied,
                                     "path \"/etc/passwd\" is not within ./data",
                                     "allow fs.read(path within ./data)",
                                     "the command line",
                                     "--grant",
                                     {},
                                     false};
  report.uses[1].foreseen = Foreseen{Foreseen::Answer::kConditional,
                                     "depends on the value of path",
                                     "",
                                     "run",
                                     "",
                                     {"path"},
                                     false};
  report.findings = {
      {"inline-assembly", Severity::kRefuses, report.file, 2, 3, "100% assembly\nof two lines",
       "C++"},
      {"inline-assembly", Severity::kRefuses, report.file, 3, 3, "100% assembly\nof two lines", ""},
      {"os-call", Severity::kWarns, report.file, 4, 10, "a file", ""},
      {"no-capability", Severity::kNote, "/other/b.hpp", 0, 0, "nothing", ""}};
  return report;
}

Json sarif_of(const Report& report, std::string_view source, std::string_view version) {
  return to_sarif(report, SourceTexts(report, source), version);
}

const Json& result(const Json& sarif, std::size_t i) {
  return sarif["runs"][0]["results"][i];
}

}  // namespace

TEST_SUITE("analyzer/formats") {
  TEST_CASE(
      "what does not compile is an error, as the compiler says; mcpac refuses nothing there") {
    Report report;
    report.findings = {{"compile-error", Severity::kRefuses, "a.cpp", 1, 9, "unknown type", ""}};
    CHECK(findings_text(report, SourceTexts(), Colours::kNo) ==
          "a.cpp:1:9: error: unknown type [compile-error]\n");
  }

  TEST_CASE("a finding shows the line of its own file") {
    Report report;
    report.file = "a.cpp";
    report.findings = {{"inline-assembly", Severity::kRefuses, "a.cpp", 1, 1, "one", ""},
                       {"inline-assembly", Severity::kRefuses, "b.cpp", 1, 8, "two", ""},
                       {"inline-assembly", Severity::kRefuses, "c.hpp", 1, 8, "three", ""}};
    const std::map<std::string, std::string> texts{{"a.cpp", "asm(\"first\");\n"},
                                                   {"b.cpp", "/* \xC3\xA4 */asm(\"second\");\n"}};
    const SourceTexts sources(texts);
    const std::string text = findings_text(report, sources, Colours::kNo);
    CHECK(text.contains("    1 | asm(\"first\");\n      | ^~~\n"));
    CHECK(text.contains("asm(\"second\");"));
    CHECK(text.contains("c.hpp:1:8: refuses: three [inline-assembly]\n"));
    CHECK(text.ends_with("three [inline-assembly]\n"));
    const Json sarif = to_sarif(report, sources, "1");
    const auto column = [&sarif](std::size_t i) {
      return result(sarif, i)["locations"][0]["physicalLocation"]["region"].value("startColumn", 0);
    };
    CHECK(column(0) == 1);
    CHECK(column(1) == 7);
    CHECK(column(2) == 0);
  }

  TEST_CASE("a use with a verdict fits the published schema, and a worker may not write one") {
    const auto text = read_file(mcpac::testing::in_source("docs/analysis-report.schema.json"));
    REQUIRE(text.has_value());
    const auto schema = JsonSchema::compile(parse_json(*text).value());
    REQUIRE(schema.has_value());
    const Json json = to_json(sample());
    CHECK_FALSE((*schema)->validate(json).has_value());
    CHECK(json["uses"][0]["verdict"]["answer"] == "denied");
    CHECK(json["uses"][1]["verdict"]["depends_on"] == Json{"path"});
    Json wrong = json;
    wrong["uses"][0]["verdict"]["answer"] = "maybe";
    CHECK((*schema)->validate(wrong).has_value());
    CHECK_FALSE(report_from_json(json).has_value());
    const auto saved = saved_report_from_json(json);
    REQUIRE(saved.has_value());
    CHECK(saved->uses.size() == 2);
    CHECK(saved->uses[1].open);
    CHECK_FALSE(saved->uses[0].foreseen.has_value());
  }

  TEST_CASE(
      "a report that grants deny says so in its verdict and its findings, and a copy forgets") {
    Report report = sample();
    report.findings.clear();
    report.verdict = Verdict::kOk;
    report.uses[0].foreseen->other_rules = 2;
    report.uses[0].foreseen->would_grant = "fs.read(path == \"/etc/passwd\")";
    CHECK(overall(report) == Verdict::kDenied);
    Json json = to_json(report);
    CHECK(json["verdict"] == "denied");
    REQUIRE(json["findings"].size() == 1);
    CHECK(json["findings"][0]["rule"] == "denied-use");
    CHECK(json["findings"][0]["fix"] ==
          "change the call, or --grant 'fs.read(path == \"/etc/passwd\")'; where the program means "
          "to be denied, --expect-denials");
    CHECK(json["findings"][0]["message"].get<std::string>().ends_with(
        "[allow fs.read(path within ./data)], nor do 2 other rules admit it"));
    CHECK(to_human_text(report, kSource)
              .ends_with("verdict: denied: the source is ok, the grants deny 1 of its uses\n"));
    CHECK(sarif_of(report, kSource, "1")["runs"][0]["properties"]["verdict"] == "denied");
    const auto saved = saved_report_from_json(json);
    REQUIRE(saved.has_value());
    CHECK(saved->verdict == Verdict::kOk);
    CHECK(saved->findings.empty());
    // The worker knows no grants.
    for (Json& use : json["uses"]) use.erase("verdict");
    CHECK_FALSE(report_from_json(json).has_value());
    report.uses[0].foreseen->is_expected = true;
    CHECK(overall(report) == Verdict::kOk);
  }

  TEST_CASE("what is declared and not granted is a problem where it is declared") {
    Report report = sample();
    report.findings.clear();
    report.verdict = Verdict::kOk;
    report.uses[0].foreseen->rule = "";
    report.not_granted = {report.declared[0].text()};
    report.grant_fix = "--grant fs.read";
    const auto all = problems(report);
    REQUIRE(all.size() == 1);  // that its uses fail need not be said again
    CHECK(all[0].rule == "not-granted");
    CHECK(all[0].line == 2);
    CHECK(all[0].message == "fs.read where path within ./data is declared, and not granted");
    CHECK(all[0].fix == "--grant fs.read");
    CHECK(to_json(report)["verdict"] == "denied");
  }

  TEST_CASE("a saved report of a binary is read as one, and nonsense is not") {
    Report report;
    report.file = "app";
    report.entry = Entry::kBinary;
    report.declared = {{"fs.read", "", "app", 0, 0}};
    const auto saved = saved_report_from_json(to_json(report));
    REQUIRE(saved.has_value());
    CHECK(saved->entry == Entry::kBinary);
    CHECK_FALSE(saved_report_from_json(Json::array()).has_value());
    CHECK_FALSE(saved_report_from_json(Json{{"uses", 1}}).has_value());
  }

  TEST_CASE("a use that will be denied is a problem, unless that is meant") {
    Report report = sample();
    const auto all = problems(report);
    REQUIRE(all.size() == 5);
    CHECK(all[4].rule == "denied-use");
    CHECK(all[4].severity == Severity::kRefuses);
    CHECK(all[4].message ==
          "fs.read will be denied: path \"/etc/passwd\" is not within ./data "
          "[allow fs.read(path within ./data)]");
    report.uses[0].foreseen->is_expected = true;
    CHECK(problems(report).size() == 4);
  }

  TEST_CASE("SARIF has every member that 2.1.0 requires, and rules with help") {
    const Json sarif = sarif_of(sample(), kSource, "1.2.3");
    CHECK(sarif["version"] == "2.1.0");
    REQUIRE(sarif["runs"].size() == 1);
    const Json& driver = sarif["runs"][0]["tool"]["driver"];
    CHECK(driver["name"] == "mcpac");
    CHECK(driver["semanticVersion"] == "1.2.3");
    REQUIRE(driver["rules"].size() == rules().size());
    std::set<std::string> ids;
    for (const Json& rule : driver["rules"]) {
      CAPTURE(to_text(rule));
      ids.insert(rule["id"].get<std::string>());
      CHECK_FALSE(rule["shortDescription"]["text"].get<std::string>().empty());
      CHECK_FALSE(rule["help"]["text"].get<std::string>().empty());
      const std::string level = rule["defaultConfiguration"]["level"];
      CHECK((level == "error" || level == "warning" || level == "note"));
    }
    CHECK(ids.size() == rules().size());
    const Json& results = sarif["runs"][0]["results"];
    REQUIRE(results.size() == 5);
    for (const Json& one : results) {
      CAPTURE(to_text(one));
      CHECK_FALSE(one["message"]["text"].get<std::string>().empty());
      CHECK(driver["rules"][one["ruleIndex"].get<std::size_t>()]["id"] == one["ruleId"]);
      CHECK(one["locations"][0]["physicalLocation"]["artifactLocation"].contains("uri"));
      CHECK(one["partialFingerprints"].size() == 1);
    }
  }

  TEST_CASE("SARIF fits the schema that OASIS publishes, and the schema would see what is wrong") {
    const auto text =
        read_file(mcpac::testing::in_source("tests/analyzer/data/sarif-schema-2.1.0.json"));
    REQUIRE(text.has_value());
    Json published = parse_json(*text).value();
    // It names draft 4, and holds nothing that draft 7 reads in another way.
    published["$schema"] = "http://json-schema.org/draft-07/schema#";
    published.erase("id");
    const auto schema = JsonSchema::compile(published);
    REQUIRE_MESSAGE(schema.has_value(), (schema ? "" : schema.error().to_text()));
    Json sarif = sarif_of(sample(), kSource, "1.2.3");
    const auto violation = (*schema)->validate(sarif);
    CHECK_MESSAGE(!violation.has_value(), (violation ? violation->message : ""));
    sarif["runs"][0]["results"][0]["level"] = "fatal";
    CHECK((*schema)->validate(sarif).has_value());
  }

  TEST_CASE("SARIF places: a URI, levels by severity, columns in characters, none without a line") {
    const Json sarif = sarif_of(sample(), kSource, "1.2.3");
    const auto place = [&sarif](std::size_t i) -> const Json& {
      return result(sarif, i)["locations"][0]["physicalLocation"];
    };
    CHECK(place(0)["artifactLocation"] ==
          Json{{"uri", "src/agent%20one.cpp"}, {"uriBaseId", "%SRCROOT%"}});
    CHECK(place(0)["region"] == Json{{"startLine", 2}, {"startColumn", 3}});
    CHECK(place(2)["region"] == Json{{"startLine", 4}, {"startColumn", 9}});
    CHECK(place(3)["artifactLocation"] == Json{{"uri", "file:///other/b.hpp"}});
    CHECK_FALSE(place(3).contains("region"));
    CHECK(result(sarif, 0)["level"] == "error");
    CHECK(result(sarif, 2)["level"] == "warning");
    CHECK(result(sarif, 3)["level"] == "note");
  }

  TEST_CASE("a SARIF result is known again when lines are put in above it") {
    const Json before = sarif_of(sample(), kSource, "1");
    Report moved = sample();
    for (auto& finding : moved.findings) finding.line += finding.line > 0 ? 2 : 0;
    for (auto& use : moved.uses) use.line += 2;
    const Json after = sarif_of(moved, "\n\n" + kSource, "1");
    std::set<Json> prints;
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(result(before, i)["partialFingerprints"] == result(after, i)["partialFingerprints"]);
      prints.insert(result(before, i)["partialFingerprints"]);
    }
    CHECK(prints.size() == 5);
  }

  TEST_CASE("GitHub annotations are one command a line, with everything else escaped") {
    const std::string text = to_github_annotations(sample());
    CHECK(
        text.starts_with("::error file=src/agent one.cpp,line=2,col=3,title=mcpac%3A "
                         "inline-assembly::100%25 assembly%0Aof two lines%0Afix: C++\n"));
    CHECK(text.find("\n::warning file=src/agent one.cpp,line=4,col=10,") != std::string::npos);
    CHECK(text.find("\n::notice file=/other/b.hpp,title=") != std::string::npos);
    Report hostile = sample();
    hostile.findings[0].file = "a,line=9::x\n::set-output.cpp";
    hostile.findings[0].message = "m\n::add-mask::x\r::error::y\x1b[31m";
    const std::string escaped = to_github_annotations(hostile);
    std::size_t lines = 0;
    for (std::size_t at = 0; at < escaped.size(); at = escaped.find('\n', at) + 1, ++lines)
      CHECK((escaped.compare(at, 8, "::error ") == 0 ||
             escaped.compare(at, 10, "::warning ") == 0 ||
             escaped.compare(at, 9, "::notice ") == 0));
    CHECK(lines == 5);
    CHECK(escaped.find("file=a%2Cline=9%3A%3Ax") != std::string::npos);
    CHECK(escaped.find_first_of("\r\x1b") == std::string::npos);
  }

  TEST_CASE("what the source allows with a reason is suppressed, and shown with it") {
    Report report = sample();
    report.findings[2].allowed = "it is\na test";
    const Json sarif = sarif_of(report, kSource, "1");
    CHECK(result(sarif, 2)["suppressions"] ==
          Json::array({Json{{"kind", "inSource"}, {"justification", "it is\na test"}}}));
    CHECK_FALSE(result(sarif, 1).contains("suppressions"));
    const std::string github = to_github_annotations(report);
    CHECK(github.find("\n::warning ") == std::string::npos);
    CHECK(github.find("a file%0Aallowed: it is%0Aa test\n") != std::string::npos);
  }

  TEST_CASE("people see the whole name marked, and the verdict of each use") {
    const std::string text = to_human_text(sample(), kSource);
    CHECK(text.find("    2 |   asm(\"nop\");\n      |   ^~~\n") != std::string::npos);
    CHECK(text.find("    denied: path \"/etc/passwd\" is not within ./data "
                    "[allow fs.read(path within ./data)]\n") != std::string::npos);
    CHECK(text.find("    conditional: depends on the value of path\n") != std::string::npos);
    CHECK(text.find("path = (run time), …") != std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
  }

  TEST_CASE("colours are ours: what a source holds adds no escape") {
    Report report = sample();
    const auto escapes = [](const std::string& text) { return std::ranges::count(text, '\x1b'); };
    const auto clean = escapes(to_human_text(report, kSource, Colours::kYes));
    CHECK(clean > 0);
    report.findings[0].message = "a\x1b[31mred";
    report.findings[0].fix = "\x1b[2J";
    report.uses[0].foreseen->reason = "\x1b]0;title\x07";
    CHECK(escapes(to_human_text(report, "\n\x1b[2J asm\n", Colours::kYes)) <= clean);
    CHECK(to_human_text(report, "\n\x1b[2J asm\n").find('\x1b') == std::string::npos);
  }
}
