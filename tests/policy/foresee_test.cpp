// What is foreseen of a call in a source, held against what is decided when it is made.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/json_schema.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

CallInSource call(const Json& known, std::set<std::string> unknown = {}) {
  return {.known = known, .unknown = std::move(unknown), .open = false};
}

Foresight foresee(const World& world, const LayerText& rules, const std::string& tool,
                  const CallInSource& source) {
  const auto authority = world.load({rules});
  const std::string why = authority ? "" : authority.error().to_text();
  REQUIRE_MESSAGE(authority.has_value(), why);
  return authority->foresee(permission_of(tool).value(), source);
}

Foresight with_grant(const World& world, const std::string& grant, const std::string& tool,
                     const CallInSource& source) {
  return foresee(
      world, {.name = "the command line", .grants = {grant}, .asks = {}, .denies = {}, .files = {}},
      tool, source);
}

// Property: random parts of random calls ---------------------------------------------------------

// Values that arguments are filled with: of every type, and near the borders of the usual tests.
const std::vector<Json>& usual_values() {
  static const std::vector<Json> values{nullptr,
                                        true,
                                        false,
                                        0,
                                        1,
                                        5,
                                        100,
                                        101,
                                        3600,
                                        5000,
                                        -1,
                                        0.5,
                                        "",
                                        "a",
                                        "acme",
                                        "web",
                                        "main",
                                        "./data/a.txt",
                                        "data/a.txt",
                                        "../a.txt",
                                        "/etc/passwd",
                                        "./data",
                                        "a\nb",
                                        "a\\b",
                                        "append",
                                        "overwrite",
                                        "https://example.com/x",
                                        "https://evil.test/",
                                        "http://127.0.0.1/",
                                        "squash",
                                        Json::array(),
                                        Json{"a"},
                                        Json{"./data/a.txt", "/etc/passwd"},
                                        Json::object(),
                                        Json{{"a", 1}},
                                        Json{{"x", "a"}}};
  return values;
}

class Prober {
 public:
  explicit Prober(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }
  bool coin() { return below(2) == 0; }
  template <class List>
  const auto& one_of(const List& list) {
    return list[below(list.size())];
  }

  // What is offered as the remedy of a denial is one.
  void check_remedy(World& world, std::vector<LayerText> layers, const Permission& tool,
                    const CallInSource& source, const Foresight& foresight) {
    ++remedies;
    // Where the nearest rule asks, so does the remedy.
    const std::string ask = "--ask '";
    if (foresight.would_grant.starts_with(ask))
      layers.front().asks.push_back(
          foresight.would_grant.substr(ask.size(), foresight.would_grant.size() - ask.size() - 1));
    else
      layers.front().grants.push_back(foresight.would_grant);
    const auto granted = world.load(layers);
    const std::string why = granted ? "" : granted.error().to_text();
    CHECK_MESSAGE(granted.has_value(), why);
    if (!granted) return;
    const auto again = granted->foresee(tool, source);
    CHECK_MESSAGE(again.outlook != Outlook::kDenied, foresight.would_grant, " leaves ",
                  again.reason, " of ", to_text(source.known));
  }

  // Hides some arguments of `whole`, foresees the rest, and decides calls that the rest can become.
  void probe(World& world, const std::vector<LayerText>& layers, const Permission& tool,
             const Json& whole, const std::vector<Json>& pool) {
    const auto authority = world.load(layers);
    if (!authority || !world.tools.contains(tool)) return;
    const auto schema = JsonSchema::compile(world.tools.at(tool)).value();
    std::set<std::string> names;
    for (const auto& [name, value] : whole.items()) names.insert(name);
    if (const Json* properties = find_member(world.tools.at(tool), "properties")) {
      for (const auto& [name, value] : properties->items()) names.insert(name);
    }
    CallInSource source{.known = Json::object(), .unknown = {}, .open = below(8) == 0};
    for (const auto& name : names) {
      const auto value = whole.find(name);
      if (below(3) == 0) {
        source.unknown.insert(name);
      } else if (value != whole.end()) {
        source.known[name] = *value;
      }
    }
    const Foresight foresight = authority->foresee(tool, source);
    ++outlooks[foresight.outlook];
    if (foresight.outlook == Outlook::kConditional) return;
    if (!foresight.would_grant.empty()) check_remedy(world, layers, tool, source, foresight);
    for (int i = 0; i < 12; ++i) {
      Json arguments = source.known;
      const auto& candidates = source.open ? names : source.unknown;
      for (const auto& name : candidates) {
        if (arguments.contains(name) || below(4) == 0) continue;
        arguments[name] = whole.contains(name) && coin() ? whole[name] : one_of(pool);
      }
      if (source.open && coin()) arguments["extra"] = one_of(pool);
      // Anew each time: what is foreseen holds for the first call as for the last.
      auto fresh = world.load(layers);
      if (fresh->complete(tool, *schema, arguments)) continue;
      const Effect effect = fresh->decide(tool, arguments).effect;
      ++decided;
      const bool kept = foresight.outlook == Outlook::kCovered ? effect == Effect::kAllow
                                                               : effect == Effect::kDeny;
      if (kept) continue;
      FAIL_CHECK(tool.text() << " " << to_text(arguments) << " was foreseen as "
                             << to_string(foresight.outlook) << " (" << foresight.reason
                             << "), got " << to_string(effect) << "\nrules:\n"
                             << authority->print() << "known: " << to_text(source.known));
    }
  }

