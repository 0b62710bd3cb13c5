// Long strings are read beside the library, and nobody can tell but by the clock.
#include "core/json_long_texts.h"

#include <doctest/doctest.h>

#include <array>
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

TEST_SUITE("core/json_long_texts") {
  TEST_CASE("a long string is cut out and put back, in its order among all strings") {
    const std::string text = R"({"a":"b","long":")" + long_text() + R"(","c":["d"]})";
    auto texts = LongTexts::cut_from(text);
    REQUIRE(texts);
    CHECK(texts->rest() == R"({"a":"b","long":"","c":["d"]})");
    const std::array<std::string, 6> strings{"a", "b", "long", long_text(), "c", "d"};
    for (const std::string& expected : strings) {
      std::string told = expected == long_text() ? "" : expected;
      texts->put_back(told);
      CHECK(told == expected);
    }
  }

  TEST_CASE("short strings, and what may be no string at all, are left to the library") {
    CHECK(!LongTexts::cut_from(R"({"a":"b"})"));
    CHECK(!LongTexts::cut_from("[" + std::string(2000, '1') + "]"));
    CHECK(!LongTexts::cut_from("[\"" + long_text()));
    CHECK(!LongTexts::cut_from("[\"" + long_text() + "\\ud800\"]"));
    CHECK(!LongTexts::cut_from("[\"" + long_text() + "\n\"]"));
    CHECK(!LongTexts::cut_from("[\"" + long_text() + "\xff\"]"));
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
