#include <doctest/doctest.h>

#include <algorithm>

#include "core/json_schema.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

Permission tool(std::string_view text) {
  return Permission::parse(text).value();
}

LayerText layer(std::string name, std::vector<std::string> grants,
                std::vector<std::string> denies = {}) {
  return {.name = std::move(name),
          .grants = std::move(grants),
          .asks = {},
          .denies = std::move(denies),
          .files = {}};
}

}  // namespace

TEST_CASE("nothing is granted by default") {
  const World world;
  auto authority = world.grant({}).value();
  const Decision decision = authority.decide(tool("kv.get"), {{"key", "a"}});
  CHECK(decision.effect == Effect::kDeny);
  CHECK(decision.reason == "nothing in the command line allows kv.get");
  CHECK(decision.would_grant == "kv.get(key == \"a\")");
}

TEST_CASE("comma lists and repeated grants add up") {
  const World world;
  auto authority = world.grant({"kv.get,kv.clear", "math.add"}).value();
  CHECK(authority.decide(tool("kv.get"), {{"key", "a"}}).allowed());
  CHECK(authority.decide(tool("kv.clear"), Json::object()).allowed());
  CHECK(authority.decide(tool("math.add"), {{"a", 1}, {"b", 2}}).allowed());
  CHECK_FALSE(authority.decide(tool("kv.set"), {{"key", "a"}, {"value", 1}}).allowed());
}

TEST_CASE(
    "a wildcard that tests an argument covers the tools that have it, whatever a call brings") {
  const World world;
  world.put("data/a.txt", "file");
  const Json decoy{{"path", "data/a.txt"}, {"source", "secret"}, {"destination", "stolen"}};
  for (const char* rule : {"filesystem.*(path within ./data, ..)", "*.*(path within ./data, ..)"}) {
    CAPTURE(rule);
    auto authority = world.grant({rule}).value();
    CHECK(authority.decide(tool("filesystem.read_text_file"), {{"path", "data/a.txt"}}).allowed());
    CHECK_FALSE(authority.decide(tool("filesystem.move_file"), decoy).allowed());
  }
  // An argument that may be absent decides nothing about who is covered.
  auto optional = world.grant({"filesystem.*(?head 1..10, ..)"}).value();
  CHECK(optional.decide(tool("filesystem.move_file"), decoy).allowed());
  // Whoever denies and asks hears of what a tool does not have, too.
  auto denied =
      world
          .load({layer("the command line", {"filesystem.*"}, {"filesystem.*(path within ./data)"})})
          .value();
  CHECK_FALSE(denied.decide(tool("filesystem.move_file"), decoy).allowed());
  const auto nowhere = world.grant({"filesystem.*(path within ./data, source any, ..)"});
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().id == ErrorId::kRuleIneffective);
}

TEST_CASE("the declared layer binds a narrowed permission even where the whole tool is granted") {
  const World world;
  world.put("data/a.txt", "file");
  auto authority = world
                       .load({layer("the command line", {"filesystem.read_text_file"}),
                              layer("the program's declaration",
                                    {"filesystem.read_text_file(path within ./data)"})})
                       .value();
  CHECK(authority.decide(tool("filesystem.read_text_file"), {{"path", "data/a.txt"}}).allowed());
  const Decision refused =
      authority.decide(tool("filesystem.read_text_file"), {{"path", "/etc/passwd"}});
  CHECK(refused.effect == Effect::kDeny);
  CHECK(refused.layer == "the program's declaration");
  CHECK(refused.rule == "allow filesystem.read_text_file(path within ./data)");
  CHECK(refused.reason == "path \"/etc/passwd\" is not within ./data");
  CHECK(refused.would_grant.empty());  // no --grant widens what the program declared
}

TEST_CASE("coverage says covered, conditional or missing before anything runs") {
  const World world;
  auto authority =
      world
          .load({layer("the command line",
                       {"kv.get", "filesystem.read_text_file(path within ./data)",
                        "math.add calls <= 3", "github.*"},
                       {"github.merge_pull_request", "github.create_issue(title starts \"x\")"})})
          .value();
  CHECK(authority.coverage(tool("kv.get"), "") == Coverage::kCovered);
  CHECK(authority.coverage(tool("kv.get"), "key == \"a\"") == Coverage::kCovered);
  CHECK(authority.coverage(tool("kv.set"), "") == Coverage::kMissing);
  CHECK(authority.coverage(tool("filesystem.read_text_file"), "") == Coverage::kConditional);
  CHECK(authority.coverage(tool("filesystem.read_text_file"), "path  within ./data") ==
        Coverage::kCovered);
  CHECK(authority.coverage(tool("filesystem.read_text_file"), "path wthin ./data") ==
        Coverage::kMissing);
  CHECK(authority.coverage(tool("math.add"), "") == Coverage::kConditional);
  CHECK(authority.coverage(tool("github.merge_pull_request"), "") == Coverage::kMissing);
  CHECK(authority.coverage(tool("github.create_issue"), "") == Coverage::kConditional);
  CHECK(authority.coverage(tool("github.push_files"), "") == Coverage::kCovered);
  CHECK(authority.coverage(tool("mcpac.spawn"), "") == Coverage::kMissing);
}

