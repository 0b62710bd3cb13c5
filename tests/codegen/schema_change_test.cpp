#include "codegen/schema_change.h"

#include <doctest/doctest.h>

#include <iterator>
#include <map>
#include <random>
#include <string>

#include "core/json_schema.h"

using namespace mcpac;
using namespace mcpac::codegen;

namespace {

SchemaChanges changes(const std::string& before, const std::string& after,
                      SchemaSide side = SchemaSide::kInput) {
  return compare_schemas(OrderedJson::parse(before), OrderedJson::parse(after), side);
}

// "narrowed /properties/a/type", one a change.
std::string said(const std::string& before, const std::string& after,
                 SchemaSide side = SchemaSide::kInput) {
  std::string text;
  for (const SchemaChange& change : changes(before, after, side).list) {
    text +=
        (text.empty() ? "" : "; ") + std::string(to_string(change.effect)) + " " + change.pointer;
  }
  return text;
}

}  // namespace

TEST_SUITE("codegen/schema change") {
  TEST_CASE("equal schemas have no change, however they are written") {
    CHECK(said("{}", "{}").empty());
    CHECK(said(R"({"maximum": 1})", R"({"maximum": 1.0})").empty());
  }

  TEST_CASE("what means the same in another way is said, and is only words") {
    CHECK(said(R"({"type": "object", "required": ["a", "b"]})",
               R"({"required": ["b", "a"], "type": ["object"]})") ==
          "words /required; words /type");
    CHECK(said(R"({"enum": [1, 2]})", R"({"enum": [2, 1]})") == "words /enum");
    CHECK(said(R"({"const": 1})", R"({"enum": [1]})") == "words /enum; words /const");
    CHECK(said(R"({"uniqueItems": false})", "{}") == "words /uniqueItems");
    CHECK(said(R"({"properties": {"a": true, "b": {"maximum": 1}}})",
               R"({"properties": {"a": {}, "b": {"maximum": 2}}})") ==
          "words /properties/a; widened /properties/b/maximum");
    CHECK(said(R"({"properties": {}})", "{}") == "words /properties");
    CHECK(said(R"({"required": ["a", 1]})", R"({"required": ["a", 2]})") == "changed /required");
    CHECK(said(R"({"oneOf": [{"minimum": 1}]})",
               R"({"oneOf": [{"minimum": 1}, {"minimum": 1}]})") == "changed /oneOf");
    CHECK(said(R"({"$schema": "http://json-schema.org/draft-07/schema#"})", "{}") ==
          "changed /$schema");
  }

  TEST_CASE("words that a reference can make a schema of are not only words") {
    CHECK(said(R"({"examples": [1]})", R"({"examples": [2]})") == "words /examples");
    CHECK(said(R"({"$ref": "#/examples/0", "examples": [{"enum": [1]}]})",
               R"({"$ref": "#/examples/0", "examples": [{"enum": [1, 2]}]})") ==
          "changed /examples");
    CHECK(said(R"({"$ref": "#/$defs/0", "$defs": [{"enum": [1]}]})",
               R"({"$ref": "#/$defs/0", "$defs": [{"enum": [1, 2]}]})") == "changed /$defs");
    CHECK(said(R"({"$ref": "#/enum/0", "enum": [{"minimum": 1}, {}]})",
               R"({"$ref": "#/enum/0", "enum": [{}, {"minimum": 1}]})") == "changed /enum");
  }

  TEST_CASE("a bound that tightens narrows, one that loosens widens") {
    CHECK(said(R"({"maximum": 10})", R"({"maximum": 9})") == "narrowed /maximum");
    CHECK(said(R"({"maximum": 10})", R"({"maximum": 11})") == "widened /maximum");
    CHECK(said(R"({"minLength": 1})", R"({"minLength": 2})") == "narrowed /minLength");
    CHECK(said(R"({"minLength": 2})", R"({})") == "widened /minLength");
    CHECK(said("{}", R"({"exclusiveMinimum": 0})") == "narrowed /exclusiveMinimum");
    // Every digit counts: as doubles these are equal.
    CHECK(said(R"({"maximum": 9007199254740993})", R"({"maximum": 9007199254740992})") ==
          "narrowed /maximum");
    CHECK(said(R"({"exclusiveMinimum": true})", R"({"exclusiveMinimum": 3})") ==
          "changed /exclusiveMinimum");
    CHECK(said(R"({"multipleOf": 2})", R"({"multipleOf": 4})") == "narrowed /multipleOf");
    CHECK(said(R"({"multipleOf": 4})", R"({"multipleOf": 2})") == "widened /multipleOf");
    CHECK(said(R"({"multipleOf": 2})", R"({"multipleOf": 3})") == "changed /multipleOf");
  }

  TEST_CASE("types: fewer, more, others; an integer is a number") {
    CHECK(said(R"({"type": ["string", "null"]})", R"({"type": "string"})") == "narrowed /type");
    CHECK(said(R"({"type": "integer"})", R"({"type": "number"})") == "widened /type");
    CHECK(said(R"({"type": "string"})", "{}") == "widened /type");
    CHECK(said(R"({"type": "string"})", R"({"type": "number"})") == "changed /type");
  }

  TEST_CASE("allowed values, as enum or as const") {
    CHECK(said(R"({"enum": ["a", "b"]})", R"({"enum": ["a"]})") == "narrowed /enum");
    CHECK(said(R"({"enum": ["a"]})", R"({"enum": ["b", "a"]})") == "widened /enum");
    CHECK(said(R"({"enum": ["a"]})", R"({"enum": ["b"]})") == "changed /enum");
    CHECK(said(R"({"const": "a"})", R"({"enum": ["b", "a"]})") == "widened /enum");
    CHECK(said("{}", R"({"const": 1})") == "narrowed /const");
  }

  TEST_CASE("properties and what is required, with their pointers") {
    const std::string one = R"({"properties": {"a/b": {"type": "string"}}})";
    CHECK(said(one, R"({"properties": {"a/b": {"type": "string"}, "c": {}}})") ==
          "widened /properties/c");
    CHECK(said(one, R"({"properties": {"a/b": {"type": "string"}, "c": {}}, "required": ["c"]})") ==
          "narrowed /properties/c");
    CHECK(said(one, R"({"properties": {}})") == "changed /properties/a~1b");
    CHECK(said(one, R"({"properties": {"a/b": {"type": "string"}}, "required": ["a/b"]})") ==
          "narrowed /required");
    CHECK(said(one, R"({"properties": {"a/b": {"type": "string", "maxLength": 4}}})") ==
          "narrowed /properties/a~1b/maxLength");
    CHECK(said(R"({"additionalProperties": false})", "{}") == "widened /additionalProperties");
    CHECK(said("{}", R"({"additionalProperties": {"type": "string"}})") ==
          "narrowed /additionalProperties/type");
  }

  // Each of these was once said to be safe, and is not.
  TEST_CASE("a member that comes or goes is judged with what its neighbours say of it") {
    // Any value was valid under that name.
    CHECK(said(R"({"properties": {}})", R"({"properties": {"c": {"type": "string"}}})") ==
          "changed /properties/c");
    CHECK(said("{}", R"({"properties": {"c": false}})") == "changed /properties/c");
    CHECK(said(R"({"additionalProperties": {"type": "integer"}})",
               R"({"additionalProperties": {"type": "integer"}, "properties": {"c": {}}})") ==
          "changed /properties/c");
    const std::string closed = R"({"properties": {"a": {}}, "additionalProperties": false)";
    const auto also = [&closed](const std::string& more) { return closed + more + "}"; };
    const std::string two =
        R"({"properties": {"a": {}, "c": {"type": "string"}}, "additionalProperties": false)";
    CHECK(said(also(""), two + "}") == "widened /properties/c");
    CHECK(said(two + "}", also("")) == "narrowed /properties/c");
    CHECK(said(also(""), two + R"(, "required": ["c"]})") == "changed /properties/c");
    CHECK(said(two + R"(, "required": ["c"]})", also("")) == "changed /properties/c");
    const std::string pattern = R"(, "patternProperties": {"^c": {"type": "integer"}})";
    CHECK(said(also(pattern), two + pattern + "}") == "changed /properties/c");
    CHECK(said(also(pattern), also("")) == "changed /patternProperties/^c");
    CHECK(said(also(""), also(pattern)) == "changed /patternProperties/^c");
    CHECK(said("{}", R"({"patternProperties": {"^c": {"type": "integer"}}})") ==
          "narrowed /patternProperties/^c");
    const std::string items = R"("items": {"type": "integer"})";
    CHECK(said(R"({"prefixItems": [{"type": "string"}], )" + items + "}", "{" + items + "}") ==
          "changed /prefixItems");
    CHECK(said("{" + items + "}", R"({"prefixItems": [{}], )" + items + "}") ==
          "changed /prefixItems");
  }

  TEST_CASE("what is referred to from below a not, or stands beside unevaluated, is changed") {
    const auto schema = [](const std::string& more, int maximum) {
      return "{" + more + R"(, "properties": {"a": {"maximum": )" + std::to_string(maximum) + "}}}";
    };
    for (const char* more :
         {R"("not": {"$ref": "#/properties/a"})", R"("oneOf": [{"$ref": "#"}])",
          R"("not": {"$ref": "#/$defs/b"}, "$defs": {"b": {"$ref": "#/properties/a"}})",
          R"("unevaluatedProperties": false)"}) {
      CHECK(said(schema(more, 3), schema(more, 2)) == "changed /properties/a/maximum");
    }
    // A reference to a definition leaves the rest what it is.
    const std::string one = R"("oneOf": [{"$ref": "#/$defs/b"}], "$defs": {"b": {}})";
    CHECK(said(schema(one, 3), schema(one, 2)) == "narrowed /properties/a/maximum");
    CHECK(said(R"({"properties": {"x": {}}, "unevaluatedProperties": false})",
               R"({"properties": {"x": {}}, "unevaluatedProperties": false,
                   "allOf": [{"properties": {"y": {}}}]})") == "changed /allOf");
  }

  TEST_CASE("results are told from the caller's side") {
    const std::string one = R"({"properties": {"a": {"type": "string"}}, "required": ["a"]})";
    const std::string more =
        R"({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]})";
    CHECK(said(one, more, SchemaSide::kOutput) == "narrowed /properties/b");
    CHECK(said(more, one, SchemaSide::kOutput) == "widened /properties/b");
    CHECK(for_caller(SchemaEffect::kNarrowed, SchemaSide::kOutput) == ForCaller::kSafe);
    CHECK(for_caller(SchemaEffect::kWidened, SchemaSide::kOutput) == ForCaller::kBreaks);
    CHECK(for_caller(SchemaEffect::kNarrowed, SchemaSide::kInput) == ForCaller::kBreaks);
    CHECK(for_caller(SchemaEffect::kWidened, SchemaSide::kInput) == ForCaller::kSafe);
    CHECK(for_caller(SchemaEffect::kChanged, SchemaSide::kInput) == ForCaller::kUnknown);
  }

  TEST_CASE("words are words, and a default is not: the gate fills it in") {
    CHECK(said(R"({"title": "A"})", R"({"title": "B"})") == "words /title");
    CHECK(said(R"({"default": 1})", R"({"default": 2})") == "changed /default");
  }

  TEST_CASE("what cannot be decided by looking is changed, never narrowed or widened") {
    CHECK(said(R"({"not": {"type": "string"}})", R"({"not": {}})") == "changed /not");
    CHECK(said(R"({"pattern": "a"})", R"({"pattern": "b"})") == "changed /pattern");
    CHECK(said(R"({"oneOf": [{"type": "string"}]})",
               R"({"oneOf": [{"type": "string"}, {"type": "null"}]})") == "changed /oneOf");
    CHECK(said(R"({"$ref": "#/$defs/a"})", R"({"$ref": "#/$defs/b"})") == "changed /$ref");
    // A definition is used below "not": less there is more here.
    CHECK(said(R"({"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"maximum": 3}}})",
               R"({"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"maximum": 2}}})") ==
          "changed /$defs/a");
    CHECK(said(R"({"$defs": {"a": {"maximum": 3}}})", R"({"$defs": {"a": {"maximum": 2}}})") ==
          "narrowed /$defs/a/maximum");
    CHECK(said(R"({"prefixItems": [{}]})", R"({"prefixItems": [{}, {}]})") ==
          "changed /prefixItems");
  }

  TEST_CASE("branches of anyOf and allOf") {
    CHECK(said(R"({"anyOf": [{"type": "string"}, {"type": "null"}]})",
               R"({"anyOf": [{"type": "string"}]})") == "narrowed /anyOf");
    CHECK(said(R"({"allOf": [{"maximum": 3}]})",
               R"({"allOf": [{"maximum": 3}, {"minimum": 1}]})") == "narrowed /allOf");
    CHECK(said(R"({"anyOf": [{"maximum": 3}, {"type": "null"}]})",
               R"({"anyOf": [{"maximum": 4}, {"type": "null"}]})") == "widened /anyOf/0/maximum");
    CHECK(said("{}", R"({"oneOf": [{"type": "string"}]})") == "narrowed /oneOf");
  }

  TEST_CASE("true, false and what is no schema") {
    CHECK(said("true", "false") == "narrowed ");
    CHECK(said("false", "{}") == "widened ");
    CHECK(said("true", "{}") == "words ");
    CHECK(said("[]", "{}") == "changed ");
  }

  TEST_CASE("the whole: both directions at once is changed, words alone are words") {
    CHECK(changes(R"({"maximum": 3, "minimum": 1})", R"({"maximum": 2, "minimum": 0})").effect() ==
          SchemaEffect::kChanged);
    CHECK(changes(R"({"maximum": 3, "title": "a"})", R"({"maximum": 2})").effect() ==
          SchemaEffect::kNarrowed);
    CHECK(changes(R"({"title": "a"})", R"({"title": "b"})").effect() == SchemaEffect::kWords);
  }

  TEST_CASE("values are whole, however long") {
    const std::string same(5000, 's');
    const auto list =
        changes(R"({"description": ")" + same + R"(a"})", R"({"description": ")" + same + R"(b"})")
            .list;
    REQUIRE(list.size() == 1);
    CHECK(list[0].before == "\"" + same + "a\"");
    CHECK(list[0].after == "\"" + same + "b\"");
  }

  TEST_CASE("a flood of changes is told whole, long pointers and a well of depth are bounded") {
    OrderedJson before = OrderedJson::object();
    OrderedJson after = OrderedJson::object();
    for (int i = 0; i < 20'000; ++i) {
      before["properties"]["p" + std::to_string(i)] = {{"type", "string"}};
      after["properties"]["p" + std::to_string(i)] = {{"type", "number"}};
    }
    const auto many = compare_schemas(before, after, SchemaSide::kInput);
    CHECK(many.list.size() == 20'000);
    CHECK(many.effect() == SchemaEffect::kChanged);
    // A name of a megabyte stands in the pointer of all that is below it: all against all instead.
    const std::string name(1'000'000, 'n');
    const auto all =
        compare_schemas(OrderedJson{{"properties", {{name, before}}}},
                        OrderedJson{{"properties", {{name, after}}}}, SchemaSide::kInput);
    REQUIRE(all.list.size() == 1);
    CHECK(all.effect() == SchemaEffect::kChanged);
    CHECK(all.list[0].pointer.empty());
    CHECK(all.list[0].after.size() > 1'000'000 + 20'000 * 20);
    OrderedJson deep = {{"type", "string"}};
    OrderedJson other = {{"type", "number"}};
    for (int i = 0; i < 1000; ++i) {
      deep = OrderedJson{{"items", std::move(deep)}};
      other = OrderedJson{{"items", std::move(other)}};
    }
    CHECK(compare_schemas(deep, other, SchemaSide::kInput).effect() == SchemaEffect::kChanged);
  }

  // The claim itself, against the validator that the gate uses: where a comparison says narrowed,
  // nothing may be valid now that was not before.
  TEST_CASE("narrowed and widened are never said wrongly") {
    const std::vector<std::string> parts{
        R"("type": "integer")",
        R"("type": ["integer", "string"])",
        R"("type": "number")",
        R"("minimum": 1)",
        R"("minimum": 3)",
        R"("exclusiveMaximum": 4)",
        R"("enum": [1, 2, "a"])",
        R"("enum": [1, "a"])",
        R"("const": 2)",
        R"("multipleOf": 2)",
        R"("multipleOf": 1)",
        R"("maxLength": 1)",
        R"("not": {"type": "string"})",
        R"("not": {"maximum": 2})",
        R"("anyOf": [{"type": "string"}, {"minimum": 2}])",
        R"("anyOf": [{"type": "string"}])",
        R"("oneOf": [{"minimum": 2}, {"type": "integer"}])",
        R"("oneOf": [{"minimum": 2}])",
        R"("allOf": [{"minimum": 2}])",
        R"("properties": {"x": {"type": "integer"}}, "additionalProperties": false)",
        R"("properties": {"x": {}}, "required": ["x"])",
        R"("properties": {"x": {"type": "integer"}})",
        R"("properties": {"x": {"type": "integer"}, "y": {"minimum": 2}})",
        R"("properties": {"x": false, "y": {}})",
        R"("properties": {"y": {"type": "string"}})",
        R"("required": ["x"])",
        R"("required": ["x", "y"])",
        R"("additionalProperties": false)",
        R"("additionalProperties": {"type": "integer"})",
        R"("additionalProperties": {"type": "string"})",
        R"("patternProperties": {"^x": {"type": "integer"}})",
        R"("patternProperties": {"^x": {"minimum": 2}, "^y": {"type": "string"}})",
        R"("patternProperties": {"^y": {}})",
        R"("propertyNames": {"maxLength": 1})",
        R"("propertyNames": {"pattern": "^x"})",
        R"("unevaluatedProperties": false)",
        R"("unevaluatedProperties": {"type": "integer"})",
        R"("unevaluatedItems": false)",
        R"("prefixItems": [{"type": "integer"}])",
        R"("prefixItems": [{"type": "string"}])",
        R"("prefixItems": [{"minimum": 2}, {"type": "string"}])",
        R"("contains": {"minimum": 2})",
        R"("not": {"$ref": "#/properties/x"})",
        R"("not": {"required": ["y"]})",
        R"("oneOf": [{"required": ["x"]}, {"$ref": "#/properties/x"}])",
        R"("oneOf": [{"minimum": 2}, {"minimum": 2}])",
        R"("anyOf": [{"properties": {"y": {}}, "required": ["x"]}, {"type": "array"}])",
        R"("allOf": [{"properties": {"y": {"minimum": 1}}}])",
        R"("allOf": [{"additionalProperties": {"type": "string"}}])",
        R"("dependentRequired": {"x": ["y"]})",
        R"("dependentSchemas": {"x": {"properties": {"y": {"type": "integer"}}}})",
        R"("minProperties": 1)",
        R"("items": false)",
        R"("items": {"type": "string"})",
        R"("items": {"type": "integer"})",
        R"("items": {"minimum": 2})"};
    const std::vector<Json> values{0,
                                   1,
                                   2,
                                   3,
                                   4,
                                   1.5,
                                   "a",
                                   "bb",
                                   nullptr,
                                   true,
                                   Json::object(),
                                   Json{{"x", 1}},
                                   Json{{"x", "a"}},
                                   Json{{"x", 3}, {"y", 3}},
                                   Json{{"x", 1}, {"y", "a"}},
                                   Json{{"x", "a"}, {"y", 1}},
                                   Json{{"y", 1}},
                                   Json{{"y", 3}},
                                   Json{{"y", "a"}},
                                   Json{{"xy", 1}},
                                   Json{{"xy", "a"}},
                                   Json{{"yx", "a"}},
                                   Json{{"yx", 4}},
                                   Json{{"z", 1}},
                                   Json{{"z", "a"}},
                                   Json{{"x", 2}, {"z", nullptr}},
                                   Json{{"x", nullptr}},
                                   Json::array(),
                                   Json::array({"a"}),
                                   Json::array({"a", 3}),
                                   Json::array({2, "a"}),
                                   Json::array({1, 1, 1}),
                                   Json::array({3, "a", nullptr}),
                                   Json::array({1}),
                                   Json::array({3, "a"})};
    std::mt19937 random(7);
    using Chosen = std::map<std::string, std::string>;  // keyword -> `"keyword": value`
    const auto add_one = [&](Chosen& chosen) {
      const std::string& part = parts[random() % parts.size()];
      chosen[part.substr(0, part.find(':'))] = part;
    };
    const auto text_of = [](const Chosen& chosen) {
      std::string text;
      for (const auto& [key, part] : chosen) text += (text.empty() ? "" : ", ") + part;
      return "{" + text + "}";
    };
    std::size_t decided = 0;
    for (int round = 0; round < 40'000; ++round) {
      Chosen chosen;
      // Often enough objects and their members, so that the keywords meet.
      if (round % 4 == 0) chosen["\"properties\""] = R"("properties": {"x": {"minimum": 1}})";
      if (round % 8 == 0) chosen["\"type\""] = R"("type": "object")";
      for (int i = 0; i < 3; ++i) add_one(chosen);
      const std::string before = text_of(chosen);
      if (round % 3 == 0 && chosen.size() > 1) chosen.erase(std::prev(chosen.end()));
      if (round % 3 != 1) add_one(chosen);
      if (round % 5 == 0) chosen.erase("\"minimum\"");
      const std::string after = text_of(chosen);
      const SchemaSide side = round % 2 == 0 ? SchemaSide::kInput : SchemaSide::kOutput;
      const auto effect = changes(before, after, side).effect();
      if (effect != SchemaEffect::kNarrowed && effect != SchemaEffect::kWidened) continue;
      const auto old_schema = JsonSchema::compile(Json::parse(before));
      const auto new_schema = JsonSchema::compile(Json::parse(after));
      if (!old_schema || !new_schema) continue;  // a "$ref" to what is not there
      ++decided;
      for (const Json& value : values) {
        const bool was = !(*old_schema)->validate(value);
        const bool is = !(*new_schema)->validate(value);
        INFO(before, " -> ", after, " ", value.dump(), " ", to_string(effect));
        if (effect == SchemaEffect::kNarrowed) CHECK((was || !is));
        if (effect == SchemaEffect::kWidened) CHECK((is || !was));
      }
    }
    CHECK(decided > 5000);
  }
}
