#include "run/check/suggest_narrow.h"

#include <doctest/doctest.h>

#include <set>

#include "core/clock.h"
#include "run/check/check.h"

using namespace mcpac;

namespace {

const std::map<std::string, std::string> kTags{{"fs.read", "mcp::fs::read"},
                                               {"fs.write", "mcp::fs::write"}};

analyzer::Report declaring_only(const std::vector<std::string>& permissions) {
  analyzer::Report report;
  for (const auto& permission : permissions)
    report.declared.push_back({permission, "", "agent.cpp", 1, 1});
  return report;
}

// A member that is null in `arguments` is known at run time only.
void add_use(analyzer::Report& report, const std::string& permission, const Json& arguments) {
  analyzer::Use use;
  use.permission = permission;
  for (const auto& [name, value] : arguments.items())
    use.arguments[name] = value.is_null() ? analyzer::Argument{} : analyzer::Argument{true, value};
  report.uses.push_back(use);
}

std::vector<std::string> conditions(const analyzer::Report& report) {
  std::vector<std::string> found;
  for (const auto& suggestion : run::suggestions(report, kTags)) found.push_back(suggestion.where);
  return found;
}

bool allows(const std::string& grant, const std::string& tool, const Json& arguments) {
  policy::ToolSchemas tools;
  const Json schema = {{"type", "object"},
                       {"properties",
                        {{"path", {{"type", "string"}}},
                         {"head", {{"type", "number"}}},
                         {"content", {{"type", "string"}}}}},
                       {"additionalProperties", false}};
  for (const auto& [permission, tag] : kTags)
    tools.emplace(Permission::parse(permission).value(), schema);
  const SystemClock clock;
  policy::LayerText layer;
  layer.name = "the command line";
  layer.grants = {grant};
  auto authority = policy::Authority::load(
      {layer}, {.tools = &tools, .resolver = nullptr, .clock = &clock, .bases = {}});
  REQUIRE(authority.has_value());
  return authority->decide(Permission::parse(tool).value(), arguments).effect ==
         policy::Effect::kAllow;
}

}  // namespace

TEST_SUITE("execute/suggest_narrow") {
  TEST_CASE("the structs of a suggestion have names of their own that C++ leaves to programs") {
    const std::map<std::string, std::string> tags{{"a.get", "mcp::a::get"},
                                                  {"b.get", "mcp::b::get"},
                                                  {"b.class", "mcp::b::class_"},
                                                  {"b.3d", "mcp::b::_3d"}};
    auto report = declaring_only({"a.get", "b.3d", "b.class", "b.get"});
    for (const char* tool : {"a.get", "b.3d", "b.class", "b.get"})
      add_use(report, tool, {{"path", "x"}});
    std::set<std::string> names;
    for (const auto& suggestion : run::suggestions(report, tags)) {
      const std::string head = suggestion.code.substr(0, suggestion.code.find(" :"));
      names.insert(head.substr(head.find(' ') + 1));
    }
    CHECK(names == std::set<std::string>{"get_here", "b_get_here", "class_here", "tool_3d_here"});
  }

  TEST_CASE("a call that will be denied is no example of what the program needs") {
    auto report = declaring_only({"fs.read"});
    add_use(report, "fs.read", {{"path", "/etc/passwd"}});
    CHECK(run::suggestions(report, kTags).size() == 1);
    report.uses[0].foreseen.emplace();
    report.uses[0].foreseen->answer = analyzer::Foreseen::Answer::kDenied;
    CHECK(run::suggestions(report, kTags).empty());
  }

  TEST_CASE("what is declared and never used can go") {
    auto report = declaring_only({"fs.read", "fs.write"});
    add_use(report, "fs.read", {{"path", nullptr}});
    const auto found = run::suggestions(report, kTags);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == run::Suggestion::Kind::kUnused);
    CHECK(found[0].permission == "fs.write");
  }

  TEST_CASE("constants of all uses become a condition, with the code to paste") {
    auto report = declaring_only({"fs.read"});
    add_use(report, "fs.read", {{"path", "./data/a.txt"}});
    const auto found = run::suggestions(report, kTags);
    REQUIRE(found.size() == 1);
    CHECK(found[0].where == R"(path == "./data/a.txt")");
    CHECK(found[0].code ==
          "struct read_here : mcpac::Narrow<mcp::fs::read> {\n"
          "  static constexpr char where[] = R\"(path == \"./data/a.txt\")\";\n};");
  }

  TEST_CASE("the suggested rule admits the uses and nothing beside them") {
    auto report = declaring_only({"fs.read"});
    add_use(report, "fs.read", {{"path", "a \"b\"\\c\n)\"d"}, {"head", 3}});
    add_use(report, "fs.read", {{"path", "e"}});
    const auto found = run::suggestions(report, kTags);
    REQUIRE(found.size() == 1);
    const auto rule = run::grant_text(Permission::parse("fs.read").value(), found[0].where);
    REQUIRE(rule.has_value());
    CHECK(allows(*rule, "fs.read", {{"path", "a \"b\"\\c\n)\"d"}, {"head", 3}}));
    CHECK(allows(*rule, "fs.read", {{"path", "e"}}));
    CHECK_FALSE(allows(*rule, "fs.read", {{"path", "f"}}));
    CHECK_FALSE(allows(*rule, "fs.read", {{"path", "e"}, {"head", 4}}));
    CHECK_FALSE(allows(*rule, "fs.read", {{"path", "e"}, {"content", "x"}}));
    CHECK_FALSE(allows(*rule, "fs.write", {{"path", "e"}}));
  }

  TEST_CASE("an argument that only the run knows stays free beside one that is constant") {
    auto report = declaring_only({"fs.write"});
    add_use(report, "fs.write", {{"path", "out.txt"}, {"content", nullptr}});
    CHECK(conditions(report) == std::vector<std::string>{R"(content any, path == "out.txt")"});
  }

  TEST_CASE("nothing is suggested where no argument is constant, or a use could not be read") {
    auto report = declaring_only({"fs.read"});
    add_use(report, "fs.read", {{"path", nullptr}});
    CHECK(conditions(report).empty());
    report.uses.clear();
    add_use(report, "fs.read", {{"path", "a"}});
    CHECK(conditions(report).size() == 1);
    report.uses.back().open = true;
    CHECK(conditions(report).empty());
  }

  TEST_CASE(
      "nothing is suggested for what is narrowed already, for lists, and for refused programs") {
    auto report = declaring_only({"fs.read"});
    add_use(report, "fs.read", {{"path", Json::array({"a"})}});
    CHECK(conditions(report).empty());
    report.uses.clear();
    add_use(report, "fs.read", {{"path", "a"}});
    report.verdict = analyzer::Verdict::kRefused;
    CHECK(conditions(report).empty());
    report.verdict = analyzer::Verdict::kOk;
    report.declared[0].where = "path within ./data";
    CHECK(conditions(report).empty());
  }

  TEST_CASE("more values than people read are no condition") {
    auto report = declaring_only({"fs.read"});
    for (int i = 0; i < 9; ++i) add_use(report, "fs.read", {{"path", std::to_string(i)}});
    CHECK(conditions(report).empty());
  }
}