TEST_CASE("named tools are those the run grants by name, without wildcards and ceilings") {
  const World world;
  const auto authority =
      world
          .load({layer("the command line", {"kv.get", "github.*", "math.add(a any, b any)"}),
                 layer("mcpac.policy", {"*.*", "kv.set"})})
          .value();
  CHECK(authority.named_tools() == std::vector{tool("kv.get"), tool("math.add")});
}

TEST_CASE("a reservation that is given back can be used again, and only once") {
  const World world;
  auto authority = world.grant({"kv.get calls <= 1"}).value();
  const Json arguments{{"key", "a"}};
  const Decision first = authority.decide(tool("kv.get"), arguments);
  CHECK(first.allowed());
  authority.give_back(first.reservation);
  authority.give_back(first.reservation);
  CHECK(authority.decide(tool("kv.get"), arguments).allowed());
  const Decision refused = authority.decide(tool("kv.get"), arguments);
  CHECK(refused.effect == Effect::kDeny);
  CHECK(refused.reason == "its one call per run is used up");
}

TEST_CASE("a rule whose `until` is over is known before the run, and no later run mends it") {
  World world;
  auto authority =
      world.grant({"kv.get until 2020-01-01T00:00:00Z", "kv.set until 2030-01-01T00:00:00Z"})
          .value();
  const auto ended = authority.ended_rules();
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].text == "allow kv.get until 2020-01-01T00:00:00Z");
  const Decision over = authority.decide(tool("kv.get"), {{"key", "a"}});
  CHECK(over.used_up);
  CHECK(over.ended);
  CHECK(over.reason == "it ended at 2020-01-01T00:00:00Z");
}

TEST_CASE("no grant is suggested in the place of a limit that is used up") {
  const World world;
  auto authority = world.grant({"kv.get calls <= 1"}).value();
  CHECK(authority.decide(tool("kv.get"), {{"key", "a"}}).allowed());
  const Decision used_up = authority.decide(tool("kv.get"), {{"key", "a"}});
  CHECK(used_up.used_up);
  CHECK(used_up.would_grant.empty());
  CHECK(used_up.rule == "allow kv.get calls <= 1");
  CHECK_FALSE(used_up.ended);
  CHECK(authority.ended_rules().empty());
  const Decision missed = authority.decide(tool("kv.set"), {{"key", "a"}, {"value", "b"}});
  CHECK_FALSE(missed.used_up);
  CHECK_FALSE(missed.would_grant.empty());
}

TEST_CASE("a refusal names the target that came nearest, not the whole list that it stands in") {
  const World world;
  auto authority =
      world
          .grant({"kv.get(key == \"a\"), kv.set, filesystem.read_text_file(path within ./data)",
                  "kv.get(key == \"b\")"})
          .value();
  const Decision refused = authority.decide(tool("kv.get"), {{"key", "c"}});
  CHECK(refused.rule == "allow kv.get(key == \"a\")");
  CHECK(refused.reason == "key \"c\" is not \"a\"");
  CHECK(refused.other_rules == 1);
  CHECK(refused.would_grant == "kv.get(key == \"c\")");
}

TEST_CASE("fifty calls against calls <= 10 go through exactly ten times") {
  const World world;
  auto authority = world.grant({"kv.get calls <= 10"}).value();
  int allowed = 0;
  for (int i = 0; i < 50; ++i)
    allowed += authority.decide(tool("kv.get"), {{"key", "a"}}).allowed() ? 1 : 0;
  CHECK(allowed == 10);
}

TEST_CASE("a call that a ceiling refuses uses nothing up") {
  const World world;
  auto authority = world
                       .load({layer("the command line", {"kv.get calls <= 1"}),
                              layer("mcpac.policy", {"kv.get(key == \"a\")"})})
                       .value();
  CHECK_FALSE(authority.decide(tool("kv.get"), {{"key", "b"}}).allowed());
  CHECK(authority.decide(tool("kv.get"), {{"key", "a"}}).allowed());
}

