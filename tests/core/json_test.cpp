// JSON from outside: what is refused, where the error points, and that size alone is no reason.
#include "core/json.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <string>

#include "core/call_arguments.h"
#include "core/json_cost.h"

namespace mcpac {
namespace {

Error error_of(std::string_view text, const JsonLimits& limits = {}) {
  const auto plain = parse_json(text, "f.json", limits);
  const auto ordered = parse_ordered_json(text, "f.json", limits);
  REQUIRE_FALSE(plain);
  REQUIRE_FALSE(ordered);
  CHECK(plain.error() == ordered.error());
  return plain.error();
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string object_with_members(std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i)
    text += fmt::format("{}\"member{}\":{}", i > 0 ? "," : "", i, i);
  return text + "}";
}

TEST_SUITE("core/json") {
  TEST_CASE("values of every kind are read") {
    const auto value =
        parse_json(R"( {"a": [1, -2, 3.5, "x\u00e9\ud83d\ude00", true, false, null, {}, []]} )");
    REQUIRE(value);
    CHECK(to_text(*value) ==
          "{\"a\":[1,-2,3.5,\"x\xc3\xa9\xf0\x9f\x98\x80\",true,false,null,{},[]]}");
  }

  TEST_CASE("64-bit integers keep every digit") {
    const auto value = parse_json("[18446744073709551615, -9223372036854775808, 9007199254740993]");
    REQUIRE(value);
    CHECK(to_text(*value) == "[18446744073709551615,-9223372036854775808,9007199254740993]");
  }

  TEST_CASE("the ordered form keeps the order of the text, the other sorts") {
    const std::string_view text = R"({"b":1,"a":{"d":1,"c":2}})";
    CHECK(to_text(*parse_ordered_json(text)) == text);
    CHECK(to_text(*parse_json(text)) == R"({"a":{"c":2,"d":1},"b":1})");
  }

  TEST_CASE("a syntax error has line and column") {
    const auto error = error_of("{\n  \"a\": 1,\n  \"b\": nope\n}");
    CHECK(error.id == ErrorId::kJsonSyntax);
    CHECK(error.where.starts_with("f.json:3:"));
    CHECK(error_of("[1,\n2\n").where == "f.json:3:1");
    CHECK(error_of("").where == "f.json:1:1");
    CHECK(error_of("[1] x").where == "f.json:1:5");
    CHECK(parse_json("]").error().where == "line 1, column 1");
  }

  TEST_CASE("malformed texts are refused") {
    for (const std::string_view text : {"",         " ",
                                        "{",        "[",
                                        "{]",       "[1,]",
                                        "{\"a\":}", "{\"a\" 1}",
                                        "{a:1}",    "'a'",
                                        "01",       "1.",
                                        ".5",       "+1",
                                        "NaN",      "Infinity",
                                        "nul",      "\"\n\"",
                                        "\"\\x\"",  "\"\\ud800\"",
                                        "\"\xff\"", "\"\xc0\x80\"",
                                        "1 2",      "{} {}",
                                        "// c\n1",  "1e999",
                                        "\"abc"}) {
      CAPTURE(text);
      CHECK(error_of(text).id == ErrorId::kJsonSyntax);
    }
  }

  TEST_CASE("an error never repeats what was read, which may be a secret") {
    for (const std::string_view text :
         {"{\"key\": \"sk-secret\n\"}", "[sk-secret]", "{\"a\":\"sk-secret\" \"b\"}",
          "\"sk-secret\\q\"", "[\"sk-secret"}) {
      CAPTURE(text);
      CHECK(error_of(text).to_text().find("secret") == std::string::npos);
    }
  }

  TEST_CASE("a member that stands twice is refused, where it stands") {
    const auto error = error_of("{\"a\": 1,\n \"b\": 2, \"a\": 3}");
    CHECK(error.id == ErrorId::kJsonSyntax);
    CHECK(error.what.find("\"a\"") != std::string::npos);
    CHECK(error.where == "f.json:2:10");
  }

  TEST_CASE("a member that stands twice is refused at any depth and in any spelling") {
    CHECK(error_of(R"([[{"x":[{"k":1,"l":2,"k":1}]}]])").what.find("twice") != std::string::npos);
    CHECK(error_of(R"({"a":1,"\u0061":1})").what.find("twice") != std::string::npos);
    CHECK(error_of(R"({"":1,"":1})").what.find("twice") != std::string::npos);
    CHECK(error_of(R"({"a\"b":1,  "a\"b":1})").where == "f.json:1:13");
    CHECK(parse_json(R"([{"k":1},{"k":1},{"k":{"k":1}}])"));
    CHECK(parse_ordered_json(R"([{"k":1},{"k":1},{"k":{"k":1}}])"));
  }

  TEST_CASE("a member that stands twice is found among many") {
    std::string text = object_with_members(1000);
    text.back() = ',';
    for (const int again : {0, 14, 15, 16, 17, 999}) {
      CAPTURE(again);
      CHECK(error_of(text + fmt::format("\"member{}\":0}}", again)).what.find("twice") !=
            std::string::npos);
    }
  }

  TEST_CASE("depth is limited, and what the limit allows is read") {
    const JsonLimits limits{.max_depth = 5};
    CHECK(parse_json("[[[[[]]]]]", "", limits));
    const auto error = error_of("[[[[[\n[]]]]]]", limits);
    CHECK(error.id == ErrorId::kJsonLimit);
    CHECK(error.where == "f.json:2:1");
    CHECK(error_of(repeated("{\"a\":", 129) + "1" + repeated("}", 129)).id == ErrorId::kJsonLimit);
  }

  TEST_CASE("a text without end in depth is refused before the stack is") {
    CHECK(error_of(repeated("[", 5'000'000)).id == ErrorId::kJsonLimit);
    CHECK(error_of(repeated("{\"a\":", 1'000'000)).id == ErrorId::kJsonLimit);
  }

  TEST_CASE("the number of values is limited") {
    const JsonLimits limits{.max_values = 4};
    CHECK(parse_json("[1,2,3]", "", limits));
    CHECK(error_of("[1,2,3,4]", limits).id == ErrorId::kJsonLimit);
    CHECK(error_of("[[],[],[],[]]", limits).id == ErrorId::kJsonLimit);
  }

  TEST_CASE("the size of the text is limited") {
    const JsonLimits limits{.max_bytes = 4};
    CHECK(parse_json("1234", "", limits));
    CHECK(error_of("12345", limits).id == ErrorId::kJsonLimit);
  }

  TEST_CASE("100,000 members are read in both forms") {
    const std::string text = object_with_members(100'000);
    const auto plain = parse_json(text);
    const auto ordered = parse_ordered_json(text);
    REQUIRE(plain);
    REQUIRE(ordered);
    CHECK(plain->size() == 100'000);
    CHECK(to_text(*ordered) == text);
  }

  TEST_CASE("a number beyond double is refused, or taken as the largest one where calls are read") {
    const std::string text = R"({"a":1e400,"b":[-1e999,2,1e-400],"c":"1e400 \" 1e400"})";
    CHECK(parse_json(text).error().what.find("a number is out of range") != std::string::npos);
    const auto value = parse_call(text);
    REQUIRE(value);
    CHECK((*value)["a"] == std::numeric_limits<double>::max());
    CHECK((*value)["b"] == Json{-std::numeric_limits<double>::max(), 2, 0.0});
    CHECK((*value)["c"] == "1e400 \" 1e400");
    for (const char* wrong : {"1e400e5", "01e400", "1.e400", "[1e400", "{\"a\":1e400 \"", "1e400-",
                              "1e400 2", "\"\\"}) {
      CAPTURE(wrong);
      CHECK_FALSE(parse_call(wrong));
    }
  }

  TEST_CASE("bytes that are not UTF-8 become text that is") {
    CHECK(to_text(Json("a\xff")) == "\"a\xef\xbf\xbd\"");
  }

  TEST_CASE("a member is found in objects only, and only as the type asked for") {
    const auto value = parse_json(R"({"a":"x","n":1})");
    REQUIRE(value);
    REQUIRE(find_member(*value, "a") != nullptr);
    CHECK(*find_member(*value, "a") == "x");
    CHECK(find_member(*value, "b") == nullptr);
    CHECK(find_member(Json::array(), "a") == nullptr);
    CHECK(string_member(*value, "a") == "x");
    CHECK(string_member(*value, "n", "none") == "none");
  }

  TEST_CASE("what values take beside their text is counted, whoever reads them") {
    const auto beside = [](std::string_view text) {
      std::size_t counted = 0;
      const auto value = parse_json_counted(text, {}, counted);
      REQUIRE(value.has_value());
      CHECK(beside_text(*value) == counted);
      return counted;
    };
    using Cost = JsonCost;
    CHECK(beside("1") == Cost::kValue);
    CHECK(beside("[1,2]") == 3 * Cost::kValue + Cost::kArray);
    CHECK(beside(R"({"a":"b"})") == 2 * Cost::kValue + Cost::kObject + Cost::kMember + Cost::kText);
    // A number beyond 64 bits is read by the library.
    for (const std::string shape : {R"([{"":N},{"":N}])", R"({"a":[N,"b",null,{}],"c":[[]]})"}) {
      CAPTURE(shape);
      const auto with = [&](std::string_view number) {
        std::string text = shape;
        for (auto at = text.find('N'); at != std::string::npos; at = text.find('N'))
          text.replace(at, 1, number);
        return text;
      };
      CHECK(beside(with("0")) == beside(with("123456789012345678901234567890")));
    }
  }
}

}  // namespace
}  // namespace mcpac
