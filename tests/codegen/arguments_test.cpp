#include "codegen/arguments.h"

#include <doctest/doctest.h>

#include <string>

using namespace mcpac;
using namespace mcpac::codegen;

namespace {

LockedTool tool(const std::string& schema) {
  return {.name = "tool",
          .cpp_name = "mcp::s::tool",
          .digest{},
          .definition = OrderedJson::parse(R"({"name": "tool", "inputSchema": )" + schema + "}")};
}

const LockedTool& example() {
  static const LockedTool made =
      tool(R"({"type": "object", "$defs": {"n": {"type": "integer"}}, "properties": {
    "path": {"type": "string"}, "head": {"type": "integer"}, "ratio": {"type": "number"}, "deep": {"type": "boolean"},
    "labels": {"type": "array", "items": {"type": "string"}}, "ids": {"type": "array", "items": {"$ref": "#/$defs/n"}},
    "options": {"type": "object"}, "level": {"enum": ["low", "5"]}, "max_results": {"$ref": "#/$defs/n"},
    "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    "maybe": {"type": ["integer", "null"]}, "any": {}}})");
  return made;
}

std::string of(const std::vector<TypedArgument>& typed, const LockedTool& from = example()) {
  const auto arguments = arguments_from(from, typed);
  return arguments ? to_text(*arguments) : "refused: " + arguments.error().what;
}

bool refuses(const std::vector<TypedArgument>& typed) {
  return of(typed).starts_with("refused");
}

}  // namespace

TEST_SUITE("codegen/arguments") {
  TEST_CASE("the schema decides what a word means") {
    CHECK(of({{"path", "5"}}) == R"({"path":"5"})");
    CHECK(of({{"head", "5"}}) == R"({"head":5})");
    CHECK(of({{"ratio", "0.5"}}) == R"({"ratio":0.5})");
    CHECK(of({{"ratio", "2"}}) == R"({"ratio":2})");
    CHECK(of({{"deep", "false"}}) == R"({"deep":false})");
    CHECK(of({{"level", "5"}}) == R"({"level":"5"})");
    CHECK(of({{"maybe", "null"}}) == R"({"maybe":null})");
    CHECK(of({{"path", "true"}}) == R"({"path":"true"})");
  }

  TEST_CASE("a misspelled argument is answered with the one that was meant, or with all") {
    const auto fix_of = [](const char* key) {
      const auto refused = arguments_from(example(), {{key, "5"}});
      return refused ? std::string() : refused.error().fix;
    };
    CHECK(fix_of("pth") == "did you mean '--path'?");
    CHECK(fix_of("max-result") == "did you mean '--max_results'?");
    CHECK(fix_of("zebra").starts_with("use one of: --path --head"));
  }

  TEST_CASE("integers keep every digit") {
    CHECK(of({{"head", "9223372036854775807"}}) == R"({"head":9223372036854775807})");
    CHECK(of({{"head", "18446744073709551615"}}) == R"({"head":18446744073709551615})");
  }

  TEST_CASE("members that a schema lets in by word may be typed, others not") {
    const LockedTool open = tool(R"({"type": "object", "properties": {"a": {"type": "string"}},
                                     "additionalProperties": {"type": "integer"}})");
    CHECK(of({{"a", "5"}, {"more", "5"}}, open) == R"({"a":"5","more":5})");
    CHECK(of({{"more", "x"}}, open).starts_with("refused"));
    const LockedTool forms = tool(R"({"type": "object", "anyOf": [
        {"properties": {"id": {"type": "integer"}}}, {"properties": {"name": {"type": "string"}}}]})");
    CHECK(of({{"id", "5"}}, forms) == R"({"id":5})");
    CHECK(of({{"other", "5"}}, forms).starts_with("refused"));
  }

  TEST_CASE("a switch without a value is true, and only a boolean can be one") {
    CHECK(of({{"deep", std::nullopt}}) == R"({"deep":true})");
    CHECK(refuses({{"path", std::nullopt}}));
  }

  TEST_CASE("a key may be written with dashes") {
    CHECK(of({{"max-results", "3"}}) == R"({"max_results":3})");
  }

  TEST_CASE("a repeated key fills an array, JSON text does too") {
    CHECK(of({{"labels", "a"}, {"labels", "5"}}) == R"({"labels":["a","5"]})");
    CHECK(of({{"ids", "1"}, {"ids", "2"}}) == R"({"ids":[1,2]})");
    CHECK(of({{"ids", "[1,2]"}}) == R"({"ids":[1,2]})");
    CHECK(refuses({{"head", "1"}, {"head", "2"}}));
  }

  TEST_CASE("objects are JSON text, and a text that is no JSON is refused with the reason") {
    CHECK(of({{"options", R"({"a": 1})"}}) == R"({"options":{"a":1}})");
    CHECK(refuses({{"options", "{a: 1}"}}));
    CHECK(refuses({{"options", R"({"a": 1, "a": 2})"}}));
  }

  TEST_CASE("a string or an array takes both") {
    CHECK(of({{"either", "word"}}) == R"({"either":"word"})");
    CHECK(of({{"either", R"(["a", "b"])"}}) == R"({"either":["a","b"]})");
    CHECK(of({{"either", "[not json"}}) == R"({"either":"[not json"})");
  }

  TEST_CASE("where the schema says nothing, JSON is JSON and a bare word is itself") {
    CHECK(of({{"any", "5"}}) == R"({"any":5})");
    CHECK(of({{"any", "word"}}) == R"({"any":"word"})");
    CHECK(of({{"whatever", "x"}}, tool(R"({"type": "object"})")) == R"({"whatever":"x"})");
  }

  TEST_CASE("a word of the wrong type or an unknown key is refused and says what there is") {
    CHECK(refuses({{"head", "five"}}));
    CHECK(refuses({{"deep", "yes"}}));
    const auto unknown = arguments_from(example(), {{"pth", "x"}});
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().fix.find("--path") != std::string::npos);
  }

  TEST_CASE("a definition without a schema takes anything") {
    LockedTool bare{.name = "t",
                    .cpp_name = "mcp::s::t",
                    .digest{},
                    .definition = OrderedJson::parse(R"({"name": "t"})")};
    CHECK(of({{"a", "1"}}, bare) == R"({"a":1})");
  }
}
