#include "run/check/report_diff.h"

#include <doctest/doctest.h>

using namespace mcpac;

namespace {

using ChangeKind = run::DeclaredChange::Kind;

analyzer::Report declaring(const std::vector<std::pair<std::string, std::string>>& items) {
  analyzer::Report report;
  report.entry = analyzer::Entry::kAgentMain;
  for (const auto& [permission, where] : items)
    report.declared.push_back({permission, where, "a.cpp", 1, 1});
  return report;
}

analyzer::Report using_(std::map<std::string, analyzer::Argument> arguments) {
  auto report = declaring({{"fs.read", ""}});
  report.uses.push_back({"fs.read", "a.cpp", 3, 3, "agent_main", std::move(arguments)});
  return report;
}

const analyzer::Argument kRuntime{};
analyzer::Argument constant(const char* text) {
  return {true, text};
}

ChangeKind only_change(const analyzer::Report& before, const analyzer::Report& after) {
  const auto diff = run::diff_reports(before, after);
  REQUIRE(diff.declared.size() == 1);
  return diff.declared.front().kind;
}

bool is_more(const analyzer::Report& before, const analyzer::Report& after) {
  return run::diff_reports(before, after).is_more();
}

}  // namespace

TEST_SUITE("execute/report_diff") {
  TEST_CASE("a program can do nothing more than itself, or than with a permission less") {
    const auto both = declaring({{"fs.read", ""}, {"fs.write", ""}});
    CHECK_FALSE(is_more(both, both));
    CHECK(run::diff_reports(both, both).declared.empty());
    const auto one = declaring({{"fs.read", ""}});
    CHECK(only_change(both, one) == ChangeKind::kRemoved);
    CHECK_FALSE(is_more(both, one));
    CHECK(only_change(one, both) == ChangeKind::kAdded);
    CHECK(is_more(one, both));
  }

  TEST_CASE("a condition narrows the whole tool, and its loss widens") {
    const auto whole = declaring({{"fs.read", ""}});
    const auto part = declaring({{"fs.read", "path within ./data"}});
    const auto spelled = declaring({{"fs.read", "path   within ./data"}});
    const auto other = declaring({{"fs.read", "path within ./src"}});
    const auto two =
        declaring({{"fs.read", "path within ./data"}, {"fs.read", "path within ./src"}});
    CHECK(only_change(whole, part) == ChangeKind::kNarrowed);
    CHECK_FALSE(is_more(whole, part));
    CHECK(only_change(part, whole) == ChangeKind::kWidened);
    CHECK(is_more(part, whole));
    CHECK_FALSE(is_more(part, spelled));
    CHECK(only_change(part, other) == ChangeKind::kChanged);
    CHECK(is_more(part, other));
    CHECK(only_change(part, two) == ChangeKind::kWidened);
    CHECK(only_change(two, part) == ChangeKind::kNarrowed);
    // A condition that is no rule is a condition still, and none that is known.
    const auto broken = declaring({{"fs.read", "path within ./data ]"}});
    CHECK(is_more(part, broken));
    CHECK(only_change(broken, part) == ChangeKind::kChanged);
    CHECK_FALSE(is_more(whole, declaring({{"fs.read", ""}, {"fs.read", "path within ./data"}})));
  }

  TEST_CASE("a use is new where no use of the old version could make the same call") {
    const auto a = using_({{"path", constant("a")}});
    CHECK_FALSE(is_more(a, a));
    CHECK(is_more(a, using_({{"path", constant("b")}})));
    CHECK(is_more(a, using_({{"path", kRuntime}})));
    CHECK(is_more(a, using_({{"path", constant("a")}, {"head", constant("1")}})));
    CHECK(is_more(a, using_({})));
    const auto any = using_({{"path", kRuntime}});
    CHECK_FALSE(is_more(any, a));
    CHECK(is_more(any, using_({{"path", kRuntime}, {"head", kRuntime}})));
    auto open = any;
    open.uses.front().open = true;
    CHECK(is_more(any, open));
    CHECK_FALSE(is_more(open, using_({{"path", constant("b")}, {"head", kRuntime}})));
  }

  TEST_CASE("where a call stands does not matter, nor how often") {
    const auto a = using_({{"path", constant("a")}});
    auto moved = a;
    moved.file = moved.uses.front().file = "b.cpp";
    moved.uses.front().line = 40;
    moved.uses.push_back(moved.uses.front());
    CHECK_FALSE(is_more(a, moved));
  }

  TEST_CASE("a finding more counts, a note more is only shown") {
    const auto before = declaring({{"fs.read", ""}});
    auto after = before;
    after.findings.push_back({"dependent-call", analyzer::Severity::kNote, "a.cpp", 1, 1, "m", ""});
    CHECK(run::diff_reports(before, after).findings.size() == 1);
    CHECK_FALSE(is_more(before, after));
    after.findings.push_back({"os-call", analyzer::Severity::kWarns, "a.cpp", 1, 1, "m", ""});
    CHECK(is_more(before, after));
    auto twice = after;
    twice.findings.push_back(twice.findings.back());
    CHECK(is_more(after, twice));
    CHECK_FALSE(is_more(twice, after));
  }

  TEST_CASE("a refused program is never nothing more") {
    auto refused = declaring({});
    refused.verdict = analyzer::Verdict::kRefused;
    CHECK(is_more(refused, refused));
  }

  TEST_CASE("of a binary only the declaration is known") {
    const auto source = using_({{"path", constant("a")}});
    auto binary = declaring({{"fs.read", ""}});
    binary.entry = analyzer::Entry::kBinary;
    CHECK(run::diff_reports(source, binary).are_uses_hidden);
    CHECK(is_more(source, binary));
    CHECK_FALSE(is_more(binary, binary));
    CHECK_FALSE(is_more(binary, source));
  }
}
