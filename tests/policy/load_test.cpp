// What does not load because it could decide nothing; profiles; how files are formatted; and what a
// declared permission has to do with the granted ones.
#include <doctest/doctest.h>

#include "policy/support_world.h"
#include "policy/text/format.h"
#include "policy/text/parser.h"
#include "policy/text/printer.h"

namespace mcpac::policy::testing {
namespace {

const Json kIssues = {{"type", "object"},
                      {"properties",
                       {{"state", {{"type", "string"}, {"enum", {"open", "closed"}}}},
                        {"title", {{"type", "string"}, {"pattern", "^[a-z]+$"}, {"maxLength", 5}}},
                        {"labels", {{"type", "array"}, {"items", {{"type", "string"}}}}},
                        {"count", {{"type", "integer"}, {"minimum", 1}, {"maximum", 9}}}}},
                      {"additionalProperties", false}};

World with_issues() {
  return World("2026-06-01T12:00:00Z", Json{{"tracker.list", kIssues}});
}

LayerText rules_of(const std::string& text) {
  return {.name = "mcpac.policy", .grants = {}, .asks = {}, .denies = {}, .files = {text}};
}

Permission tool(std::string_view text) {
  return Permission::parse(text).value();
}

}  // namespace

TEST_CASE("a rule whose tests contradict each other or the schema is a load error") {
  const World world = with_issues();
  for (const char* body : {"tracker.list(state == \"open\", state == \"closed\")",

                           "tracker.list(count > 9, ..)", "tracker.list(state like \"x*\", ..)",
                           "tracker.list(title starts \"a\" ends \"b\" len 1..1, ..)"}) {
    for (const char* effect : {"allow ", "deny ", "ask "}) {
      std::string text = effect + std::string(body);
      // A deny and an ask have open brackets.
      if (*effect != 'a' || effect[1] == 's')
        if (const auto at = text.find(", .."); at != std::string::npos) text.erase(at, 4);
      CAPTURE(text);
      const auto loaded = world.load({rules_of(text)});
      CHECK_FALSE(loaded.has_value());
      if (loaded) continue;
      CHECK(loaded.error().id == ErrorId::kRuleIneffective);
      CHECK(loaded.error().where.starts_with("mcpac.policy:1:"));
    }
  }
  for (const char* text :
       {"allow tracker.list(title starts \"a\" ends \"b\" len 2..2, ..)",
        "deny tracker.list(count > 8)", "allow tracker.list(state like \"o*\", ..)",
        "deny tracker.list(labels[*] == \"a\", labels[*] == \"b\")",
        "allow tracker.list\ndeny tracker.list"}) {
    CAPTURE(text);
    CHECK(world.load({rules_of(text)}).has_value());
  }
}

TEST_CASE("a rule loads where the shortest string that it admits is too short for the schema") {
  for (const Json& least : {Json(3), Json(3.0), Json::parse("3")}) {
    CAPTURE(least);
    const World world("2026-06-01T12:00:00Z",
                      Json{{"a.b",
                            {{"type", "object"},
                             {"properties", {{"path", {{"type", "string"}, {"minLength", least}}}}},
                             {"required", {"path"}}}}});
    for (const char* rule : {"a.b(path any)", "a.b(path len 0..100)", "a.b(path starts \"a\")",
                             "a.b(path re /a*/)", "a.b(path within /)", "a.b(path != \"\")",
                             "a.b(path host example.com)", "a.b(path like \"*\", ..)"}) {
      CAPTURE(rule);
      const auto loaded = world.grant({rule});
      CHECK_MESSAGE(loaded, (loaded ? "" : loaded.error().to_text()));
    }
    for (const char* rule : {"a.b(path len 0..2)", "a.b(path == \"ab\")", "a.b(path re /a?b?/)"})
      CHECK_FALSE_MESSAGE(world.grant({rule}), rule);
  }
}

TEST_CASE("a value that the schema does not list gets the nearest one that it does") {
  const World world = with_issues();
  for (const char* text : {"deny tracker.list(state == \"opne\")",
                           "allow tracker.list(state in {\"closed\", \"opne\"})",
                           "deny tracker.list(state != \"opne\")"}) {
    CAPTURE(text);
    const auto loaded = world.load({rules_of(text)});
    REQUIRE_FALSE(loaded.has_value());
    CHECK(loaded.error().what == "the schema lists no value \"opne\"");
    CHECK(loaded.error().fix == "did you mean \"open\"?");
  }
}

TEST_CASE("what has no members or elements is not looked into") {
  const World world = with_issues();
  CHECK(world.grant({"tracker.list(state.name any)"}).error().what ==
        "'state' is a string, which has no members");
  CHECK(world.grant({"tracker.list(state[*] any)"}).error().what ==
        "'state' is a string, which has no elements");
}

TEST_CASE("profiles hold where they are named, once, and only those that exist") {
  const World world;
  LayerText layer{.name = "the command line",
                  .grants = {},
                  .asks = {},
                  .denies = {},
                  .files = {},
                  .profiles = {"one"},
                  .profile_files = {PolicyFile("profile \"one\" { use \"two\" allow kv.get }\n"
                                               "profile \"two\" { allow kv.clear }\n"
                                               "allow kv.set",
                                               "mcpac.policy")}};
  auto authority = world.load({layer}).value();
  CHECK(authority.decide(tool("kv.get"), {{"key", "a"}}).allowed());
  CHECK(authority.decide(tool("kv.clear"), Json::object()).allowed());
  CHECK_FALSE(authority.decide(tool("kv.set"), {{"key", "a"}, {"value", 1}}).allowed());
  layer.profiles = {"three"};
  CHECK(world.load({layer}).error().id == ErrorId::kRuleUnknownName);
}

TEST_CASE("tests of a file mean the same whichever profiles it is loaded with") {
  const World world;
  const auto loaded = [&world](const std::string& text, std::vector<std::string> profiles) {
    LayerText layer{.name = "mcpac.policy", .grants = {}, .asks = {}, .denies = {}, .files = {}};
    layer.files.emplace_back(text, "mcpac.policy");
    layer.profiles = std::move(profiles);
    return world.load({layer});
  };
  const std::string writes = "allow kv.get\nnot_match kv.clear {}\n";
  const std::string profile =
      "profile \"all\" { allow kv.clear match kv.clear {} match kv.get {\"key\": \"a\"} }\n"
      "profile \"less\" { deny kv.get not_match kv.get {\"key\": \"a\"} }\n";
  for (const std::vector<std::string>& profiles :
       {std::vector<std::string>{}, {"all"}, {"less"}, {"all", "less"}}) {
    CAPTURE(profiles.size());
    const auto good = loaded(writes + profile, profiles);
    CHECK_MESSAGE(good, (good ? "" : good.error().to_text()));
    // A test of a profile fails also where nobody uses the profile, as it would in a run that does.
    const auto bad = loaded(writes +
                                "profile \"all\" { allow kv.clear not_match kv.clear {} }\n"
                                "profile \"less\" { deny kv.get }\n",
                            profiles);
    REQUIRE_FALSE(bad);
    CHECK(bad.error().id == ErrorId::kSelfTestFailed);
    CHECK(bad.error().where.starts_with("mcpac.policy:3:"));
  }
  CHECK(loaded("use \"all\"\nallow kv.get\nmatch kv.clear {}\n" + profile, {"less"}).has_value());
}

TEST_CASE("every policy of the vectors is formatted to what means the same, and only once") {
  int formatted = 0;
  for (const Json& line : vectors()) {
    if (!line.contains("policy")) continue;
    const std::string text = line["policy"];
    const auto file = parse_file({"p", text});
    if (!file) continue;
    const auto tidy = format({"p", "# a\n\n" + text + " # b\n# c"});
    REQUIRE(tidy.has_value());
    CHECK(print(parse_file({"p", *tidy}).value()) == print(*file));
    CHECK(format({"p", *tidy}).value() == *tidy);
    for (const char* comment : {"# a", "# b", "# c"})
      CHECK(tidy->find(comment) != std::string::npos);
    ++formatted;
  }
  CHECK(formatted > 5);
}

TEST_CASE(
    "a declared permission is covered by meaning, conditional where it overlaps, else missing") {
  const World world;
  const auto authority =
      world.grant({"kv.get(key in {\"a\", \"b\"})", "math.add(a 0..100, b any)"}).value();
  CHECK(authority.coverage(tool("kv.get"), "key == \"a\"") == Coverage::kCovered);
  CHECK(authority.coverage(tool("math.add"), "a 1..10, b 5..6") == Coverage::kCovered);
  CHECK(authority.coverage(tool("math.add"), "a 50..200, b any") == Coverage::kConditional);
  CHECK(authority.coverage(tool("kv.get"), "") == Coverage::kConditional);
  const auto missing = authority.standing(tool("kv.get"), "key == \"c\"");
  CHECK(missing.coverage == Coverage::kMissing);
  REQUIRE(missing.refused.has_value());
  CHECK(*missing.refused == Json{{"key", "c"}});
  CHECK_FALSE(authority.standing(tool("kv.clear"), "").refused.has_value());
}

}  // namespace mcpac::policy::testing
