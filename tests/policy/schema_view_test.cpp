// References within a schema, as rules follow them: whatever a server writes.
#include "policy/rules/schema_view.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "policy/match/readings.h"
#include "policy/support_world.h"

namespace mcpac::policy::testing {
namespace {

// Each level names all of the next one so many times; "path" is a member of the last.
Json multiplying(int width, int levels) {
  Json schema{{"type", "object"}, {"$defs", Json::object()}};
  Json* at = &schema;
  for (int level = 0; level < levels; ++level) {
    const std::string name = fmt::format("d{}", level);
    for (int i = 0; i < width; ++i)
      (*at)["allOf"].push_back({{"$ref", fmt::format("#/$defs/{}", name)}});
    at = &(schema["$defs"][name] = Json::object());
  }
  (*at)["properties"]["path"] = {{"type", "string"}};
  return schema;
}

Json unnamed_members(int count) {
  Json call = Json::object();
  for (int i = 0; i < count; ++i) call[fmt::format("m{}", i)] = "x";
  return call;
}

// What the policy answers, with one tool of this schema, "a.b".
Effect effect(const Json& schema, const std::string& grant, const std::string& deny,
              const Json& call) {
  const World world("2026-06-01T12:00:00Z", Json{{"a.b", schema}});
  auto authority = world.load(
      {{.name = "the command line", .grants = {grant}, .asks = {}, .denies = {deny}, .files = {}}});
  REQUIRE(authority);
  const auto tool = Permission::parse("a.b").value();
  const Decision decision = authority->decide(tool, call);
  CHECK(authority->explain(tool, call).decision.effect == decision.effect);
  return decision.effect;
}

}  // namespace

TEST_CASE("a reference that leads nowhere is one of which nothing is known") {
  for (const char* reference :
       {"#/allOf/99999999999999999999999", "#/allOf/01x", "#/allOf/-", "#/allOf/7", "#/allOf/",
        "#/allOf/0/type/x", "#/~2", "#/~", "#anchor", "", "other.json", "#/$ref", "#"}) {
    CAPTURE(reference);
    const Json schema = {{"type", "object"},
                         {"allOf", {{{"type", "object"}}}},
                         {"properties", {{"key", {{"$ref", reference}}}}}};
    const SchemaView view(schema);
    CHECK_NOTHROW(std::ignore = view.names_member("key"));
    CHECK_NOTHROW(std::ignore = SchemaView(Json{{"$ref", reference}, {"allOf", Json::array()}}));
    const World world("2026-06-01T12:00:00Z", Json{{"a.b", schema}});
    Result<Authority> loaded = fail(ErrorId::kInternal, "not tried");
    CHECK_NOTHROW(loaded = world.grant({"a.b(..)"}));
    CHECK(loaded);
  }
}

TEST_CASE("a reference is followed through members, elements and escaped names") {
  const Json schema = Json::parse(R"({
    "$defs": {"a/b": {"type": "string"}, "list": [{"type": "number"}, {"type": "boolean"}]},
    "type": "object",
    "properties": {"x": {"$ref": "#/$defs/a~1b"}, "y": {"$ref": "#/$defs/list/1"}}})");
  const SchemaView view(schema);
  CHECK(view.member("x")->types() == kStringType);
  CHECK(view.member("y")->types() == kBooleanType);
}

TEST_CASE("an allOf that leads back into itself is looked at once") {
  for (
      const char* text :
      {R"({"type":"object","allOf":[{"$ref":"#"},{"properties":{"path":{"type":"string"}}}]})",
       R"({"type":"object","allOf":[{"$ref":"#/allOf/0"},{"properties":{"path":{"type":"string"}}}]})",
       R"({"type":"object","allOf":[{"allOf":[{"$ref":"#/allOf/0"},{"$ref":"#"}]},
            {"properties":{"path":{"type":"string"}}}]})",
       R"({"type":"object","$ref":"#/$defs/a","$defs":{
            "a":{"allOf":[{"$ref":"#/$defs/b"},{"properties":{"path":{"type":"string"}}}]},
            "b":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/c"}]},
            "c":{"$ref":"#/$defs/d"},"d":{"$ref":"#/$defs/c"}}})"}) {
    CAPTURE(text);
    const Json schema = Json::parse(text);
    const SchemaView view(schema);
    CHECK(view.names_member("path"));
    CHECK_FALSE(view.names_member("other"));
    REQUIRE(view.member("path"));
    CHECK(view.member("path")->types() == kStringType);
    REQUIRE(view.member("other"));
    CHECK(view.member("other")->text() == nullptr);
    CHECK(view.member_names() == std::vector<std::string>{"path"});
    for (const char* rule : {R"(a.b(path == "z"))", R"(*.*(path == "z"))"}) {
      CHECK(effect(schema, "a.b", rule, {{"path", "z"}}) == Effect::kDeny);
      CHECK(effect(schema, "a.b", rule, {{"path", "y"}}) == Effect::kAllow);
    }
    CHECK(effect(schema, R"(a.b(path == "z"))", R"(a.b(* == "y"))", {{"path", "z"}}) ==
          Effect::kAllow);
    CHECK(effect(schema, R"(*.*(path == "z"))", R"(a.b(* == "y"))", {{"path", "y"}}) ==
          Effect::kDeny);
  }
}