TEST_CASE("the grant that a denial suggests admits the very call, and not a different one") {
  World world;
  world.add_tools(Json{{"gh.\"issues/create\"",
                        Json{{"type", "object"},
                             {"properties", {{"a b", Json::object()}, {"n", Json::object()}}}}}});
  int tried = 0;
  int lists = 0;
  for (const Json& line : vectors()) {
    if (!line.contains("call") || !line["call"]["arguments"].is_object()) continue;
    const auto permission = permission_of(line["call"]["permission"].get<std::string>());
    if (!permission || !world.tools.contains(*permission)) continue;
    Json arguments = world.fill(line["call"]["arguments"]);
    const auto schema = JsonSchema::compile(world.tools.at(*permission)).value();
    static_cast<void>(schema->fill_defaults(arguments));
    if (schema->validate(arguments)) continue;
    auto none = world.grant({}).value();
    const auto decision = none.decide(*permission, arguments);
    const std::string& grant = decision.would_grant;
    // A list of different elements has no test of its own, and opens nothing.
    if (grant.empty()) {
      CHECK_FALSE(decision.no_grant.empty());
      continue;
    }
    auto granted = world.grant({grant});
    REQUIRE_MESSAGE(granted.has_value(), grant);
    CHECK_MESSAGE(granted->decide(*permission, arguments).allowed(), grant);
    CHECK_FALSE_MESSAGE(grant.contains(" any"), grant);
    ++tried;
    if (arguments.is_object() && std::ranges::any_of(arguments, &Json::is_array)) {
      CHECK_MESSAGE(grant.contains(" size "), grant);
      ++lists;
    }
  }
  CHECK(tried > 100);
  CHECK(lists > 0);
  const Permission quoted = Permission::of("gh", "issues/create").value();
  auto none = world.grant({}).value();
  const Json arguments{{"a b", "x\n\"y\""}, {"n", 1.5}};
  const std::string grant = none.decide(quoted, arguments).would_grant;
  CHECK(grant == "gh.\"issues/create\"(\"a b\" == \"x\\n\\\"y\\\"\", n == 1.5)");
  auto granted = world.grant({grant}).value();
  CHECK(granted.decide(quoted, arguments).allowed());
  CHECK_FALSE(granted.decide(quoted, {{"a b", "x"}, {"n", 1.5}}).allowed());
}

TEST_CASE("a decision never changes when grants for another tool are added") {
  const World world;
  for (const Json& line : vectors()) {
    if (!line.contains("call") || !line.contains("grants") || line["expect"] == "load_error")
      continue;
    const auto permission = permission_of(line["call"]["permission"].get<std::string>());
    if (!permission || !world.tools.contains(*permission) || permission->server() == "notes")
      continue;
    std::vector<std::string> grants;
    for (const auto& text : line["grants"]) grants.push_back(world.fill(text.get<std::string>()));
    const Json arguments = world.fill(line["call"]["arguments"]);
    auto before = world.grant(grants);
    grants.emplace_back("notes.*");
    auto after = world.grant(grants);
    REQUIRE(before.has_value() == after.has_value());
    if (before)
      CHECK(before->decide(*permission, arguments).effect ==
            after->decide(*permission, arguments).effect);
  }
}

TEST_CASE("no grant is suggested against a ceiling that refuses as well") {
  const World world;
  auto authority =
      world.load({layer("the command line", {"kv.get"}), layer("mcpac.policy", {"kv.get"})})
          .value();
  const Decision refused = authority.decide(tool("kv.clear"), Json::object());
  CHECK(refused.layer == "the command line");
  CHECK(refused.would_grant.empty());
}

TEST_CASE("print shows the rules of all layers") {
  const World world;
  const auto authority = world
                             .load({layer("the command line", {"kv.get"}, {"*.*(* within ~/.ssh)"}),
                                    layer("mcpac.policy", {"kv.*"})})
                             .value();
  CHECK(authority.print() == "allow kv.get\ndeny *.*(* within ~/.ssh)\nallow kv.*\n");
}

TEST_CASE("a yes is for the ask rules that it was given to, and for no other") {
  const World world;
  LayerText run = layer("the command line", {"kv.get"});
  run.asks = {"kv.get(key starts \"a\")", "kv.get(key ends \"z\")"};
  LayerText ceiling = layer("mcpac.policy", {"kv.*"});
  ceiling.asks = {"kv.get(key starts \"a\")"};
  auto authority = world.load({run, ceiling}).value();
  const Json key = {{"key", "az"}};
  const Decision open = authority.decide(tool("kv.get"), key);
  CHECK(open.effect == Effect::kAsk);
  REQUIRE(open.asks.size() == 3);
  // All but one, whichever it is: that one still asks, also where it reads as another layer's.
  for (std::size_t i = 0; i < open.asks.size(); ++i) {
    CAPTURE(i);
    auto approved = open.asks;
    approved.erase(approved.begin() + static_cast<std::ptrdiff_t>(i));
    const Decision decision = authority.decide(tool("kv.get"), key, nullptr, approved);
    CHECK(decision.effect == Effect::kAsk);
    CHECK(decision.rule == open.asks[i].rule);
    CHECK(decision.layer == open.asks[i].layer);
  }
  CHECK(authority.decide(tool("kv.get"), key, nullptr, open.asks).allowed());
}

}  // namespace mcpac::policy::testing
