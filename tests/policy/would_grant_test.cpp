// What a denial is told to do: the rules with it admit this call and nothing else.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/json_compare.h"
#include "core/json_schema.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

Permission named_tool(const std::string& text) {
  return permission_of(text).value();
}

LayerText own_layer(std::vector<std::string> grants, std::vector<std::string> asks = {}) {
  LayerText layer;
  layer.name = "the command line";
  layer.grants = std::move(grants);
  layer.asks = std::move(asks);
  return layer;
}

// The layer with what a denial suggested.
LayerText layer_with_fix(LayerText layer, const std::string& fix) {
  if (!fix.starts_with("--ask '")) {
    layer.grants.push_back(fix);
    return layer;
  }
  std::string rule = fix.substr(7, fix.size() - 8);
  for (std::size_t at = 0; (at = rule.find("'\\''", at)) != std::string::npos; ++at)
    rule.replace(at, 4, "'");
  layer.asks.push_back(rule);
  return layer;
}

std::size_t undecided_fixes = 0;

// As `policy diff` compares: everything that the rules with the fix admit and those without do not.
void check_admits_this_call_alone(const World& world, const std::vector<LayerText>& before,
                                  const Permission& permission, const Json& arguments,
                                  const std::string& fix) {
  CAPTURE(fix);
  CAPTURE(to_text(arguments));
  auto after = before;
  after.front() = layer_with_fix(after.front(), fix);
  auto narrow = world.load(before).value();
  auto wide = world.load(after);
  REQUIRE_MESSAGE(wide.has_value(), (wide ? "" : wide.error().to_text()));
  CHECK(wide->decide(permission, arguments).effect != Effect::kDeny);
  const auto beyond = narrow.beyond(*wide);
  REQUIRE(beyond.size() == 1);
  const auto* excess = std::get_if<Excess>(&beyond.front());
  if (excess == nullptr) {
    ++undecided_fixes;
    return;
  }
  CHECK(excess->permission == permission);
  const auto schema = JsonSchema::compile(world.tools.at(permission)).value();
  Json shown = excess->arguments;
  Json meant = arguments;
  REQUIRE(schema->fill_defaults(shown));
  REQUIRE(schema->fill_defaults(meant));
  CHECK_MESSAGE(json_equal(shown, meant), to_text(shown));
}

struct FixCase {
  std::vector<std::string> grants;
  std::vector<std::string> asks;
  std::string permission;
  Json arguments;
  std::string fix;
};

}  // namespace

