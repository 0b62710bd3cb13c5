#include "run/check/check.h"

#include <doctest/doctest.h>

#include "core/clock.h"
#include "run/check/authorities.h"
#include "run/check/require_granted.h"

using namespace mcpac;

namespace {

struct World {
  policy::ToolSchemas tools;
  SystemClock clock;
  World() {
    const Json schema = {{"type", "object"},
                         {"properties", {{"path", {{"type", "string"}}}}},
                         {"additionalProperties", false}};
    for (const char* name : {"fs.read", "fs.write", "gh.issues.create"})
      tools.emplace(Permission::parse(name).value(), schema);
  }
  policy::Authority grant(const std::string& text) const {
    policy::LayerText layer;
    layer.name = "the command line";
    if (!text.empty()) layer.grants = {text};
    auto authority = policy::Authority::load(
        {layer}, {.tools = &tools, .resolver = nullptr, .clock = &clock, .bases = {}});
    REQUIRE(authority.has_value());
    return std::move(*authority);
  }
};

policy::Authority with_places(const World& world, const std::vector<std::string>& places,
                              const std::optional<std::vector<std::string>>& ceiling = {}) {
  policy::LayerText run;
  run.name = "the command line";
  run.places = places;
  std::vector<policy::LayerText> layers = {run};
  if (ceiling) {
    policy::LayerText above;
    above.name = "mcpac.policy";
    above.places = *ceiling;
    layers.push_back(above);
  }
  auto authority = policy::Authority::load(
      layers, {.tools = &world.tools, .resolver = nullptr, .clock = &world.clock, .bases = {}});
  REQUIRE(authority.has_value());
  return std::move(*authority);
}

analyzer::Report declaring_each(const std::vector<std::string>& permissions) {
  analyzer::Report report;
  for (const auto& permission : permissions)
    report.declared.push_back({permission, "", "agent.cpp", 1, 1});
  return report;
}

analyzer::Report narrowing(const std::string& permission, const std::string& where) {
  analyzer::Report report;
  report.declared.push_back({permission, where, "agent.cpp", 1, 1});
  return report;
}

}  // namespace