TEST_CASE("an allOf that multiplies at each level is looked at once") {
  const Json schema = multiplying(6, 9);
  const SchemaView view(schema);
  CHECK(view.member("path")->types() == kStringType);
  CHECK(view.member_names() == std::vector<std::string>{"path"});
  CHECK(effect(schema, "a.b", R"(a.b(* == "path"))", unnamed_members(60)) == Effect::kAllow);
  CHECK(effect(schema, "a.b", R"(a.b(* == "path"))", {{"path", "x"}}) == Effect::kAllow);
  CHECK(effect(schema, "a.b", R"(a.b(* == "m59"))", unnamed_members(60)) == Effect::kDeny);
  // 60^9 ways, which no run would come to the end of.
  const Json wide = multiplying(60, 9);
  CHECK_FALSE(SchemaView(wide).names_member("other"));
  CHECK(effect(wide, "a.b", R"(a.b(* == "m59"))", unnamed_members(60)) == Effect::kDeny);
  CHECK(effect(wide, "a.b", R"(a.b(* == "z"))", unnamed_members(60)) == Effect::kAllow);
}

TEST_CASE("beyond the bound of an allOf nothing is known, and a name counts as not named") {
  Json schema{{"type", "object"}};
  for (int i = 0; i < 1'000; ++i)
    schema["allOf"].push_back({{"properties", {{fmt::format("p{}", i), {{"type", "string"}}}}}});
  const SchemaView view(schema);
  CHECK(view.member("p0")->types() == kStringType);
  CHECK_FALSE(view.names_member("p999"));
  REQUIRE(view.member("p999"));
  CHECK(view.member("p999")->text() == nullptr);
  const auto names = view.member_names();
  CHECK(names.size() > 100);
  CHECK(names.size() < 1'000);
  CHECK(std::ranges::all_of(names, [&](const auto& name) { return view.names_member(name); }));
  CHECK(effect(schema, "a.b", R"(a.b(* starts "p"))", {{"p0", "x"}}) == Effect::kAllow);
  CHECK(effect(schema, "a.b", R"(a.b(* starts "p"))", {{"p999", "x"}}) == Effect::kDeny);
  CHECK(effect(schema, "a.b", R"(a.b(p999 == "x"))", {{"p999", "x"}}) == Effect::kDeny);
}

TEST_CASE("names that several parts of an allOf have are listed once, in the order of the text") {
  const Json schema = Json::parse(R"({"properties":{"b":{},"c":{"type":"string"}},"allOf":[
    {"properties":{"d":{},"c":{"type":"number"}},"allOf":[{"properties":{"a":{}}}]},
    {"properties":{"a":{},"e":{}}}]})");
  const SchemaView view(schema);
  CHECK(view.member_names() == std::vector<std::string>{"b", "c", "d", "a", "e"});
  CHECK(view.member("c")->types() == kStringType);
}

TEST_CASE("a format of places is asked before a name, and a name before a description") {
  const Json schema = Json::parse(R"({"properties":{
    "pattern":{"type":"string","format":"path"}, "note":{"type":"string","format":"URI"},
    "content":{"type":"string","description":"Written to the path."},
    "command":{"type":"string","format":"date"},
    "where":{"type":"string","description":"Some baseFolder, or more"},
    "what":{"type":"string","description":"The pathology of a profile"}}})");
  const SchemaView view(schema);
  KnownReadings known;
  for (auto* kept : {static_cast<KnownReadings*>(nullptr), &known, &known}) {
    CHECK(view.meaning_of("pattern", kept) == MeantAs::kPlace);
    CHECK(view.meaning_of("note", kept) == MeantAs::kPlace);
    CHECK(view.meaning_of("content", kept) == MeantAs::kText);
    CHECK(view.meaning_of("command", kept) == MeantAs::kCommand);
    CHECK(view.meaning_of("where", kept) == MeantAs::kPlace);
    CHECK(view.meaning_of("what", kept) == MeantAs::kUnknown);
    CHECK(view.meaning_of("path", kept) == MeantAs::kUnknown);  // not of the schema
  }
  // An empty place is the folder that the server starts from.
  CHECK(effect(schema, "a.b", "*.*(* within ./)", {{"note", ""}}) == Effect::kDeny);
  CHECK(effect(schema, "a.b", "*.*(* within ./)", {{"content", ""}}) == Effect::kAllow);
}

TEST_CASE("a reference longer than any that is written leads nowhere") {
  const std::string name(2'000, 'a');
  const Json schema{{"$ref", "#/$defs/" + name}, {"$defs", {{name, {{"type", "string"}}}}}};
  CHECK(SchemaView(schema).text() == nullptr);
}

TEST_CASE("a default of many objects with many members is filled within bounds") {
  Json item{{"properties", Json::object()}};
  for (int i = 0; i < 5'000; ++i) item["properties"][fmt::format("m{}", i)] = Json::object();
  const Json standard = Json(Json::array_t(5'000, Json::object()));
  const Json schema{{"default", standard}, {"items", item}};
  CHECK(SchemaView(schema).filled_default() == standard);
  CHECK(SchemaView(schema).equals_default(standard));
}

}  // namespace mcpac::policy::testing
