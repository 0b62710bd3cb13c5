// What tools say that they need, against what the entry of their confined server gives.
#include "project/claimed_needs.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "project/project_place.h"
#include "servers/confine/server_places.h"

using namespace mcpac;
using project::ToolNeeds;

namespace {

// One server with one tool, confined as `members` of its entry say.
struct World {
  World(const std::string& members, const std::string& effects) {
    project.folder = "/work-of/project";
    auto config = mcp::parse_config(
        R"({"mcpServers": {"one": {"command": "node")" + members + "}}}", "mcpac.json");
    REQUIRE(config);
    project.config = std::move(*config);
    OrderedJson definition = {{"name", "t"}};
    definition["_meta"] = {{kEffectsMember, OrderedJson::parse(effects)}};
    server.name = "one";
    server.tools.push_back({"t", "", "", definition});
  }
  // With rules that give and take nothing.
  [[nodiscard]] ToolNeeds needs() const { return needs(project::ServerPlaces()); }
  [[nodiscard]] ToolNeeds needs(project::ServerPlaces by_rules) const {
    const project::PlacesOfServers rules{{"one", std::move(by_rules)}};
    return project::needs_of(project, server, server.tools.front(), &rules);
  }
  [[nodiscard]] ToolNeeds needs_without_rules() const {
    return project::needs_of(project, server, server.tools.front(), nullptr);
  }
  project::Project project;
  codegen::LockedServer server;
};

}  // namespace