TEST_SUITE("execute/check") {
  TEST_CASE("options may name tools as C++ does, where that is one tool and no other's name") {
    codegen::Lock lock;
    const auto add = [&lock](const std::string& name, const std::string& cpp,
                             std::vector<std::pair<std::string, std::string>> tools) {
      auto& server = lock.servers.emplace_back();
      server.name = name;
      server.cpp_name = "mcp::" + cpp;
      for (const auto& [tool, of_cpp] : tools) {
        auto& one = server.tools.emplace_back();
        one.name = tool;
        one.cpp_name = server.cpp_name + "::" + of_cpp;
      }
    };
    add("every-thing", "every_thing", {{"get-sum", "get_sum"}, {"delete", "delete_"}});
    // `a_b` is the name of the second: the first is meant by none of its names but its own.
    add("two", "two", {{"a-b", "a_b_1"}, {"a_b", "a_b"}});
    std::vector<std::string> notes;
    run::Listener listener;
    listener.note = [&notes](std::string_view text) { notes.emplace_back(text); };
    policy::LayerText layer;
    layer.grants = {"every_thing.get_sum(a == \"get_sum\"), two.a_b, every-thing.get-sum", "two.*",
                    "no rule ((", "every_thing.delete_"};
    layer.denies = {"network", "two.a_b_1", "gone.x"};
    REQUIRE(run::name_as_locked(layer, lock, listener).has_value());
    CHECK(layer.grants == std::vector<std::string>{
                              "every-thing.get-sum(a == \"get_sum\"), two.a_b, every-thing.get-sum",
                              "two.*", "no rule ((", "every-thing.delete"});
    CHECK(layer.denies == std::vector<std::string>{"network", "two.a-b", "gone.x"});
    CHECK(notes.size() == 3);
    CHECK(notes.front() == "--grant every_thing.get_sum: the tool is every-thing.get-sum");
    layer.asks = {"two.a_c"};
    const auto unknown = run::name_as_locked(layer, lock, listener);
    REQUIRE_FALSE(unknown.has_value());
    CHECK(unknown.error().id == ErrorId::kRuleUnknownName);
    CHECK(unknown.error().what == "the lock knows none of two.a_c, gone.x");
    CHECK(unknown.error().fix.starts_with("did you mean for two.a_c: two.a"));
  }

  TEST_CASE("what is declared and not granted is missing, with the text to add") {
    const World world;
    const auto result =
        run::check(declaring_each({"fs.read", "fs.write"}), world.grant("")).value();
    CHECK_FALSE(result.ok());
    CHECK(result.missing == std::vector<std::string>{"fs.read", "fs.write"});
    CHECK(result.fix == "--grant fs.read,fs.write");
    CHECK(run::check(declaring_each({"fs.read"}), world.grant("fs.read,fs.write")).value().ok());
  }

  TEST_CASE("the fix is what the calls in the source need, where that is known before the run") {
    const World world;
    auto report = declaring_each({"fs.read", "fs.write"});
    const auto use = [&](const char* permission, std::optional<std::string> path) {
      analyzer::Use made;
      made.permission = permission;
      made.file = "agent.cpp";
      made.arguments["path"] = {.is_constant = path.has_value(),
                                .value = path ? Json(*path) : Json(nullptr)};
      report.uses.push_back(made);
    };
    use("fs.read", "a");
    use("fs.read", "b");
    use("fs.read", "a");
    use("fs.write", std::nullopt);
    const auto result = run::check(report, world.grant("")).value();
    CHECK(result.to_grant == std::vector<std::string>{"fs.read(path == \"a\")",
                                                      "fs.read(path == \"b\")",
                                                      "fs.write(?path any)"});
    CHECK(result.unknown == std::vector<std::string>{"fs.write"});
    CHECK(result.fix ==
          "--grant 'fs.read(path == \"a\"),fs.read(path == \"b\"),fs.write(?path any)'");
    for (int i = 0; i < 20; ++i) use("fs.read", std::to_string(i));
    CHECK(run::check(report, world.grant("")).value().fix ==
          "--policy FILE, which `mcpac policy suggest '' -o FILE` writes");
  }

  TEST_CASE("what a rule denies is to be taken out of the program, and the rule stands") {
    const World world;
    policy::LayerText layer;
    layer.name = "the command line";
    layer.grants = {"fs.*"};
    layer.denies = {"fs.write"};
    const auto authority = policy::Authority::load(
        {layer}, {.tools = &world.tools, .resolver = nullptr, .clock = &world.clock, .bases = {}});
    REQUIRE(authority.has_value());
    const auto result = run::check(declaring_each({"fs.read", "fs.write"}), *authority).value();
    CHECK(result.missing == std::vector<std::string>{"fs.write"});
    CHECK(result.to_grant.empty());
    CHECK(result.fix == "take what `deny fs.write` (--deny) denies out of the program");
    CHECK(result.blocked ==
          std::vector<std::string>{"`deny fs.write` (--deny) stands, whatever is granted"});
  }

  TEST_CASE("files and network are missing until a place is granted, with the options to add") {
    const World world;
    const auto report = declaring_each({"fs.read", "mcpac.files", "mcpac.network"});
    const auto none = run::check(report, world.grant("")).value();
    CHECK(none.missing == std::vector<std::string>{"fs.read", "mcpac.files", "mcpac.network"});
    CHECK(none.fix == "--grant fs.read --files ./PATH --network HOST:PORT");
    const auto files = declaring_each({"mcpac.files"});
    CHECK(run::check(files, with_places(world, {"files /a read-only"})).value().ok());
    CHECK(run::check(files, with_places(world, {"network any"})).value().fix == "--files ./PATH");
  }

  TEST_CASE("a ceiling that admits none of the places is what has to be changed") {
    const World world;
    const auto files = declaring_each({"mcpac.files"});
    for (const auto& ceiling : {std::vector<std::string>{}, {"files /b read-write"}}) {
      const auto result =
          run::check(files, with_places(world, {"files /a read-only"}, ceiling)).value();
      CHECK_FALSE(result.ok());
      CHECK(result.fix == "`files ./PATH read-only` in mcpac.policy");
    }
    const auto denied =
        run::check(declaring_each({"mcpac.network"}),
                   with_places(world, {"network any"},
                               std::vector<std::string>{"network any", "deny network"}))
            .value();
    CHECK_FALSE(denied.ok());
    CHECK(denied.fix.empty());
    CHECK(denied.blocked.front().starts_with("network is denied by mcpac.policy:1"));
  }

  TEST_CASE("places that are granted and not declared are named") {
    const World world;
    const auto result = run::check(declaring_each({"mcpac.files"}),
                                   with_places(world, {"files /a read-only", "network any"}))
                            .value();
    CHECK(result.ok());
    CHECK(result.extra == std::vector<std::string>{"mcpac.network"});
  }

  TEST_CASE("the layer of a declaration holds kinds of places apart from its rules") {
    const auto layer = run::declaration_layer({"fs.read", "mcpac.network"});
    CHECK(layer.grants == std::vector<std::string>{"fs.read"});
    CHECK(layer.declared == policy::DeclaredPlaces{.files = false, .network = true});
  }

  TEST_CASE("the text to add loads and covers, whatever the tool is called") {
    const World world;
    const auto result = run::check(declaring_each({"gh.issues.create"}), world.grant("")).value();
    CHECK(result.fix == R"(--grant 'gh."issues.create"')");
    CHECK(run::check(declaring_each({"gh.issues.create"}), world.grant(R"(gh."issues.create")"))
              .value()
              .ok());
  }

  TEST_CASE("a grant for some arguments is conditional, not missing") {
    const World world;
    const auto result =
        run::check(declaring_each({"fs.read"}), world.grant("fs.read(path == \"a\")")).value();
    CHECK(result.ok());
    CHECK(result.conditional == std::vector<std::string>{"fs.read"});
  }

  TEST_CASE("a condition with an apostrophe stays one word of the shell") {
    const World world;
    const auto report = narrowing("fs.read", R"(path == "it's; touch /tmp/PWN")");
    const auto result = run::check(report, world.grant("")).value();
    CHECK(result.fix == R"(--grant 'fs.read(path == "it'\''s; touch /tmp/PWN")')");
    CHECK(run::check(report, world.grant(result.to_grant.front())).value().ok());
  }

  TEST_CASE("a condition that is no rule for exactly its tool is neither shown nor granted") {
    const World world;
    for (const char* where :
         {R"(path == "x" or 'y'; touch /tmp/PWN #)", R"(path == "x"),fs.write(path == "y")",
          R"(path == "x"), fs.write)", R"(path == "x") calls <= 9)", R"(..),fs.write(..)", ")", "(",
          "path", "path re /a\x1b[31mb/", "path re /a\u200bb/", "path == \"\u202e\""}) {
      INFO(where);
      const auto report = narrowing("fs.read", where);
      CHECK_FALSE(run::check(report, world.grant("fs.read")));
      CHECK_FALSE(run::check(report, world.grant("")));
      CHECK_FALSE(run::declared_rules(report));
      CHECK_FALSE(run::grant_text(Permission::parse("fs.read").value(), where));
    }
  }

  TEST_CASE("a condition is printed as it was parsed, without what was no part of it") {
    const auto fs_read = Permission::parse("fs.read").value();
    CHECK(run::grant_text(fs_read, "path  ==\t\"x\" # ) or more").value() ==
          R"(fs.read(path == "x"))");
    CHECK(run::grant_text(fs_read).value() == "fs.read");
    CHECK(run::declared_rules(narrowing("fs.read", "path within ./data")).value() ==
          std::vector<std::string>{"fs.read(path within ./data)"});
  }

  TEST_CASE("what is granted by name and not declared is extra") {
    const World world;
    CHECK(run::check(declaring_each({"fs.read"}), world.grant("fs.read,fs.write")).value().extra ==
          std::vector<std::string>{"fs.write"});
  }
}