TEST_SUITE("policy/would_grant") {
  TEST_CASE("a fix says exactly the call, with the path tests and the limits of the nearest rule") {
    const World world;
    const std::string read = "filesystem.read_text_file";
    const std::vector<FixCase> cases = {
        {{}, {}, read, {{"path", "data/a"}}, read + "(path == \"data/a\")"},
        {{read + "(path within ./data)"},
         {},
         read,
         {{"path", "data/a"}, {"head", 5}},
         read + "(head == 5, path == \"data/a\" within ./data)"},
        {{read + "(path within ./data except {./data/private}, ?tail 1..9) calls <= 3 for 15m"},
         {},
         read,
         {{"path", "data/a"}, {"tail", 10}},
         read + "(path == \"data/a\" within ./data except {./data/private}, tail == 10) calls <= 3 "
                "for 15m"},
        {{read + "(path within ./data)"},
         {},
         read,
         {{"path", "/etc/hostname"}},
         read + "(path == \"/etc/hostname\")"},
        {{"filesystem.*(path within ./data, ..)"},
         {},
         "filesystem.move_file",
         {{"source", "data/a"}, {"destination", "data/b"}},
         "filesystem.move_file(destination == \"data/b\", source == \"data/a\")"},
        {{"filesystem.read_multiple_files(paths[*] within ./data, paths size 2..3)"},
         {},
         "filesystem.read_multiple_files",
         {{"paths", Json{"data/a"}}},
         "filesystem.read_multiple_files(paths size 1..1, paths[*] == \"data/a\" within ./data)"},
        {{"filesystem.read_multiple_files(paths[*] within ./data, paths size 3..3)"},
         {},
         "filesystem.read_multiple_files",
         {{"paths", {"data/a", "data/a"}}},
         "filesystem.read_multiple_files(paths size 2..2, paths[*] == \"data/a\" within ./data)"},
        {{},
         {},
         "filesystem.read_multiple_files",
         {{"paths", Json::array()}},
         "filesystem.read_multiple_files(paths size 0..0)"},
        {{},
         {},
         "filesystem.edit_file",
         {{"path", "a"}, {"edits", {{{"oldText", "x"}, {"newText", "y"}}}}},
         "filesystem.edit_file(edits size 1..1, edits[*].newText == \"y\", edits[*].oldText == "
         "\"x\", path == \"a\")"},
        {{},
         {"filesystem.write_file(path within ./data)"},
         "filesystem.write_file",
         {{"path", "/tmp/a"}, {"content", "x"}},
         "--ask 'filesystem.write_file(content == \"x\", path == \"/tmp/a\")'"},
        {{"kv.get(key == \"a\")"}, {}, "kv.get", {{"key", "b"}}, "kv.get(key == \"b\")"}};
    for (const auto& one : cases) {
      const std::vector<LayerText> layers{own_layer(one.grants, one.asks)};
      const auto decision =
          world.load(layers).value().decide(named_tool(one.permission), one.arguments);
      REQUIRE_FALSE(decision.allowed());
      CHECK(decision.would_grant == one.fix);
      CHECK(decision.no_grant.empty());
      check_admits_this_call_alone(world, layers, named_tool(one.permission), one.arguments,
                                   decision.would_grant);
    }
  }

  TEST_CASE("of every denial of the vectors the fix admits this call and nothing else") {
    int fixes = 0;
    int without = 0;
    undecided_fixes = 0;
    for (const Json& line : vectors()) {
      if (!line.contains("call") || !line["call"]["arguments"].is_object()) continue;
      const auto world = world_of(line);
      const auto permission = permission_of(line["call"]["permission"].get<std::string>());
      if (!permission || !world->tools.contains(*permission)) continue;
      const auto layers = layers_of(*world, line);
      auto authority = world->load(layers);
      if (!authority || layers.empty()) continue;
      Json arguments = world->fill(line["call"]["arguments"]);
      const auto schema = JsonSchema::compile(world->tools.at(*permission)).value();
      if (authority->complete(*permission, *schema, arguments)) continue;
      const auto decision = authority->decide(*permission, arguments);
      if (decision.effect != Effect::kDeny) continue;
      CHECK((decision.would_grant.empty() || decision.no_grant.empty()));
      if (decision.would_grant.empty()) {
        ++without;
        continue;
      }
      ++fixes;
      check_admits_this_call_alone(*world, layers, *permission, arguments, decision.would_grant);
    }
    MESSAGE(fixes, " fixes, ", without, " denials without one, ", undecided_fixes, " undecided");
    CHECK(fixes > 40);
    CHECK(undecided_fixes * 20 < static_cast<std::size_t>(fixes));
  }

  TEST_CASE("a value that escaped a rule is no reason for a grant") {
    const World world;
    world.put("data/a.txt", "file");
    world.put("secret/key", "file");
    world.put("data/out", "-> ../secret");
    auto authority =
        world
            .grant({world.fill(std::string("filesystem.read_text_file(path within ${BASE}/data)"))})
            .value();
    const auto refused = [&](const std::string& path) {
      auto decision = authority.decide(named_tool("filesystem.read_text_file"),
                                       {{"path", world.fill(std::string(path))}});
      CHECK_FALSE(decision.allowed());
      CHECK(decision.would_grant.empty());
      return decision.no_grant;
    };
    CHECK(refused("${BASE}/data/out/key").find("by a link") != std::string::npos);
    CHECK(refused("${BASE}/data/../secret/key").find("by \"..\"") != std::string::npos);
    CHECK(refused("~root/key").find("read in more than one way") != std::string::npos);
    // One that is nowhere near the rule is only outside.
    CHECK_FALSE(authority
                    .decide(named_tool("filesystem.read_text_file"),
                            {{"path", world.fill(std::string("${BASE}/secret/key"))}})
                    .would_grant.empty());
  }

  TEST_CASE("what no rule says exactly gets no fix, and the reason") {
    const World world;
    auto none = world.grant({"kv.get(key == \"a\")"}).value();
    const auto why = [&](const std::string& name, const Json& arguments) {
      auto decision = none.decide(named_tool(name), arguments);
      CHECK(decision.would_grant.empty());
      return decision.no_grant;
    };
    CHECK(why("filesystem.read_multiple_files", {{"paths", {"a", "b"}}}) ==
          "no rule says exactly what paths is: a test of a list says what its elements are, and "
          "not their order");
    Json many = Json::array();
    for (int i = 0; i < 13; ++i) many.push_back("file" + std::to_string(i));
    CHECK(why("filesystem.read_multiple_files", {{"paths", many}}).find("exactly what paths is") !=
          std::string::npos);
    CHECK(why("kv.get", {{"key", std::string(400, 'x')}}).find("readable length") !=
          std::string::npos);
    CHECK(why("kv.set", {{"key", "a"}, {"value", Json::object()}}).find("value") !=
          std::string::npos);
    // An argument that the schema does not name is no reason for the whole tool.
    CHECK(none.decide(named_tool("log.append"), {{"message", "a"}, {"else", "b"}}).would_grant ==
          "log.append(else == \"b\", message == \"a\")");
  }

  TEST_CASE("before the run, what only the run knows keeps the test of the nearest rule") {
    const World world;
    const auto authority =
        world.grant({"filesystem.read_text_file(path within ./data, ?head 1..9)"}).value();
    const auto read = named_tool("filesystem.read_text_file");
    const auto kept = authority.foresee(
        read, {.known = {{"tail", 3}}, .unknown = {"path", "head"}, .open = false});
    CHECK(kept.would_grant ==
          "filesystem.read_text_file(tail == 3, ?head 1..9, path within ./data)");
    const auto free = authority.foresee(
        read, {.known = {{"path", "/etc/hostname"}}, .unknown = {"tail"}, .open = false});
    CHECK(free.would_grant.empty());
    CHECK(free.no_grant.find("what tail will be only the run knows") != std::string::npos);
    const auto exact =
        authority.least_rule(read, {.known = {{"path", "a"}}, .unknown = {}, .open = false});
    CHECK(exact.rule == "filesystem.read_text_file(path == \"a\")");
    CHECK(exact.is_exact);
    CHECK_FALSE(
        authority.least_rule(read, {.known = {{"path", "a"}}, .unknown = {"head"}}).is_exact);
  }

  TEST_CASE("a rule for what is not granted keeps what the nearest rule of a wildcard tests") {
    const World world;
    const auto write = named_tool("filesystem.write_file");
    const auto authority = world.grant({"filesystem.*(path within ./data) calls <= 3"}).value();
    const auto known = authority.least_rule(
        write, {.known = {{"path", "data/x"}}, .unknown = {"content"}, .open = false});
    CHECK(known.rule ==
          "filesystem.write_file(path == \"data/x\" within ./data, content any) calls <= 3");
    CHECK_FALSE(known.is_exact);
    CHECK(authority.least_rule(write, {.known = Json::object(), .unknown = {"path", "content"}})
              .rule == "filesystem.write_file(content any, path within ./data) calls <= 3");
    const auto list = permission_of("filesystem.read_multiple_files").value();
    const auto listed =
        authority.least_rule(list, {.known = {{"paths", {"data/a", "data/b"}}}, .unknown = {}});
    CHECK(listed.rule ==
          "filesystem.read_multiple_files(paths size 2..2, paths[*] in {\"data/a\", \"data/b\"})");
    CHECK_FALSE(listed.is_exact);  // in any order
    CHECK(listed.is_known);
    const auto escaped = authority.least_rule(
        write, {.known = {{"path", "data/../../x"}, {"content", "c"}}, .unknown = {}});
    CHECK(escaped.rule.empty());
    CHECK(escaped.escaped.find("no reason to grant it") != std::string::npos);
  }

  TEST_CASE("where two layers refuse a call, the one above the run's own is named with its rule") {
    const World world;
    LayerText ceiling;
    ceiling.name = "mcpac.policy";
    ceiling.files = {PolicyFile("\nallow filesystem.read_text_file(path within ./other)\n")};
    const std::vector<LayerText> layers{own_layer({"filesystem.read_text_file(path == \"q\")"}, {}),
                                        ceiling};
    auto authority = world.load(layers).value();
    const auto read = named_tool("filesystem.read_text_file");
    const Json data{{"path", "data/a"}};
    const auto explained = authority.explain(read, data).decision;
    CHECK(explained.would_grant.empty());
    CHECK(explained.no_grant ==
          "mcpac.policy:2 refuses it as well: path \"data/a\" is not within ./other");
    const CallInSource call{.known = data, .unknown = {}, .open = false};
    CHECK(authority.foresee(read, call).no_grant == explained.no_grant);
    // With permission checks off the run's own layer is not what refuses it.
    Evidence evidence;
    const auto off = authority.decide(read, data, {}, evidence, Lifted::kUngranted);
    CHECK(off.effect == Effect::kDeny);
    CHECK_FALSE(off.lifted);
    CHECK(off.layer == "mcpac.policy");
    CHECK(off.place == "mcpac.policy:2");
    CHECK(off.reason == "path \"data/a\" is not within ./other");
    const auto foreseen = authority.foresee(read, call, Lifted::kUngranted);
    CHECK(foreseen.layer == "mcpac.policy");
    CHECK(foreseen.place == "mcpac.policy:2");
    CHECK_FALSE(foreseen.only_ungranted);
  }

  TEST_CASE("of a recorded call its own rules are told, and never more than they granted") {
    const World world;
    const std::vector<std::string> grants = {"filesystem.*(path within ./data, ..)",
                                             "kv.get, kv.clear calls <= 3",
                                             "math.add(a 1..9, b any) audit args"};
    const std::vector<LayerText> layers{own_layer(grants, {"notes.*"})};
    auto authority = world.load(layers).value();
    const Json file{{"path", "data/a"}};
    const Json key{{"key", "a"}};
    const Json sum{{"a", 1}, {"b", 2}};
    const Json note{{"text", "x"}};
    using Rules = std::vector<std::string>;
    CHECK(authority.granted_of(named_tool("filesystem.read_text_file"), &file) ==
          Rules{"allow filesystem.read_text_file(path == \"data/a\" within ./data)"});
    CHECK(authority.granted_of(named_tool("filesystem.read_text_file"), nullptr) ==
          Rules{"allow filesystem.read_text_file(path within ./data, ..)"});
    CHECK(authority.granted_of(named_tool("kv.get"), &key) ==
          Rules{"allow kv.get, kv.clear calls <= 3"});
    CHECK(authority.granted_of(named_tool("math.add"), &sum) ==
          Rules{"allow math.add(a == 1, b == 2) audit args"});
    CHECK(authority.granted_of(named_tool("notes.add"), &note) == Rules{"ask notes.add"});
    CHECK(authority.granted_of(named_tool("mail.send"), nullptr).empty());
    std::string file_text;
    for (const auto& [name, arguments] :
         std::vector<std::pair<std::string, const Json*>>{{"filesystem.read_text_file", &file},
                                                          {"kv.get", &key},
                                                          {"math.add", &sum},
                                                          {"notes.add", &note},
                                                          {"filesystem.list_directory", nullptr}}) {
      for (const auto& rule : authority.granted_of(named_tool(name), arguments))
        file_text += rule + "\n";
    }
    LayerText suggested;
    suggested.name = "the command line";
    suggested.files.emplace_back(file_text);
    const auto narrower = world.load({suggested});
    REQUIRE(narrower.has_value());
    CHECK(std::holds_alternative<Included>(authority.includes(*narrower)));
  }
}

