// What tools say that they need, against what the entry of their confined server gives.
#include "execute/project/claimed_needs.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "execute/project/project_place.h"

using namespace mcpac;
using execute::ToolNeeds;

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
  [[nodiscard]] ToolNeeds needs() const {
    return execute::needs_of(project, server, server.tools.front());
  }
  execute::Project project;
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
    const std::string home = execute::home_of_user();
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
             {R"(, "sandbox": true)", R"("effect": "NetRead", "host": "a.example:443")", false},
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

  TEST_CASE("the error says the claim and the line, and nothing of optional ones") {
    const World world(R"(, "sandbox": {"files": ["./data"]})",
                      R"([{"effect": "FsRead", "path": "./more"},
                          {"effect": "FsWrite", "path": "./data", "required": true},
                          {"effect": "EnvRead", "variable": "TOKEN", "required": true}])");
    const auto error = execute::withheld_error(Permission::parse("one.t").value(), world.needs());
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
    const auto entries = execute::entries_of_claims(world.server);
    REQUIRE(entries.files.size() == 2);
    CHECK(entries.files[0].text == "./data:rw");
    CHECK(entries.files[0].reason == "the server says: t writes ./data (required)");
    CHECK(entries.files[1].text == execute::home_of_user() + "/x");
    REQUIRE(entries.network.size() == 1);
    CHECK(entries.network[0].text == "api.example.com:443");
    CHECK(entries.network[0].reason ==
          "the server says: one network api.example.com:443 (optional)");
  }
}
