// JsonSchema where the official suite says nothing: messages, limits, hostile schemas, defaults.
#include "core/json_schema.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>

namespace mcpac {
namespace {

Json json_of(std::string_view text) {
  auto value = parse_json(text);
  REQUIRE(value);
  return *value;
}

std::shared_ptr<const JsonSchema> compiled(const Json& schema) {
  auto result = JsonSchema::compile(schema);
  REQUIRE_MESSAGE(result, (result ? "" : result.error().to_text()));
  return *result;
}

Error schema_error(std::string_view schema) {
  const auto result = JsonSchema::compile(json_of(schema));
  REQUIRE_FALSE(result);
  CHECK(result.error().id == ErrorId::kSchemaInvalid);
  return result.error();
}

std::optional<SchemaViolation> check(std::string_view schema, std::string_view value) {
  return compiled(json_of(schema))->validate(json_of(value));
}

std::string filled(std::string_view schema, std::string_view value) {
  Json target = json_of(value);
  static_cast<void>(compiled(json_of(schema))->fill_defaults(target));
  return to_text(target);
}

constexpr std::string_view kTool = R"({
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1},
    "edits": {"type": "array", "items": {"type": "object", "properties": {"oldText": {"type": "string"}},
                                         "required": ["oldText"]}},
    "mode": {"enum": ["read", "write"]},
    "a/b~c": {"type": "integer"}
  },
  "required": ["path"],
  "additionalProperties": false
})";

