// What `mcpac permissions rules` shows is true: every example meets its rule.
#include "analyzer/rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "analyzer/support_worker.h"

namespace {

using namespace mcpac;

constexpr const char* kEntry =
    "\nint agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n"
    "  rt.filesystem.read_text_file({.path = \"a\"});\n"
    "  return 0;\n"
    "}\n";

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Two examples are only shown in part: nobody wants to read them.
std::string written_out(const analyzer::Rule& rule) {
  if (rule.name == "too-deep") return "int sum = 1" + repeated(" + 1", 3000) + ";";
  if (rule.name == "too-many-findings") return repeated("asm(\"nop\");\n", 501);
  return std::string(rule.example);
}

std::string program_of(const analyzer::Rule& rule) {
  const std::string example = written_out(rule);
  const bool has_entry = example.find("main(") != std::string::npos || rule.name == "no-entry";
  return "#include <mcpac.hpp>\n" + example + (has_entry ? "\n" : kEntry);
}

}  // namespace

TEST_SUITE("analyzer/rules") {
  TEST_CASE("the example of every rule of the source meets the rule, with its severity") {
    for (const analyzer::Rule& rule : analyzer::rules()) {
      CAPTURE(std::string(rule.name));
      if (rule.found_in != analyzer::FoundIn::kSource) continue;  // the host finds it
      const auto report = test::analyze_text(program_of(rule));
      const std::string failure = report ? "" : report.error().to_text();
      REQUIRE_MESSAGE(report.has_value(), failure);
      const auto found = std::ranges::find(report->findings, rule.name, &analyzer::Finding::rule);
      std::string rules;
      for (const std::string& name : test::rules_of(*report)) rules += name + " ";
      CHECK_MESSAGE(found != report->findings.end(), "it gave: ", rules);
      if (found == report->findings.end()) continue;
      CHECK(found->severity == rule.severity);
      CHECK((report->verdict == analyzer::Verdict::kOk) ==
            (rule.severity != analyzer::Severity::kRefuses));
    }
  }

  TEST_CASE("a rule says why, and is found by its name alone") {
    for (const analyzer::Rule& rule : analyzer::rules()) {
      CHECK(rule.reason.size() > 10);
      CHECK(analyzer::find_rule(rule.name) == &rule);
    }
    CHECK(analyzer::find_rule("os") == nullptr);
    CHECK(analyzer::find_rule("") == nullptr);
  }
}
