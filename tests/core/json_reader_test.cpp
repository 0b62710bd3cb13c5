// JSON is read beside the library, and nobody can tell but by the clock.
#include "core/json_reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "core/json.h"

namespace mcpac {
namespace {

std::string long_text() {
  return std::string(1000, 'x');
}

// What strings are made of, right and wrong.
constexpr std::array<std::string_view, 24> kPieces{"plain words, ",
                                                   "\\n",
                                                   "\\\"",
                                                   "\\\\",
                                                   "\\/",
                                                   "\\u00e9",
                                                   "\\u0000",
                                                   "\\ud83d\\ude00",
                                                   "\xc3\xa4",
                                                   "\xf0\x9f\x98\x80",
                                                   "\x7f",
                                                   "\xef\xbf\xbd",
                                                   "\xef\xbb\xbf",
                                                   "\\ud83d",
                                                   "\\ude00",
                                                   "\\ud83dx",
                                                   "\\x",
                                                   "\\u12",
                                                   "\\u+123",
                                                   "\x01",
                                                   "\xff",
                                                   "\xed\xa0\x80",
                                                   "\"",
                                                   "\\"};
constexpr std::size_t kRight = 13;

std::string string_of(std::mt19937& random, std::size_t pieces, std::size_t kinds) {
  std::string text;
  for (std::size_t i = 0; i < pieces; ++i) text += kPieces.at(random() % kinds);
  return text;
}

template <class Value>
void check_alike(const std::string& text) {
  CAPTURE(text);
  const auto read = read_plain_json<Value>(text, {});
  if (!read) return;
  REQUIRE(Value::accept(text));
  const Value expected = Value::parse(text);
  CHECK(*read == expected);
  // Also where numbers of different types are equal.
  CHECK(to_text(*read) == expected.dump(-1, ' ', false, Value::error_handler_t::replace));
}

TEST_SUITE("core/json_reader") {
  TEST_CASE("what is usual is read without the library") {
    for (const char* text :
         {"{}", "[]", " [ ] ", "null", "true", "false", "0", "-0", "17", "-17", "1.5", "-1.5e-3",
          "1E+2", R"("")", R"("a\nb\u00e4\ud83d\ude00")", "18446744073709551615",
          "-9223372036854775808", "\t{\r\n\"a\" : [ 1 , {\"b\":null} ] , \"c\":\"\xc3\xa4\" }\n",
          R"({"b":1,"a":{"c":[[[]]]}})"}) {
      CAPTURE(text);
      CHECK(read_plain_json<Json>(text, {}).has_value());
      CHECK(read_plain_json<OrderedJson>(text, {}).has_value());
      check_alike<Json>(text);
      check_alike<OrderedJson>(text);
    }
  }

  TEST_CASE("what is not certain is left to the library") {
    for (const std::string text : {"",
                                   " ",
                                   "{",
                                   "[",
                                   "[1",
                                   "[1,",
                                   "[1,]",
                                   "[,1]",
                                   "{\"a\"",
                                   "{\"a\":",
                                   "{\"a\":1",
                                   "{\"a\":1,}",
                                   "{,}",
                                   "{1:2}",
                                   "{\"a\" 1}",
                                   "{\"a\":1 \"b\":2}",
                                   "[1 2]",
                                   "tru",
                                   "truee",
                                   "nul",
                                   "+1",
                                   "01",
                                   "-",
                                   "-a",
                                   "1.",
                                   ".5",
                                   "1e",
                                   "1e+",
                                   "1.e5",
                                   "0x1",
                                   "1 1",
                                   "[]]",
                                   "\"a",
                                   "\"\\",
                                   "\"\\u12",
                                   "\"\\x\"",
                                   "\"\n\"",
                                   "\"\xff\"",
                                   "\"\xed\xa0\x80\"",
                                   "\"\\ud800\"",
                                   "\"\\udc00\"",
                                   "\xef\xbb\xbf[]",
                                   "[] //",
                                   "NaN",
                                   "18446744073709551616",
                                   "-9223372036854775809",
                                   "1e999",
                                   "{\"a\":1,\"a\":2}",
                                   "'a'"}) {
      CAPTURE(text);
      CHECK_FALSE(read_plain_json<Json>(text, {}).has_value());
      CHECK_FALSE(read_plain_json<OrderedJson>(text, {}).has_value());
    }
    CHECK_FALSE(read_plain_json<Json>(std::string("[]\0", 3), {}).has_value());
  }

  TEST_CASE("limits are the library's: as much is read, and not more") {
    const std::string deep = std::string(5, '[') + std::string(5, ']');
    CHECK(read_plain_json<Json>(deep, {.max_depth = 5}).has_value());
    CHECK_FALSE(read_plain_json<Json>(deep, {.max_depth = 4}).has_value());
    CHECK(read_plain_json<Json>("[1,2]", {.max_values = 3}).has_value());
    CHECK_FALSE(read_plain_json<Json>("[1,2]", {.max_values = 2}).has_value());
    for (std::size_t most = 1; most < 9; ++most) {
      const JsonLimits limits{.max_depth = most, .max_values = most};
      const std::string text = R"({"a":[1,{"b":[2,3]}],"c":4})";
      CHECK(read_plain_json<Json>(text, limits).has_value() ==
            parse_json(text, "", limits).has_value());
    }
    const std::string deepest = std::string(100'000, '[') + std::string(100'000, ']');
    CHECK_FALSE(read_plain_json<Json>(deepest, {.max_depth = 1'000'000}).has_value());
  }

  TEST_CASE("an ordered value keeps its order, and no name stands twice, however many there are") {
    std::string text = "{";
    for (int i = 40; i > 0; --i) text += fmt::format("\"m{}\":{},", i, i);
    const auto read = read_plain_json<OrderedJson>(text + "\"last\":[]}", {});
    REQUIRE(read);
    CHECK(read->begin().key() == "m40");
    CHECK(read->size() == 41);
    CHECK_FALSE(read_plain_json<OrderedJson>(text + "\"m30\":1}", {}).has_value());
    CHECK_FALSE(read_plain_json<Json>(text + "\"m30\":1}", {}).has_value());
  }

  TEST_CASE("texts that are wrong at one place are taken by both or left to the library") {
    const std::string text =
        R"({"a":[1,-2.5e3,true,null,"x\u00e9\\"],"b":{"c":{},"d":[]},"e":"\ud83d\ude00","f":0.1})";
    const std::string bytes = "{}[],:\"\\ \n01-+.eEtfnu\x01\xff\x80z";
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const char byte : bytes) {
        std::string wrong = text;
        wrong[at] = byte;
        check_alike<Json>(wrong);
        wrong = text;
        wrong.insert(at, 1, byte);
        check_alike<Json>(wrong);
      }
      std::string shorter = text;
      check_alike<Json>(shorter.erase(at, 1));
      check_alike<Json>(text.substr(0, at));
    }
  }