TEST_SUITE("core/json_schema messages") {
  TEST_CASE("a violation names the place, the keyword and the rule") {
    CHECK(check(kTool, R"({"path":"x"})") == std::nullopt);
    CHECK(check(kTool, R"({})") ==
          SchemaViolation{"", "required", "must have the member \"path\""});
    CHECK(check(kTool, R"({"path":1})") == SchemaViolation{"/path", "type", "must be a string"});
    CHECK(check(kTool, R"({"path":""})") ==
          SchemaViolation{"/path", "minLength", "must have at least 1 character, has 0"});
    CHECK(check(kTool, R"({"path":"x","edits":[{"oldText":"a"},{}]})") ==
          SchemaViolation{"/edits/1", "required", "must have the member \"oldText\""});
    CHECK(check(kTool, R"({"path":"x","edits":[{"oldText":null}]})") ==
          SchemaViolation{"/edits/0/oldText", "type", "must be a string"});
    CHECK(check(kTool, R"({"path":"x","mode":"exec"})") ==
          SchemaViolation{"/mode", "enum", "must be one of \"read\", \"write\""});
    CHECK(check(kTool, R"({"path":"x","pth":"y"})") ==
          SchemaViolation{"", "additionalProperties", "must not have the member \"pth\""});
    CHECK(check(kTool, R"([])") == SchemaViolation{"", "type", "must be an object"});
  }

  TEST_CASE(
      "a value of another type is told by its kind, and one that stands in a text with advice") {
    const auto came = [](std::string_view schema, const Json& value) {
      const auto violation = compiled(json_of(schema))->validate(value);
      REQUIRE(violation);
      return came_instead(*violation, value);
    };
    const std::string_view in_list =
        R"({"items":{"properties":{"a/b":{"type":["array","null"]}}}})";
    const auto inside = [](Json value) { return Json::array({{{"a/b", std::move(value)}}}); };
    CHECK(came(in_list, inside("[1]")) == ", and is a text that holds an array: pass the array");
    CHECK(came(in_list, inside("s3cret")) == ", and is a text");
    CHECK(came(in_list, inside("{}")) == ", and is a text");
    CHECK(came(in_list, inside("")) == ", and is an empty text");
    CHECK(came(in_list, inside(5)) == ", and is a number");
    CHECK(came(in_list, inside(Json::object())) == ", and is an object");
    CHECK(came(R"({"type":"integer"})", "5") ==
          ", and is a text that holds a number: pass the number");
    CHECK(came(R"({"type":"boolean"})", "true") ==
          ", and is a text that holds a boolean: pass the boolean");
    CHECK(came(R"({"type":"object"})", R"({"a":1})") ==
          ", and is a text that holds an object: pass the object");
    CHECK(came(R"({"anyOf":[{"type":"array"},{"type":"null"}]})", "[]") ==
          ", and is a text that holds an array: pass the array");
    CHECK(came(R"({"anyOf":[{"type":"array"},{"type":"null"}]})", "x").empty());
    CHECK(came(R"({"minLength":9})", "[]").empty());
  }

  TEST_CASE("a pointer escapes what a pointer must escape") {
    CHECK(check(kTool, R"({"path":"x","a/b~c":"y"})")->pointer == "/a~1b~0c");
  }

  TEST_CASE("what was tried in a form that does not apply is not what is reported") {
    const auto violation = check(R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "1");
    CHECK(violation ==
          SchemaViolation{"", "anyOf", "must match at least one of 2 forms, matches none"});
    CHECK(check(R"({"if":{"type":"string"},"then":{"minLength":3},"else":false})", "\"ab\"")
              ->keyword == "minLength");
  }

  TEST_CASE("messages stay short, whatever the schema and the value hold") {
    const std::string longest(10'000, 'x');
    const Json schema = {{"type", "object"}, {"required", {longest}}};
    CHECK(compiled(schema)->validate(Json::object())->message.size() < 300);
    Json choices = Json::array();
    for (int i = 0; i < 10'000; ++i) choices.push_back(fmt::format("choice-{}", i));
    CHECK(compiled({{"enum", choices}})->validate(1)->message.size() < 400);
    CHECK(compiled({{"const", longest}})->validate(1)->message.size() < 300);
    CHECK(compiled({{"additionalProperties", false}})->validate({{longest, 1}})->message.size() <
          300);
  }
}

TEST_SUITE("core/json_schema compilation") {
  TEST_CASE("a keyword of the wrong type makes the schema invalid, with the place") {
    CHECK(schema_error(R"({"properties":{"a":{"minLength":"3"}}})").where ==
          "/properties/a/minLength");
    for (const char* schema : {"1",
                               "[]",
                               R"({"type":"text"})",
                               R"({"type":[]})",
                               R"({"type":[1]})",
                               R"({"required":"a"})",
                               R"({"required":[1]})",
                               R"({"enum":{}})",
                               R"({"minimum":"0"})",
                               R"({"minLength":-1})",
                               R"({"maxItems":1.5})",
                               R"({"multipleOf":0})",
                               R"({"multipleOf":-2})",
                               R"({"uniqueItems":1})",
                               R"({"properties":[]})",
                               R"({"properties":{"a":1}})",
                               R"({"items":1})",
                               R"({"not":null})",
                               R"({"allOf":{}})",
                               R"({"allOf":[]})",
                               R"({"anyOf":[1]})",
                               R"({"pattern":1})",
                               R"({"$ref":1})",
                               R"({"$id":1})",
                               R"({"$anchor":1})",
                               R"({"$schema":1})",
                               R"({"dependentRequired":{"a":"b"}})",
                               R"({"exclusiveMinimum":true})",
                               R"({"additionalProperties":null})"}) {
      CAPTURE(schema);
      schema_error(schema);
    }
  }

  TEST_CASE("an unknown dialect is refused, the two known ones are told apart") {
    schema_error(R"({"$schema":"http://json-schema.org/draft-04/schema#"})");
    schema_error(R"({"$schema":"https://example.com/mine"})");
    const std::string_view tuple = R"("prefixItems":[{"type":"string"}]})";
    CHECK(
        check(R"({"$schema":"https://json-schema.org/draft/2020-12/schema",)" + std::string(tuple),
              "[1]"));
    CHECK_FALSE(check(
        R"({"$schema":"http://json-schema.org/draft-07/schema#",)" + std::string(tuple), "[1]"));
    CHECK(check("{" + std::string(tuple), "[1]"));  // absent: 2020-12
  }

  TEST_CASE("a reference that leads out of the schema or nowhere does not compile") {
    schema_error(R"({"$ref":"http://127.0.0.1:9/x.json"})");
    schema_error(R"({"$ref":"other.json"})");
    schema_error(R"({"$ref":"file:///etc/passwd"})");
    schema_error(R"({"$ref":"#/$defs/absent"})");
    schema_error(R"({"$ref":"#absent"})");
    schema_error(R"({"$ref":"#/enum/0","enum":[1]})");
    schema_error(R"({"properties":{"a":{"$dynamicRef":"#absent"}}})");
  }

  TEST_CASE("two schemas of one name are refused") {
    schema_error(R"({"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}})");
    schema_error(R"({"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}})");
  }

  TEST_CASE("a metaschema is at hand without the network") {
    const std::string_view takes_schema =
        R"({"properties":{"schema":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}})";
    CHECK_FALSE(check(takes_schema, R"({"schema":{"items":{"type":"string"}}})"));
    CHECK(check(takes_schema, R"({"schema":{"items":{"type":"text"}}})"));
    CHECK(check(R"({"$ref":"http://json-schema.org/draft-07/schema#"})", R"({"minLength":-1})"));
  }

  TEST_CASE("draft 4's way to write an exclusive limit means what it meant") {
    const std::string_view schema =
        R"({"minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false})";
    CHECK(check(schema, "0"));
    CHECK_FALSE(check(schema, "0.1"));
    CHECK_FALSE(check(schema, "9"));
  }

  TEST_CASE("draft 7's tuples and dependencies are understood where $schema was left out") {
    CHECK(check(R"({"items":[{"type":"string"}],"additionalItems":false})", R"(["a","b"])"));
    CHECK(check(R"({"dependencies":{"a":["b"]}})", R"({"a":1})"));
    CHECK(check(R"({"dependencies":{"a":{"required":["b"]}}})", R"({"a":1})"));
  }
}

TEST_SUITE("core/json_schema limits") {
  TEST_CASE("a schema that refers to itself is refused for every value, not followed for ever") {
    for (const char* schema :
         {R"({"$ref":"#"})", R"({"allOf":[{"$ref":"#"}]})", R"({"not":{"$ref":"#"}})",
          R"({"anyOf":[{"$ref":"#"},true]})", R"({"if":{"$ref":"#"},"else":true})",
          R"({"$dynamicRef":"#a","$dynamicAnchor":"a"})",
          R"({"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}})"}) {
      CAPTURE(schema);
      const auto violation = check(schema, "1");
      REQUIRE(violation);
      CHECK(violation->keyword == "limit");
    }
  }

  TEST_CASE("exhaustion within a negation does not make a value valid") {
    CHECK(check(R"({"not":{"not":{"not":{"$ref":"#"}}}})", "1")->keyword == "limit");
    CHECK(check(R"({"oneOf":[true,{"$ref":"#/oneOf/1"}]})", "1")->keyword == "limit");
  }

  TEST_CASE("a schema of exponential cost runs into a limit") {
    Json value = 1;
    for (int i = 0; i < 60; ++i) value = Json{{"x", std::move(value)}};
    // Each level asks the next one twice, and only then finds that it cannot match.
    const std::string_view schema = R"({"anyOf": [{"properties": {"x": {"$ref": "#"}}, "not": true},
                                                  {"properties": {"x": {"$ref": "#"}}, "not": {}}]})";
    const auto violation = compiled(json_of(schema))->validate(value);
    REQUIRE(violation);
    CHECK(violation->keyword == "limit");
  }

  TEST_CASE("a recursive schema follows a deep value as far as values go") {
    Json value = Json::object();
    for (int i = 1; i < 128; ++i) value = Json{{"child", std::move(value)}};
    const auto schema = compiled(
        json_of(R"({"$defs":{"node":{"type":"object","properties":{"child":{"$ref":"#/$defs/node"}},
      "additionalProperties":false}},"$ref":"#/$defs/node"})"));
    CHECK(schema->validate(value) == std::nullopt);
  }

  TEST_CASE("100,000 properties compile and are found") {
    Json properties = Json::object();
    for (int i = 0; i < 100'000; ++i) properties[fmt::format("p{}", i)] = {{"type", "integer"}};
    const auto schema = compiled({{"properties", properties}});
    CHECK(schema->validate({{"p99999", 1}}) == std::nullopt);
    CHECK(schema->validate({{"p99999", "x"}})->pointer == "/p99999");
  }

  TEST_CASE("a schema beyond the limit of subschemas does not compile") {
    Json list = Json::array();
    for (int i = 0; i < 200'001; ++i) list.push_back(true);
    CHECK_FALSE(JsonSchema::compile({{"allOf", list}}));
  }

  TEST_CASE("a chain of 50,000 references compiles without exhausting the stack") {
    Json definitions = Json::object();
    for (int i = 0; i < 50'000; ++i)
      definitions[fmt::format("d{}", i)] = {{"$ref", fmt::format("#/$defs/d{}", i + 1)}};
    definitions["d50000"] = true;
    const auto schema = compiled({{"$defs", definitions}, {"$ref", "#/$defs/d0"}});
    CHECK(schema->validate(1)->keyword == "limit");
  }

  TEST_CASE("an array of 100,000 distinct items is checked for uniqueness") {
    Json items = Json::array();
    for (int i = 0; i < 100'000; ++i) items.push_back(i);
    const auto schema = compiled({{"uniqueItems", true}});
    CHECK(schema->validate(items) == std::nullopt);
    items.push_back(50'000.0);
    CHECK(schema->validate(items)->keyword == "uniqueItems");
  }
}

TEST_SUITE("core/json_schema numbers") {
  TEST_CASE("limits of 64 bits are exact") {
    CHECK(check(R"({"maximum":9007199254740992})", "9007199254740993"));
    CHECK_FALSE(check(R"({"maximum":18446744073709551615})", "18446744073709551615"));
    CHECK(check(R"({"const":9007199254740993})", "9007199254740992.0"));
    CHECK_FALSE(check(R"({"type":"integer"})", "1.0"));
    CHECK(check(R"({"type":"integer"})", "1.5"));
  }

  TEST_CASE("a length is counted in characters") {
    CHECK_FALSE(check(R"({"minLength":2,"maxLength":2})", "\"\xf0\x9f\x98\x80\xc3\xa9\""));
  }
}

TEST_SUITE("core/json_schema names") {
  std::optional<SchemaViolation> misnamed(std::string_view schema, std::string_view value) {
    return compiled(json_of(schema))->find_misnamed(json_of(value));
  }

  TEST_CASE("another spelling of a name is found wherever the schema names one") {
    CHECK(misnamed(kTool, R"({"path":"x","mode":"read","edits":[{"oldText":"a"}]})") ==
          std::nullopt);
    CHECK(misnamed(kTool, R"({"path":"x","PATH":"y"})") ==
          SchemaViolation{"/PATH", "properties",
                          "is another spelling of \"path\", which some servers take for it: did "
                          "you mean \"path\"?"});
    CHECK(misnamed(kTool, R"({"edits":[{},{"OLDTEXT":"a"}]})")->pointer == "/edits/1/OLDTEXT");
    for (
        const char* schema :
        {R"({"required":["source"]})", R"({"propertyNames":{"enum":["source"]}})",
         R"({"dependentRequired":{"source":["x"]}})", R"({"dependentRequired":{"x":["source"]}})",
         R"({"anyOf":[{"properties":{"source":{}}},true]})",
         R"({"if":{"properties":{"source":{}}}})",
         R"({"then":{"properties":{"source":{}}},"if":true})",
         R"({"patternProperties":{".*":{}},"properties":{"source":{}}})",
         R"({"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"properties":{"source":{}}}]}}})",
         R"({"$dynamicRef":"#a","$defs":{"a":{"$dynamicAnchor":"a","properties":{"source":{}}}}})"}) {
      CAPTURE(schema);
      CHECK(misnamed(schema, R"({"Source":1})"));
      CHECK_FALSE(misnamed(schema, R"({"source":1})"));
      CHECK_FALSE(misnamed(schema, R"({"sources":1})"));
    }
  }

  TEST_CASE("objects that nobody names members of may have any") {
    for (const char* schema :
         {"{}", "true", R"({"type":"object"})", R"({"additionalProperties":{}})"})
      CHECK_FALSE(misnamed(schema, R"({"a":1,"A":{"b":1,"B":2}})"));
  }

  TEST_CASE("a long list of objects is looked through in time") {
    const std::string_view schema =
        R"({"properties":{"l":{"items":{"properties":{"name":{},"value":{}}}}}})";
    Json list = Json::array();
    for (int i = 0; i < 100'000; ++i) list.push_back({{"name", i}, {"other", i}});
    CHECK_FALSE(compiled(json_of(schema))->find_misnamed({{"l", list}}));
    list.push_back({{"NAME", 1}});
    CHECK(compiled(json_of(schema))->find_misnamed({{"l", list}})->pointer == "/l/100000/NAME");
  }
}

TEST_SUITE("core/json_schema defaults") {
  TEST_CASE("absent members get their default, present ones stay") {
    const std::string_view schema =
        R"({"properties":{"a":{"default":1},"b":{"default":[2]},"c":{}}})";
    CHECK(filled(schema, "{}") == R"({"a":1,"b":[2]})");
    CHECK(filled(schema, R"({"a":null,"b":false})") == R"({"a":null,"b":false})");
    CHECK(filled(schema, "[1]") == "[1]");
  }

  TEST_CASE("defaults reach nested objects, items, references and allOf") {
    CHECK(filled(R"({"properties":{"o":{"properties":{"x":{"default":1}}}}})", R"({"o":{}})") ==
          R"({"o":{"x":1}})");
    CHECK(filled(R"({"properties":{"o":{"properties":{"x":{"default":1}}}}})", "{}") == "{}");
    CHECK(filled(R"({"items":{"properties":{"x":{"default":1}}}})", "[{},{\"x\":2}]") ==
          R"([{"x":1},{"x":2}])");
    CHECK(filled(R"({"$defs":{"d":{"properties":{"x":{"default":1}}}},"$ref":"#/$defs/d"})",
                 "{}") == R"({"x":1})");
    CHECK(
        filled(
            R"({"allOf":[{"properties":{"x":{"default":1}}},{"properties":{"y":{"default":2}}}]})",
            "{}") == R"({"x":1,"y":2})");
    CHECK(filled(R"({"$defs":{"d":{"default":7}},"properties":{"x":{"$ref":"#/$defs/d"}}})",
                 "{}") == R"({"x":7})");
  }

  TEST_CASE("a default that its own schema refuses is not filled in, and is said") {
    const std::string refused = R"({"type":"object","properties":{
        "query":{"type":"string","default":{}},
        "state":{"enum":["open","closed"],"default":"all"},
        "page":{"type":"object","required":["size"],"default":{},
                "properties":{"size":{"type":"integer"}}},
        "limit":{"type":"integer","maximum":100,"default":1000},
        "sort":{"type":"object","required":["by"],"default":{},
                "properties":{"by":{"type":"string","default":"name"}}},
        "deep":{"type":"object","default":{},"properties":{"x":{"type":"string","default":1}}},
        "kept":{"type":"integer","default":3}}})";
    CHECK(filled(refused, "{}") == R"({"deep":{},"kept":3,"sort":{"by":"name"}})");
    const auto schema = compiled(json_of(refused));
    CHECK_FALSE(schema->validate(json_of(filled(refused, "{}"))));
    std::set<std::string> places;
    for (const auto& remark : schema->refused_defaults()) places.insert(remark.pointer);
    CHECK(places == std::set<std::string>{"/properties/query", "/properties/state",
                                          "/properties/page", "/properties/limit",
                                          "/properties/deep/properties/x"});
    // What a server may fill in all the same is still known to rules.
    const SchemaDefaults defaults(schema);
    REQUIRE(defaults.root() != nullptr);
    CHECK(defaults.root()->member("query") != nullptr);
    CHECK(defaults.root()->member("kept") == nullptr);
  }

  TEST_CASE("a default behind a reference is not filled in where its place refuses it") {
    const Json text = json_of(R"({"type":"object","properties":{
        "few":{"$ref":"#/$defs/count","maximum":10},
        "many":{"$ref":"#/$defs/count"},
        "own":{"$ref":"#/$defs/count","maximum":10,"default":5},
        "none":{"$ref":"#/$defs/wrong","maximum":10}},
        "$defs":{"count":{"type":"integer","default":50},"wrong":{"type":"integer","default":"x"}}})");
    CHECK(filled(to_text(text), "{}") == R"({"many":50,"own":5})");
    const auto schema = compiled(text);
    std::set<std::string> places;
    for (const auto& remark : schema->refused_defaults()) places.insert(remark.pointer);
    CHECK(places == std::set<std::string>{"/properties/few", "#/$defs/wrong"});
    const UnfilledDefaults unfilled = SchemaDefaults(schema, &text).unfilled();
    CHECK(unfilled ==
          UnfilledDefaults{&text.at("properties").at("few"), &text.at("$defs").at("wrong")});
  }

  TEST_CASE("patterns that cannot be checked are left only where that is asked for") {
    const Json behind = json_of(R"({"type":"object","properties":{
        "a":{"type":"string","pattern":"(?<=x)y"},"b":{"type":"string","pattern":"^b+$"},
        "c":{"type":"string","pattern":"^.{1,2000}$"}}})");
    const auto refused = JsonSchema::compile(behind);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what.find("(?<=x)y") != std::string::npos);
    const auto left = JsonSchema::compile(behind, UncheckablePatterns::kLeave);
    REQUIRE(left);
    CHECK((*left)->unchecked_patterns().size() == 1);
    CHECK((*left)->unchecked_patterns().front().pointer == "/properties/a");
    CHECK_FALSE((*left)->validate({{"a", "anything"}, {"b", "bb"}, {"c", std::string(2000, 'c')}}));
    CHECK((*left)->validate({{"a", 1}}));
    CHECK((*left)->validate({{"b", "c"}}));
    CHECK((*left)->validate({{"c", std::string(2001, 'c')}}));
    // Repetitions within repetitions would be 38 GB of text for RE2, and are refused before that.
    const auto nested = JsonSchema::compile(json_of(
        R"j({"pattern":"((((((a{0,20000}){0,20000}){0,20000}){0,20000}){0,20000}){0,20000})"})j"));
    REQUIRE_FALSE(nested);
    CHECK_MESSAGE(nested.error().what.find("repetitions within") != std::string::npos,
                  nested.error().what);
    // Which members there may be is always known.
    CHECK_FALSE(JsonSchema::compile(json_of(R"({"patternProperties":{"(?<=x)y":{}}})"),
                                    UncheckablePatterns::kLeave));
  }

  TEST_CASE("a default that depends on a choice is not guessed") {
    CHECK(filled(R"({"anyOf":[{"properties":{"x":{"default":1}}},true]})", "{}") == "{}");
    CHECK(filled(R"({"if":true,"then":{"properties":{"x":{"default":1}}}})", "{}") == "{}");
  }

  TEST_CASE("what is filled in is filled itself") {
    const std::string_view schema =
        R"({"properties":{"o":{"default":{},"properties":{"x":{"default":1},"p":{"default":{"z":0},
            "properties":{"y":{"default":2}}}}},
            "l":{"default":[{}],"items":{"properties":{"x":{"default":3}}}}}})";
    CHECK(filled(schema, "{}") == R"({"l":[{"x":3}],"o":{"p":{"y":2,"z":0},"x":1}})");
    CHECK(filled(schema, R"({"o":{"x":5},"l":[]})") == R"({"l":[],"o":{"p":{"y":2,"z":0},"x":5}})");
  }

  TEST_CASE("defaults that multiply are not filled without end") {
    // Each level twice: 2^30 objects.
    Json schema{{"$defs", Json::object()}, {"$ref", "#/$defs/d0"}};
    for (int i = 0; i < 30; ++i) {
      const Json next{{"$ref", fmt::format("#/$defs/d{}", i + 1)}, {"default", Json::object()}};
      schema["$defs"][fmt::format("d{}", i)] = {{"properties", {{"a", next}, {"b", next}}}};
    }
    schema["$defs"]["d30"] = Json::object();
    Json value = Json::object();
    CHECK_FALSE(compiled(schema)->fill_defaults(value));
  }

  TEST_CASE("what may stand in what is left out is found through every keyword") {
    const auto places = [](std::string_view schema) {
      return SchemaDefaults(compiled(json_of(schema)));
    };
    // Filled for certain: nothing is left open.
    CHECK(places(R"({"properties":{"a":{"default":1}}})").root() == nullptr);
    CHECK(places(R"({"anyOf":[{"properties":{"a":{}}},true]})").root() == nullptr);
    const auto any = places(
        R"({"anyOf":[{"properties":{"a":{"default":1}}},{"properties":{"a":{"default":2}}}],
            "not":{"properties":{"a":{"default":3}}}})");
    REQUIRE(any.root() != nullptr);
    CHECK(any.root()->member("a")->values().size() == 2);
    CHECK(any.root()->member("b") == nullptr);
    const auto list = places(
        R"({"properties":{"l":{"items":{"oneOf":[{"properties":{"x":{"default":1}}},{"type":"null"}]}}}})");
    CHECK(list.root()->member("l")->elements()->member("x")->values().size() == 1);
    // A schema that leads back into itself has as many places as it has schemas.
    const auto endless = places(R"({"properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]},
                                    "x":{"anyOf":[{"default":1},{}]}}})");
    const DefaultPlace* at = endless.root();
    for (int i = 0; i < 100; ++i) at = at->member("next");
    CHECK(at->member("x")->values().size() == 1);
  }

  TEST_CASE("where a schema has too many places, the rest of them is unknown") {
    Json schema;
    for (int i = 0; i < 1'500; ++i)
      schema["anyOf"].push_back({{"properties", {{fmt::format("p{}", i), {{"default", i}}}}}});
    const SchemaDefaults many(compiled(schema));
    REQUIRE(many.root() != nullptr);
    CHECK(many.root()->is_unknown());
    CHECK(many.root()->members().empty());
    CHECK(many.root()->values().empty());
    CHECK(many.root()->member("p0")->is_unknown());
    CHECK(many.root()->member("p0")->elements()->member("other")->is_unknown());
    // What was looked at before stays known.
    const SchemaDefaults below(
        compiled({{"anyOf", {{{"properties", {{"few", {{"default", 1}}}, {"many", schema}}}}}}}));
    REQUIRE(below.root() != nullptr);
    CHECK_FALSE(below.root()->is_unknown());
    CHECK(below.root()->member("many")->is_unknown());
  }

  TEST_CASE("a schema that is part of itself is not filled in silence") {
    for (const char* schema :
         {R"({"allOf":[{"$ref":"#"}],"properties":{"x":{"default":1}}})",
          R"({"allOf":[{"$ref":"#"},{"$ref":"#"}],"properties":{"x":{"default":1}}})",
          R"({"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}})"}) {
      CAPTURE(schema);
      Json value = Json::object();
      CHECK_FALSE(compiled(json_of(schema))->fill_defaults(value));
    }
  }

  TEST_CASE("values are filled as deep as they go, through a few schemas at each level") {
    Json value = Json::object();
    for (int i = 1; i < 128; ++i) value = Json{{"child", std::move(value)}};
    const auto schema = compiled(json_of(
        R"({"$defs":{"node":{"properties":{"child":{"allOf":[{"allOf":[{"$ref":"#/$defs/node"}]}]},
            "x":{"default":1}}}},"$ref":"#/$defs/node"})"));
    CHECK(schema->fill_defaults(value));
    CHECK(schema->validate(value) == std::nullopt);
    const Json* at = &value;
    while (at->contains("child")) at = &at->at("child");
    CHECK(*at == Json{{"x", 1}});
  }

  TEST_CASE("defaults that would go on without end are filled once") {
    CHECK(filled(R"({"properties":{"c":{"$ref":"#","default":{}}}})", "{}") == R"({"c":{}})");
    CHECK(filled(R"({"allOf":[{"$ref":"#"}],"properties":{"x":{"default":1}}})", "{}") ==
          R"({"x":1})");
  }
}

}  // namespace
}  // namespace mcpac
