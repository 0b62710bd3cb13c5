#include "policy/explain/rules_about.h"

#include <doctest/doctest.h>

using namespace mcpac;
using namespace mcpac::policy;

TEST_SUITE("policy/rules about") {
  TEST_CASE("a tool's rules are told layer by layer, without what they say of other tools") {
    LayerRules own{
        .name = "the command line",
        .rules = {
            {.text = "allow fs.read(path within \"./data\"), secret.tool calls <= 3", .place = ""},
            {.text = "allow other.tool", .place = ""},
            {.text = "deny fs.*", .place = "", .effect = Effect::kDeny}}};
    LayerRules declared{.name = "the program", .rules = {{.text = "allow fs.read", .place = ""}}};
    declared.declared = DeclaredPlaces{};
    const LayerRules ceiling{.name = "mcpac.policy",
                             .rules = {{.text = "ask *.*", .place = "", .effect = Effect::kAsk}}};
    const auto lines = rules_about({own, declared, ceiling}, Permission::parse("fs.read").value());
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].starts_with("the command line: allow fs.read(path within"));
    CHECK(lines[0].ends_with("calls <= 3"));
    CHECK(lines[0].find("secret") == std::string::npos);
    CHECK(lines[1] == "the command line: deny fs.*");
    CHECK(lines[2].starts_with("mcpac.policy: ask"));
  }
}