TEST_SUITE("execute/claimed needs") {
  TEST_CASE("what is required and not given withholds a tool, what is optional degrades it") {
    struct Case {
      std::string members;
      std::string claim;
      bool is_given;
    };
    const std::string home = project::home_of_user();
    ::setenv("MCPAC_TEST_DATA", "/srv/data", 1);
    ::setenv("MCPAC_TEST_HOST", "host.example", 1);
    ::unsetenv("MCPAC_TEST_NONE");
    for (const auto& [members, claim, is_given] : std::vector<Case>{
             // Without a sandbox nothing is withheld, whatever is claimed.
             {"", R"("effect": "FsRead", "path": "/x")", true},
             {R"(, "sandbox": false)", R"("effect": "NetRead", "host": "a.example")", true},
             {R"(, "sandbox": true)", R"("effect": "FsRead", "path": "./data")", false},
             {R"(, "sandbox": true)", R"("effect": "FsRead")", false},
             {R"(, "sandbox": true)", R"("effect": "FsWrite", "argument": "path")", true},
             {R"(, "sandbox": true)", R"("effect": "FsWrite", "path": "/tmp/x")", true},
             {R"(, "sandbox": {"files": ["./data"]})", R"("effect": "FsRead", "path": "./data/a")",
              true},
             {R"(, "sandbox": {"files": ["./data"]})",
              R"("effect": "FsRead", "path": "/work-of/project/data")", true},
             {R"(, "sandbox": {"files": ["./data"]})",
              R"("effect": "FsRead", "path": "./database")", false},
             {R"(, "sandbox": {"files": ["./data"]})", R"("effect": "FsWrite", "path": "./data")",
              false},
             {R"(, "sandbox": {"files": ["./data:rw"]})",
              R"("effect": "FsWrite", "path": "./data")", true},
             {R"(, "sandbox": {"files": ["./data"]})", R"("effect": "FsWrite")", false},
             {R"(, "sandbox": {"files": [")" + home + R"(/.cache"]})",
              R"("effect": "FsRead", "path": "~/.cache/x")", true},
             // References are what a start makes of them.
             {R"(, "sandbox": {"files": ["${env:MCPAC_TEST_DATA}:rw"]})",
              R"("effect": "FsWrite", "path": "/srv/data/x")", true},
             {R"(, "sandbox": {"files": ["${env:MCPAC_TEST_DATA}"]})",
              R"("effect": "FsRead", "path": "/srv/other")", false},
             // Where they lead nowhere the start says so.
             {R"(, "sandbox": {"files": ["${env:MCPAC_TEST_NONE}"]})",
              R"("effect": "FsRead", "path": "./data")", true},
             {R"(, "sandbox": true)", R"("effect": "NetRead", "host": "a.example:443")", false},
             {R"(, "sandbox": {"network": ["*.example.com:*"]})",
              R"("effect": "NetRead", "host": "https://api.example.com")", true},
             {R"(, "sandbox": {"network": ["*.example.com:443"]})",
              R"("effect": "NetRead", "host": "example.com:80")", false},
             {R"(, "sandbox": {"network": ["*.example.com:443"]})",
              R"("effect": "NetRead", "host": "myexample.com:443")", false},
             {R"(, "sandbox": {"network": ["API.example.com:443"]})",
              R"("effect": "NetRead", "host": "api.example.com:443")", true},
             {R"(, "sandbox": {"network": ["10.0.0.0/8:443"]})",
              R"("effect": "NetRead", "host": "10.1.2.3:443")", true},
             {R"(, "sandbox": {"network": ["10.0.0.0/8:443"]})",
              R"("effect": "NetRead", "host": "11.1.2.3:443")", false},
             {R"(, "sandbox": {"network": ["${env:MCPAC_TEST_HOST}:443"]})",
              R"("effect": "NetRead", "host": "host.example:443")", true},
             {R"(, "sandbox": {"network": ["any"]})",
              R"("effect": "NetRead", "host": "host.example:8443")", true},
             {R"(, "sandbox": {"network": ["any"]})",
              R"("effect": "NetRead", "host": "10.1.2.3:443")", false},
             {R"(, "sandbox": {"network": ["any"]})",
              R"("effect": "EnvRead", "variable": "HTTPS_PROXY")", true},
             {R"(, "sandbox": true)", R"("effect": "NetWrite", "argument": "url")", false},
             {R"(, "sandbox": true)", R"("effect": "Exec", "program": "sh")", true},
             {R"(, "sandbox": true)", R"("effect": "Exec", "program": "no-such-program")", false},
             {R"(, "sandbox": true)", R"("effect": "EnvRead", "variable": "TOKEN")", false},
             {R"(, "sandbox": true)", R"("effect": "EnvRead", "variable": "PATH")", true},
             {R"(, "sandbox": true, "env": {"TOKEN": "${env:TOKEN}"})",
              R"("effect": "EnvRead", "variable": "TOKEN")", true},
             {R"(, "sandbox": true)", R"("effect": "DbRead")", true},
         }) {
      CAPTURE(members);
      CAPTURE(claim);
      const ToolNeeds required = World(members, "[{" + claim + R"(, "required": true}])").needs();
      const ToolNeeds optional = World(members, "[{" + claim + "}]").needs();
      CHECK(required.is_withheld() == !is_given);
      CHECK(required.unmet.empty() == is_given);
      CHECK(optional.unmet.empty() == is_given);
      CHECK_FALSE(optional.is_withheld());
    }
  }

  TEST_CASE(
      "places that the rules of the run give count as given, and what they hold back does not") {
    using policy::FileMode;
    project::ServerPlaces rules;
    rules.given = {
        {"/srv/read", FileMode::kReadOnly, {"--grant: one.t(path within /srv/read)"}},
        {"/srv/write", FileMode::kReadWrite, {"--grant: one.t(path within /srv/write)"}}};
    rules.absent = {
        {"/work-of/project/data/secret", FileMode::kReadOnly, {"mcpac.policy:3: deny"}}};
    rules.read_only = {
        {"/work-of/project/data/kept", FileMode::kReadOnly, {"mcpac.policy:4: deny"}}};
    rules.network_denied = "mcpac.policy:5";
    const std::string entry =
        R"(, "sandbox": {"files": ["./data:rw"], "network": ["a.example:443"]})";
    struct Case {
      std::string effect;
      std::string held_back;  // "-": given; empty: not given by anybody
    };
    for (const auto& [effect, held_back] : std::vector<Case>{
             {R"("FsRead", "path": "/srv/read/x")", "-"},
             {R"("FsWrite", "path": "/srv/read/x")", ""},
             {R"("FsWrite", "path": "/srv/write")", "-"},
             {R"("FsRead", "path": "/srv/reading")", ""},
             {R"("FsWrite", "path": "./data/x")", "-"},
             {R"("FsRead", "path": "./data/secret/x")", "mcpac.policy:3: deny"},
             {R"("FsRead", "path": "./data/kept")", "-"},
             {R"("FsWrite", "path": "./data/kept")", "mcpac.policy:4: deny"},
             {R"("NetRead", "host": "a.example")", "mcpac.policy:5"},
         }) {
      CAPTURE(effect);
      const World world(entry, R"([{"required": true, "effect": )" + effect + "}]");
      const auto needs = world.needs(rules);
      CHECK(needs.unmet.empty() == (held_back == "-"));
      if (needs.unmet.empty()) continue;
      CHECK(needs.is_withheld());
      CHECK(needs.unmet.front().held_back == held_back);
      if (held_back.empty()) continue;
      const auto error = project::withheld_error(Permission::parse("one.t").value(), needs);
      CHECK(error.what.ends_with(", denied by " + held_back));
      CHECK(error.fix.find("take out what denies it: " + held_back) != std::string::npos);
      CHECK(error.fix.find("\"sandbox\"") == std::string::npos);
    }
  }

  TEST_CASE("where the rules are not known nothing is withheld for a place that they may give") {
    const World files(R"(, "sandbox": true)",
                      R"([{"effect": "FsRead", "path": "./data", "required": true}])");
    CHECK(files.needs().is_withheld());
    const auto needs = files.needs_without_rules();
    CHECK_FALSE(needs.is_withheld());
    CHECK(project::needs_text(needs) ==
          "in need of a rule: it says it needs: reads ./data (required), which its entry does not "
          "give, and rules of a run may");
    const World both(R"(, "sandbox": true)",
                     R"([{"effect": "FsRead", "path": "./data", "required": true},
                         {"effect": "NetRead", "host": "a.example", "required": true}])");
    CHECK(project::needs_text(both.needs_without_rules()) ==
          "not offered: it says it needs: network a.example:443 (required), which its entry does "
          "not give");
  }

  TEST_CASE("a claim of /tmp is met by the server's own in tier A, and by no start in tier B") {
    for (const char* place : {"/tmp/x", "/var/tmp"}) {
      const World world(
          R"(, "sandbox": {"files": ["/tmp/given:rw"]})",
          fmt::format(R"([{{"effect": "FsWrite", "path": "{}", "required": true}}])", place));
      project::ServerPlaces rules;
      CHECK_FALSE(world.needs(rules).is_withheld());
      CHECK(world.needs_without_rules().unmet.empty());
      rules.tier = sandbox::Tier::kB;
      CHECK(world.needs(rules).is_withheld());
    }
  }

  TEST_CASE("the error says the claim and the line, and nothing of optional ones") {
    const World world(R"(, "sandbox": {"files": ["./data"]})",
                      R"([{"effect": "FsRead", "path": "./more"},
                          {"effect": "FsWrite", "path": "./data", "required": true},
                          {"effect": "EnvRead", "variable": "TOKEN", "required": true}])");
    const auto error = project::withheld_error(Permission::parse("one.t").value(), world.needs());
    CHECK(error.id == ErrorId::kToolWithheld);
    CHECK(error.what ==
          "one.t is not offered: it says it needs: variable TOKEN; writes ./data (required), which "
          "its entry does not give");
    CHECK(error.fix.find(
              R"("env": {"TOKEN": "${env:TOKEN}"}, "sandbox": {"files": ["./data:rw"]})") !=
          std::string::npos);
    CHECK(error.fix.find("./more") == std::string::npos);
  }

  TEST_CASE("claims come to entries of a sandbox, each with who said it") {
    World world(R"(, "sandbox": true)", R"([{"effect": "FsRead", "path": "./data"},
        {"effect": "FsWrite", "path": "./data", "required": true}, {"effect": "FsRead"},
        {"effect": "FsRead", "path": "~/x"}, {"effect": "NetRead", "argument": "url"}, "Exec"])");
    world.server.claims =
        read_manifest(R"({"effects": [{"effect": "NetRead", "host": "api.example.com"},
                                      {"effect": "FsRead", "path": "./data", "tool": "u"}]})")
            .list;
    const auto entries = project::entries_of_claims(world.server);
    REQUIRE(entries.files.size() == 2);
    CHECK(entries.files[0].text == "./data:rw");
    CHECK(entries.files[0].reason == "the server says: t writes ./data (required)");
    CHECK(entries.files[1].text == project::home_of_user() + "/x");
    REQUIRE(entries.network.size() == 1);
    CHECK(entries.network[0].text == "api.example.com:443");
    CHECK(entries.network[0].reason ==
          "the server says: one network api.example.com:443 (optional)");
  }
}
