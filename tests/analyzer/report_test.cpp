#include "analyzer/report.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "analyzer/rules.h"
#include "core/file.h"
#include "core/json_schema.h"
#include "places.h"

namespace {

using namespace mcpac;
using namespace mcpac::analyzer;

Report sample_report() {
  Report report;
  report.file = "agent.cpp";
  report.source_digest = std::string(64, 'a');
  report.verdict = Verdict::kRefused;
  report.entry = Entry::kAgentMain;
  report.declared = {{"filesystem.read_text_file", "path within ./data", "agent.cpp", 2, 16},
                     {"filesystem.write_file", "", "agent.cpp", 2, 16}};
  report.uses = {{"filesystem.read_text_file",
                  "agent.cpp",
                  3,
                  3,
                  "agent_main",
                  {{"path", {true, "x"}}, {"head", {}}}}};
  report.unused = {"filesystem.write_file"};
  report.findings = {
      {"inline-assembly", Severity::kRefuses, "agent.cpp", 2, 3, "assembly", "write it in C++"}};
  return report;
}

// The report with one member changed at a JSON pointer.
Json changed(const char* pointer, const Json& value) {
  Json json = to_json(sample_report());
  json[Json::json_pointer(pointer)] = value;
  return json;
}

}  // namespace

TEST_SUITE("analyzer/report") {
  TEST_CASE("a worker names rules that a source can break, with their severity; a saved one any") {
    Report report;
    report.file = "a.cpp";
    const auto read_with = [&](const std::string& rule, Severity severity, Writer writer) {
      report.findings = {{rule, severity, "a.cpp", 1, 1, "m", ""}};
      return report_from_json(to_json(report), writer).has_value();
    };
    CHECK(read_with("os-call", Severity::kWarns, Writer::kWorker));
    CHECK_FALSE(read_with("os-call", Severity::kNote, Writer::kWorker));
    CHECK_FALSE(read_with("made-up", Severity::kWarns, Writer::kWorker));
    CHECK_FALSE(read_with("object-symbol", Severity::kWarns, Writer::kWorker));
    CHECK(read_with("made-up", Severity::kWarns, Writer::kSaved));
  }

  TEST_CASE("a report comes back from its JSON as it was") {
    const Json json = to_json(sample_report());
    const auto back = report_from_json(json);
    REQUIRE(back.has_value());
    CHECK(to_json(*back) == json);
    CHECK(back->declared[0].text() == "filesystem.read_text_file where path within ./data");
    CHECK(json["declared"][1] == "filesystem.write_file");
    CHECK(json["uses"][0]["arguments"]["path"] == Json({{"value", "x"}}));
    CHECK(json["uses"][0]["arguments"]["head"] == Json({{"runtime", true}}));
  }

  TEST_CASE("the published schema describes the JSON form") {
    const auto text = read_file(mcpac::testing::in_source("docs/analysis-report.schema.json"));
    REQUIRE(text.has_value());
    const auto json = parse_json(*text);
    REQUIRE(json.has_value());
    const auto schema = JsonSchema::compile(*json);
    REQUIRE(schema.has_value());
    CHECK_FALSE((*schema)->validate(to_json(sample_report())).has_value());
    CHECK((*schema)->validate(changed("/verdict", "fine")).has_value());
    CHECK((*schema)->validate(changed("/uses/0/arguments/path", Json::object())).has_value());
    CHECK((*schema)->validate(changed("/extra", 1)).has_value());
  }

  TEST_CASE("a request comes back from its JSON as it was") {
    Request request{"a.cpp", "/in/a.cpp", "/h", {"-std=c++23"}, {{"mcp::a::b", "a.b"}}};
    request.further = {{"b.cpp", "/in/b.cpp"}};
    request.source_dir = "/in";
    const Json json = to_json(request);
    const auto back = request_from_json(json);
    REQUIRE(back.has_value());
    CHECK(to_json(*back) == json);
  }

  TEST_CASE("a report of another form is refused whole") {
    const std::array bad{
        changed("/verdict", "fine"),
        changed("/entry", 1),
        changed("/uses/0/line", -1),
        changed("/uses/0/line", 4294967296),
        changed("/uses/0/line", 1.5),
        changed("/uses/0/open", 0),
        changed("/uses/0/arguments/path", Json{{"runtime", false}}),
        changed("/uses/0/arguments/path", Json{{"value", 1}, {"runtime", true}}),
        changed("/findings/0/severity", "harmless"),
        changed("/findings/0/extra", 1),
        changed("/extra", 1),
        changed("/file", std::string(100'000, 'x')),
        changed("/unused", "filesystem.write_file"),
        changed("/declared/0", "filesystem.other"),
        Json::array(),
        Json(nullptr),
    };
    for (const Json& json : bad) {
      CAPTURE(to_text(json).substr(0, 300));
      CHECK_FALSE(report_from_json(json).has_value());
    }
    const Json whole = to_json(sample_report());
    for (auto member = whole.begin(); member != whole.end(); ++member) {
      const std::string name = member.key();
      CAPTURE(name);
      Json json = whole;
      json.erase(name);
      CHECK_FALSE(report_from_json(json).has_value());
    }
  }

  TEST_CASE("a report that says ok beside a finding that refuses is refused") {
    const auto report = report_from_json(changed("/verdict", "ok"));
    REQUIRE_FALSE(report.has_value());
    CHECK(report.error().where == "/verdict");
  }

  TEST_CASE("people see the source line, a caret and the fix") {
    const std::string text = to_human_text(sample_report(), "int a;\n  asm(\"nop\");\nint b;\n");
    CHECK(text.find("agent.cpp:2:3: refuses: assembly [inline-assembly]\n") != std::string::npos);
    CHECK(text.find("    2 |   asm(\"nop\");\n      |   ^~~\n") != std::string::npos);
    CHECK(text.find("  fix: write it in C++\n") != std::string::npos);
    CHECK(text.find("verdict: refused\n") != std::string::npos);
  }

  TEST_CASE("what a source holds cannot steer the terminal") {
    Report report = sample_report();
    report.findings[0].message = "a\x1b[31mred\rb";
    report.uses[0].arguments["path"] = {true, "\x1b]0;title\x07"};
    const std::string text = to_human_text(report, "\n\x1b[2J asm \xE2\x80\xAE\n");
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find('\r') == std::string::npos);
    CHECK(text.find("\xE2\x80\xAE") == std::string::npos);
  }

  TEST_CASE("every rule has a reason and an example, and is found by its name") {
    for (const Rule& rule : rules()) {
      CAPTURE(rule.name);
      CHECK_FALSE(rule.reason.empty());
      CHECK_FALSE(rule.example.empty());
      CHECK(find_rule(rule.name) == &rule);
    }
    CHECK(find_rule("no-such-rule") == nullptr);
  }
}