TEST_SUITE("policy/otherwise") {
  TEST_CASE("an ask otherwise is about what no allow beside it admits") {
    const World world;
    auto authority =
        world.load({own_layer({"kv.get(key == \"a\")", "kv.set calls <= 1"}, {"kv.* otherwise"})})
            .value();
    CHECK(authority.decide(named_tool("kv.get"), {{"key", "a"}}).allowed());
    const auto asked = authority.decide(named_tool("kv.get"), {{"key", "b"}});
    CHECK(asked.effect == Effect::kAsk);
    REQUIRE(asked.asks.size() == 1);
    CHECK(asked.asks.front().rule == "ask kv.* otherwise");
    CHECK(asked.asks.front().tool == "kv.get");
    CHECK(authority.decide(named_tool("kv.get"), {{"key", "b"}}, nullptr, asked.asks).allowed());
    const Json value{{"key", "a"}, {"value", 1}};
    CHECK(authority.decide(named_tool("kv.set"), value).allowed());
    CHECK(authority.decide(named_tool("kv.set"), value).effect == Effect::kAsk);  // used up
    CHECK(authority.decide(named_tool("notes.add"), {{"text", "x"}}).effect == Effect::kDeny);
    // A ceiling's ask is about the rest of the ceiling, whatever stands below.
    auto both = world
                    .load({own_layer({"kv.get"}),
                           own_layer({"kv.get(key == \"a\")"}, {"kv.get otherwise"})})
                    .value();
    CHECK(both.decide(named_tool("kv.get"), {{"key", "a"}}).allowed());
    CHECK(both.decide(named_tool("kv.get"), {{"key", "b"}}).effect == Effect::kAsk);
  }

  TEST_CASE("it stands behind an ask alone, once, and is printed as it was read") {
    const World world;
    CHECK_FALSE(world.grant({"kv.get otherwise"}).has_value());
    LayerText denies = own_layer({"kv.get"});
    denies.denies = {"kv.get otherwise"};
    CHECK_FALSE(world.load({denies}).has_value());
    CHECK_FALSE(world.load({own_layer({}, {"kv.get otherwise otherwise"})}).has_value());
    const auto printed =
        world.load({own_layer({}, {"kv.get because \"x\" otherwise"})}).value().print();
    CHECK(printed == "ask kv.get otherwise because \"x\"\n");
  }

  TEST_CASE("what is foreseen of it agrees with what is decided") {
    const World world;
    const auto authority =
        world.load({own_layer({"kv.get(key == \"a\")"}, {"kv.* otherwise"})}).value();
    const auto foreseen = [&](const Json& known, std::set<std::string> unknown = {}) {
      return authority.foresee(named_tool("kv.get"),
                               {.known = known, .unknown = std::move(unknown)});
    };
    CHECK(foreseen({{"key", "a"}}).outlook == Outlook::kCovered);
    CHECK(foreseen({{"key", "b"}}).asks);
    CHECK(foreseen({{"key", "b"}}).outlook == Outlook::kConditional);
    CHECK(foreseen(Json::object(), {"key"}).asks);
  }

  TEST_CASE(
      "inclusion: it admits with a question what no allow admits, also once that is used up") {
    const World world;
    const auto of = [&](std::vector<std::string> grants, std::vector<std::string> asks) {
      return world.load({own_layer(std::move(grants), std::move(asks))}).value();
    };
    const auto is_within = [](const Authority& wider, const Authority& narrower) {
      return std::holds_alternative<Included>(wider.includes(narrower));
    };
    const auto rest = of({"kv.get(key == \"a\")"}, {"kv.get otherwise"});
    CHECK(is_within(rest, of({"kv.get(key == \"a\")"}, {})));
    CHECK(is_within(rest, of({}, {"kv.get"})));
    CHECK(is_within(of({"kv.get"}, {}), rest));
    CHECK_FALSE(is_within(rest, of({"kv.get"}, {})));
    CHECK_FALSE(is_within(of({}, {"kv.get"}), rest));
    const auto three = of({"kv.get calls <= 3"}, {"kv.get otherwise"});
    CHECK_FALSE(is_within(of({"kv.get calls <= 3"}, {}), three));
    CHECK(is_within(three, of({"kv.get calls <= 3"}, {})));
    CHECK(is_within(three, of({"kv.get calls <= 2"}, {"kv.get otherwise"})));
    CHECK_FALSE(is_within(three, of({"kv.get calls <= 4"}, {})));
    CHECK(is_within(three, of({}, {"kv.get"})));
  }

  TEST_CASE("an allow that an ask beside it makes mute is told, with the form that was meant") {
    const World world;
    const auto told = [&](std::vector<std::string> grants, std::vector<std::string> asks) {
      return world.load({own_layer(std::move(grants), std::move(asks))}).value().asked_allows();
    };
    const std::string read = "filesystem.read_text_file(path within ./data)";
    const auto mute = told({read, "kv.get"}, {"filesystem.*"});
    REQUIRE(mute.size() == 1);
    CHECK(mute.front().allow == "allow " + read);
    CHECK(mute.front().in_words().find("'ask filesystem.* otherwise'") != std::string::npos);
    CHECK(told({read}, {"filesystem.* otherwise"}).empty());
    CHECK(told({read}, {"filesystem.write_file"}).empty());
    CHECK(told({"math.add(a 1..9, b any)"}, {"math.add(a 0..10)"}).size() == 1);
    CHECK(told({"math.add(a 1..9, b any)"}, {"math.add(a 5..10)"}).empty());
  }
}