  TEST_CASE("numbers are what the library makes of them, to the last bit") {
    std::mt19937_64 random(3);
    for (int i = 0; i < 20'000; ++i) {
      const auto bits = random();
      double number = 0;
      std::memcpy(&number, &bits, sizeof number);
      const int digits = static_cast<int>(random() % 20);
      check_alike<Json>(fmt::format("{:.{}e}", number, digits));
      check_alike<Json>(fmt::format("[{},{}]", bits, static_cast<std::int64_t>(bits)));
    }
  }

  TEST_CASE("names may be long, too, and stand twice in no object") {
    const std::string member = '"' + long_text() + "\":1";
    const auto once = parse_json("{" + member + "}");
    REQUIRE(once);
    CHECK(once->contains(long_text()));
    const auto twice = parse_json("{" + member + "," + member + "}");
    REQUIRE(!twice);
    CHECK(twice.error().what.find("stands twice") != std::string::npos);
  }

  TEST_CASE("what is wrong behind a long string is said at its place in the text") {
    const auto wrong = parse_json("[\"" + long_text() + "\\n\",\n  oops]", "f.json");
    REQUIRE(!wrong);
    CHECK(wrong.error().where == "f.json:2:3");
  }

  TEST_CASE("long strings of every kind are what the library reads in them") {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
      std::string text = "[";
      for (int i = 0; i < 6; ++i) {
        text += (i > 0 ? ",\"" : "\"");
        text += string_of(random, random() % 120, kRight) + "\"";
      }
      text += ",{\"n\":1}]";
      const auto read = parse_json(text);
      REQUIRE(read);
      CHECK(*read == Json::parse(text));
      const auto ordered = parse_ordered_json(text);
      REQUIRE(ordered);
      CHECK(to_text(*ordered) == to_text(*read));
    }
  }

  TEST_CASE("whatever stands in a long string is let in by both or by neither") {
    std::mt19937 random(8);
    std::size_t accepted = 0;
    for (int round = 0; round < 3000; ++round) {
      std::string text = "[\"" + string_of(random, 60, kRight);
      text += random() % 2 == 0 ? "" : kPieces.at(random() % kPieces.size());
      text += string_of(random, 20, kRight) + "\",\"short\"]";
      const bool library = Json::accept(text);
      accepted += library ? 1 : 0;
      const auto read = parse_json(text);
      CHECK(read.has_value() == library);
      if (read && library) CHECK(*read == Json::parse(text));
    }
    CHECK(accepted > 1000);
    CHECK(accepted < 2500);
  }
}

}  // namespace
}  // namespace mcpac