  std::map<Outlook, int> outlooks;
  int decided = 0;
  int remedies = 0;

 private:
  std::mt19937 random_;
};

const std::vector<std::string>& random_tests() {
  static const std::vector<std::string> tests{"any",
                                              "absent",
                                              "== \"a\"",
                                              "!= \"a\"",
                                              "in {\"a\", \"acme\", \"web\"}",
                                              "1..100",
                                              "<= 100",
                                              "> 5",
                                              "within ./data",
                                              "within /etc",
                                              "matches ./data/*.txt",
                                              "host example.com",
                                              "like \"a*\"",
                                              "re /[a-z]+/",
                                              "starts \"./\"",
                                              "ends \".txt\"",
                                              "len 1..5",
                                              "one-line",
                                              "== true",
                                              "== 5000",
                                              "size 0..1",
                                              "within ./data except {./data/b.txt}",
                                              "in {\"append\", \"overwrite\"}"};
  return tests;
}

std::string random_rule(Prober& prober, const std::string& tool,
                        const std::vector<std::string>& names, Effect effect) {
  if (prober.below(10) == 0) return tool;
  std::string brackets;
  const auto add = [&brackets](const std::string& part) {
    brackets += (brackets.empty() ? "" : ", ") + part;
  };
  for (const auto& name : names) {
    if (prober.coin()) continue;
    const std::string optional = effect == Effect::kAllow && prober.coin() ? "?" : "";
    const auto& test = prober.one_of(random_tests());
    add((test == "absent" ? "" : optional) + name + " " + test);
  }
  if (effect != Effect::kAllow && prober.below(3) == 0) add("* " + prober.one_of(random_tests()));
  if (effect == Effect::kAllow && prober.below(3) == 0) add("..");
  const std::string limit = effect == Effect::kAllow && prober.below(8) == 0 ? " calls <= 1" : "";
  return tool + "(" + brackets + ")" + limit;
}

}  // namespace