TEST_SUITE("policy/lifted") {
  TEST_CASE("lifting frees of the run's own grants, and never of a deny or a layer above") {
    const World world;
    LayerText run = own_layer({"kv.get(key == \"a\")"}, {"notes.add"});
    run.denies = {"kv.get(key == \"z\")"};
    LayerText above =
        own_layer({"kv.get(key in {\"a\", \"b\", \"z\"}) calls <= 2", "notes.add"}, {"kv.clear"});
    above.name = "mcpac.policy";
    auto authority = world.load({run, above}).value();
    const auto decide = [&](const std::string& name, const Json& arguments,
                            std::span<const AskRule> approved = {}) {
      Evidence evidence;
      return authority.decide(named_tool(name), arguments, approved, evidence, Lifted::kUngranted);
    };
    CHECK(decide("kv.get", {{"key", "b"}}).lifted);
    CHECK(decide("notes.add", {{"text", "x"}}).lifted);    // its own question
    CHECK_FALSE(decide("kv.get", {{"key", "z"}}).lifted);  // --deny
    CHECK_FALSE(decide("kv.get", {{"key", "c"}}).lifted);  // mcpac.policy
    CHECK_FALSE(decide("math.add", {{"a", 1}, {"b", 2}}).lifted);
    const auto asked = decide("kv.clear", Json::object());
    CHECK(asked.effect == Effect::kAsk);  // of the layer above
    REQUIRE(asked.asks.size() == 1);
    CHECK(asked.asks.front().layer == "mcpac.policy");
    CHECK(decide("kv.clear", Json::object(), asked.asks).lifted);
    // What is lifted counts above.
    CHECK(decide("kv.get", {{"key", "b"}}).lifted);
    CHECK_FALSE(decide("kv.get", {{"key", "b"}}).lifted);
    CHECK_FALSE(authority.decide(named_tool("kv.get"), {{"key", "b"}}).lifted);
  }
}

}  // namespace mcpac::policy::testing
