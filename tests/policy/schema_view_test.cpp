// References within a schema, as rules follow them: whatever a server writes.
#include "policy/rules/schema_view.h"

#include <doctest/doctest.h>

#include "policy/support_world.h"

namespace mcpac::policy::testing {

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

}  // namespace mcpac::policy::testing