TEST_SUITE("policy/foresee") {
  TEST_CASE("a constant that no rule admits is denied, with the argument, the test and the rule") {
    const World world;
    const auto denied = with_grant(world, "filesystem.read_text_file(path within ./data)",
                                   "filesystem.read_text_file", call({{"path", "/etc/passwd"}}));
    CHECK(denied.outlook == Outlook::kDenied);
    CHECK(denied.reason == R"(path "/etc/passwd" is not within ./data)");
    CHECK(denied.rule == "allow filesystem.read_text_file(path within ./data)");
    CHECK(denied.layer == "the command line");
  }

  TEST_CASE("a whole tool covers whatever the run passes") {
    const World world;
    const auto outlook = [&world](const CallInSource& source) {
      return with_grant(world, "kv.set", "kv.set", source).outlook;
    };
    CHECK(outlook(call({{"key", "a"}}, {"value", "ttl"})) == Outlook::kCovered);
    CHECK(outlook({.known = Json::object(), .unknown = {}, .open = true}) == Outlook::kCovered);
  }

  TEST_CASE("a run-time value that a test looks at makes the call conditional on it") {
    const World world;
    const auto maybe =
        with_grant(world, "github.create_issue(owner == \"acme\", ..)", "github.create_issue",
                   call({{"title", "t"}, {"repo", "r"}}, {"owner", "body"}));
    CHECK(maybe.outlook == Outlook::kConditional);
    CHECK(maybe.depends_on == std::vector<std::string>{"owner"});
    CHECK(maybe.reason == "depends on the value of owner");
  }

  TEST_CASE("a constant that fails is denied, whatever else is passed") {
    const World world;
    const auto denied =
        with_grant(world, "github.create_issue(owner == \"acme\", ..)", "github.create_issue",
                   call({{"owner", "other"}}, {"repo", "title"}));
    CHECK(denied.outlook == Outlook::kDenied);
    CHECK(denied.reason == R"(owner "other" is not "acme")");
  }

  TEST_CASE("an argument that is not written is absent, and its default is filled in") {
    const World world;
    const auto outlook = [&world](const std::string& grant, const CallInSource& source) {
      return with_grant(world, grant, "kv.set", source).outlook;
    };
    const Json written = {{"key", "a"}, {"value", 1}};
    CHECK(outlook("kv.set(key == \"a\", value any, mode == \"overwrite\")", call(written)) ==
          Outlook::kCovered);
    CHECK(outlook("kv.set(key == \"a\", value any, mode == \"append\")", call(written)) ==
          Outlook::kDenied);
    // ttl is not named, but what equals its default counts as absent.
    CHECK(outlook("kv.set(key == \"a\", value any)", call(written)) == Outlook::kCovered);
    CHECK(outlook("kv.set(key == \"a\", value any)", call(written, {"ttl"})) ==
          Outlook::kConditional);
    CHECK(outlook("kv.set(key == \"a\", value any, ttl any)", call(written, {"ttl"})) ==
          Outlook::kCovered);
  }

  TEST_CASE("what lies inside an argument that only the run knows is not certain") {
    const World world;
    const auto source = call({{"name", "a"}}, {"arguments"});
    const auto outlook = [&](const std::string& grant) {
      return with_grant(world, grant, "gateway.invoke_tool", source).outlook;
    };
    CHECK(outlook("gateway.invoke_tool(arguments.x any, ..)") == Outlook::kConditional);
    CHECK(outlook("gateway.invoke_tool(arguments any, ..)") == Outlook::kCovered);
    CHECK(outlook("gateway.invoke_tool(arguments.x absent, ..)") == Outlook::kConditional);
  }

  TEST_CASE("what a call may pass beyond what can be read counts against closed brackets") {
    const World world;
    const CallInSource open{.known = {{"path", "a"}}, .unknown = {}, .open = true};
    const auto outlook = [&](const std::string& grant) {
      return with_grant(world, grant, "filesystem.read_text_file", open).outlook;
    };
    CHECK(outlook("filesystem.read_text_file(path == \"a\")") == Outlook::kConditional);
    CHECK(outlook("filesystem.read_text_file(path == \"a\", head absent, ..)") ==
          Outlook::kConditional);
    CHECK(outlook("filesystem.read_text_file(path == \"a\", ..)") == Outlook::kCovered);
    CHECK(outlook("filesystem.read_text_file(path == \"b\", ..)") == Outlook::kDenied);
  }

  TEST_CASE("a path that the text admits hangs on the file system, for it may be a link") {
    World world;
    world.put("data/a.txt", "file");
    const auto inside = call({{"path", "./data/a.txt"}});
    const std::string grant = "filesystem.read_text_file(path within ./data)";
    const auto maybe = with_grant(world, grant, "filesystem.read_text_file", inside);
    CHECK(maybe.outlook == Outlook::kConditional);
    CHECK(maybe.reason == "depends on the file system: a link may lead elsewhere");
    CHECK(maybe.depends_on.empty());
    // A link that leads out now may lead elsewhere when the call is made.
    world.put("data/out", "-> /etc");
    CHECK(
        with_grant(world, grant, "filesystem.read_text_file", call({{"path", "./data/out/passwd"}}))
            .outlook == Outlook::kConditional);
    // Nobody looks at the files of another machine.
    world.bases.remote_servers.insert("filesystem");
    CHECK(with_grant(world, grant, "filesystem.read_text_file", inside).outlook ==
          Outlook::kCovered);
  }

  TEST_CASE("a deny catches by its text for sure, and by links perhaps") {
    const World world;
    const LayerText rules{.name = "the command line",
                          .grants = {"filesystem.read_text_file"},
                          .asks = {},
                          .denies = {"*.*(* within /etc)"},
                          .files = {}};
    const auto of = [&](const CallInSource& source) {
      return foresee(world, rules, "filesystem.read_text_file", source);
    };
    CHECK(of(call({{"path", "/etc/passwd"}}, {"head"})).outlook == Outlook::kDenied);
    CHECK(of(call({{"path", "/etc/passwd"}})).reason == "it is denied by a rule");
    CHECK(of(call({{"path", "/home/x"}})).outlook == Outlook::kConditional);
    CHECK(of(call(Json::object(), {"path"})).depends_on == std::vector<std::string>{"path"});
  }

  TEST_CASE("a number cannot be the string that a deny looks for") {
    const World world;
    const LayerText rules{.name = "the command line",
                          .grants = {"filesystem.read_text_file"},
                          .asks = {},
                          .denies = {"*.*(* like \"secret*\")"},
                          .files = {}};
    const auto outlook =
        foresee(world, rules, "filesystem.read_text_file", call({{"path", "a"}}, {"head"}));
    CHECK(outlook.outlook == Outlook::kCovered);
  }

  TEST_CASE("limits and approvals are never promised") {
    const World world;
    const auto now = call({{"key", "a"}});
    const auto limited = with_grant(world, "kv.get calls <= 3", "kv.get", now);
    CHECK(limited.outlook == Outlook::kConditional);
    CHECK(limited.reason == "depends on how much of a limit is used up");
    CHECK(with_grant(world, "kv.get(key == \"b\") calls <= 3", "kv.get", now).outlook ==
          Outlook::kDenied);
    const auto asked = foresee(
        world, {.name = "", .grants = {"kv.get"}, .asks = {"kv.get"}, .denies = {}, .files = {}},
        "kv.get", now);
    CHECK(asked.outlook == Outlook::kConditional);
    CHECK(asked.reason == "asks");
    CHECK(asked.asks);
  }

  TEST_CASE("every layer must cover, and one that denies is enough") {
    const World world;
    const auto two = [&world](const std::string& first, const std::string& second) {
      const auto authority = world.load(
          {{.name = "run", .grants = {first}, .asks = {}, .denies = {}, .files = {}},
           {.name = "ceiling", .grants = {second}, .asks = {}, .denies = {}, .files = {}}});
      REQUIRE(authority.has_value());
      return authority->foresee(permission_of("kv.get").value(), call({{"key", "a"}}));
    };
    CHECK(two("kv.get", "kv.get(key == \"a\")").outlook == Outlook::kCovered);
    CHECK(two("kv.get", "kv.get(key == \"b\")").outlook == Outlook::kDenied);
    CHECK(two("kv.get", "kv.get(key == \"b\")").layer == "ceiling");
    CHECK(two("kv.get", "kv.set").outlook == Outlook::kDenied);
    CHECK(two("kv.get calls <= 1", "kv.get").outlook == Outlook::kConditional);
  }

  TEST_CASE("a tool that the lock does not know is denied") {
    const World world;
    const auto authority = world.grant({"kv.get"});
    REQUIRE(authority.has_value());
    const auto unknown = Permission::parse("kv.getx").value();
    CHECK(authority->foresee(unknown, {}).outlook == Outlook::kDenied);
  }

  TEST_CASE("what is foreseen of the shared vectors is decided, with any arguments hidden") {
    Prober prober(4);
    for (const Json& line : vectors()) {
      if (!line.contains("call") || line["expect"] == "load_error") continue;
      const auto world = world_of(line);
      const auto permission = permission_of(line["call"]["permission"].get<std::string>());
      const Json arguments = world->fill(line["call"]["arguments"]);
      if (!permission || !arguments.is_object()) continue;
      std::vector<Json> pool = usual_values();
      for (const auto& [name, value] : arguments.items()) pool.push_back(value);
      for (int i = 0; i < 12; ++i)
        prober.probe(*world, layers_of(*world, line), *permission, arguments, pool);
    }
    MESSAGE(prober.outlooks[Outlook::kCovered]
            << " covered, " << prober.outlooks[Outlook::kConditional] << " conditional, "
            << prober.outlooks[Outlook::kDenied] << " denied, " << prober.decided
            << " calls decided");
    CHECK(prober.outlooks[Outlook::kCovered] > 100);
    CHECK(prober.outlooks[Outlook::kConditional] > 100);
    CHECK(prober.outlooks[Outlook::kDenied] > 100);
    CHECK(prober.decided > 2000);
  }

  TEST_CASE("what is foreseen of random rules is decided, with any arguments hidden") {
    World world;
    world.put("data/a.txt", "file");
    world.put("data/out", "-> /etc");
    Prober prober(7);
    const std::vector<std::pair<std::string, std::vector<std::string>>> tools{
        {"filesystem.read_text_file", {"path", "head", "tail"}},
        {"kv.set", {"key", "value", "mode", "ttl"}},
        {"fetch.fetch", {"url", "max_length", "raw"}},
        {"filesystem.read_multiple_files", {"paths", "paths[*]"}},
        {"gateway.invoke_tool", {"name", "arguments.x"}},
        {"log.append", {"message"}}};
    int loaded = 0;
    for (int round = 0; round < 5000; ++round) {
      const auto& [tool, names] = prober.one_of(tools);
      LayerText rules{.name = "run", .grants = {}, .asks = {}, .denies = {}, .files = {}};
      rules.grants.push_back(random_rule(prober, tool, names, Effect::kAllow));
      if (prober.coin()) rules.grants.push_back(random_rule(prober, tool, names, Effect::kAllow));
      if (prober.below(3) == 0)
        rules.denies.push_back(random_rule(prober, tool, names, Effect::kDeny));
      if (prober.below(6) == 0)
        rules.asks.push_back(random_rule(prober, tool, names, Effect::kAsk));
      std::vector<LayerText> layers{rules};
      if (prober.below(4) == 0) {
        LayerText ceiling{.name = "ceiling",
                          .grants = {random_rule(prober, tool, names, Effect::kAllow)},
                          .asks = {},
                          .denies = {},
                          .files = {}};
        layers.push_back(ceiling);
      }
      if (!world.load(layers)) continue;
      ++loaded;
      Json whole = Json::object();
      for (const auto& name : names) {
        if (name.find_first_of("[.") == std::string::npos && prober.below(3) != 0)
          whole[name] = prober.one_of(usual_values());
      }
      for (int i = 0; i < 4; ++i)
        prober.probe(world, layers, permission_of(tool).value(), whole, usual_values());
    }
    MESSAGE(loaded << " rule sets, " << prober.outlooks[Outlook::kCovered] << " covered, "
                   << prober.outlooks[Outlook::kConditional] << " conditional, "
                   << prober.outlooks[Outlook::kDenied] << " denied, " << prober.decided
                   << " calls decided");
    CHECK(loaded > 300);
    CHECK(prober.outlooks[Outlook::kCovered] > 100);
    CHECK(prober.outlooks[Outlook::kDenied] > 100);
    CHECK(prober.decided > 1000);
    CHECK(prober.remedies > 50);
  }

  TEST_CASE("a denial shows the one rule that came nearest, how many others missed, and a remedy") {
    const World world;
    const Foresight denied = foresee(
        world,
        {.name = "the command line",
         .grants = {"kv.get, filesystem.read_text_file(path within ./a, head 1..3), "
                    "filesystem.read_text_file(head 1..9, path within ./b) calls <= 5",
                    "filesystem.read_text_file(path within ./c)"},
         .asks = {},
         .denies = {},
         .files = {}},
        "filesystem.read_text_file", call({{"path", "/etc/passwd"}, {"head", 7}}, {"tail"}));
    CHECK(denied.outlook == Outlook::kDenied);
    CHECK(denied.rule == "allow filesystem.read_text_file(head 1..9, path within ./b) calls <= 5");
    CHECK(denied.reason == "path \"/etc/passwd\" is not within ./b");
    CHECK(denied.other_rules == 2);
    CHECK(denied.would_grant.empty());  // no rule says what tail may be
    CHECK(denied.no_grant ==
          "what tail will be only the run knows, and no rule says what it may be");
  }

  TEST_CASE("there is no remedy by a grant where a rule forbids or another layer refuses") {
    const World world;
    const CallInSource passwd = call({{"path", "/etc/passwd"}});
    const LayerText data = {.name = "the command line",
                            .grants = {"filesystem.read_text_file(path within ./data)"},
                            .asks = {},
                            .denies = {},
                            .files = {}};
    LayerText forbidding = data;
    forbidding.denies = {"filesystem.read_text_file(path within /etc)"};
    CHECK(foresee(world, forbidding, "filesystem.read_text_file", passwd).would_grant.empty());
    LayerText ceiling = data;
    ceiling.name = "mcpac.policy";
    const auto both = world.load({data, ceiling});
    REQUIRE(both.has_value());
    CHECK(both->foresee(permission_of("filesystem.read_text_file").value(), passwd)
              .would_grant.empty());
  }
}

}  // namespace mcpac::policy::testing
