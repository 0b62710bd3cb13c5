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
    CHECK(said(R"({"type": "object", "required": ["a", "b"]})",
               R"({"required": ["b", "a"], "type": ["object"]})")
              .empty());
    CHECK(said(R"({"maximum": 1})", R"({"maximum": 1.0})").empty());
    CHECK(said(R"({"enum": [1, 2]})", R"({"enum": [2, 1]})").empty());
    CHECK(said(R"({"uniqueItems": false})", "{}").empty());
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
    CHECK(said(one, R"({"properties": {}})") == "narrowed /properties/a~1b");
    CHECK(said(one, R"({"properties": {"a/b": {"type": "string"}}, "required": ["a/b"]})") ==
          "narrowed /required");
    CHECK(said(one, R"({"properties": {"a/b": {"type": "string", "maxLength": 4}}})") ==
          "narrowed /properties/a~1b/maxLength");
    CHECK(said(R"({"additionalProperties": false})", "{}") == "widened /additionalProperties");
    CHECK(said("{}", R"({"additionalProperties": {"type": "string"}})") ==
          "narrowed /additionalProperties/type");
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
    CHECK(said("true", "{}").empty());
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
                                   Json::array(),
                                   Json::array({1}),
                                   Json::array({3, "a"})};
    std::mt19937 random(7);
    using Chosen = std::map<std::string, std::string>;  // keyword -> `"keyword": value`
    const auto add_one = [&](Chosen& chosen) {
      const std::string& part = parts[random() % parts.size()];
      const bool object = part.starts_with("\"properties");
      // Optional properties are said from the caller's side, which is not the set of values.
      if (!object || chosen.contains("\"properties\""))
        chosen[part.substr(0, part.find(':'))] = part;
    };
    const auto text_of = [](const Chosen& chosen) {
      std::string text;
      for (const auto& [key, part] : chosen) text += (text.empty() ? "" : ", ") + part;
      return "{" + text + "}";
    };
    std::size_t decided = 0;
    for (int round = 0; round < 4000; ++round) {
      Chosen chosen;
      if (round % 4 == 0) chosen["\"properties\""] = R"("properties": {"x": {"minimum": 1}})";
      for (int i = 0; i < 3; ++i) add_one(chosen);
      const std::string before = text_of(chosen);
      if (round % 3 == 0 && chosen.size() > 1) chosen.erase(std::prev(chosen.end()));
      if (round % 3 != 1) add_one(chosen);
      if (round % 5 == 0) chosen.erase("\"minimum\"");
      const std::string after = text_of(chosen);
      if (before.contains("\"properties\"") != after.contains("\"properties\"")) continue;
      const auto effect = changes(before, after).effect();
      if (effect != SchemaEffect::kNarrowed && effect != SchemaEffect::kWidened) continue;
      ++decided;
      const auto old_schema = JsonSchema::compile(Json::parse(before));
      const auto new_schema = JsonSchema::compile(Json::parse(after));
      REQUIRE(old_schema);
      REQUIRE(new_schema);
      for (const Json& value : values) {
        const bool was = !(*old_schema)->validate(value);
        const bool is = !(*new_schema)->validate(value);
        INFO(before, " -> ", after, " ", value.dump(), " ", to_string(effect));
        if (effect == SchemaEffect::kNarrowed) CHECK((was || !is));
        if (effect == SchemaEffect::kWidened) CHECK((is || !was));
      }
    }
    CHECK(decided > 500);
  }
}
