#include "core/json_writer.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace mcpac;

namespace {

std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"plain text of some length ",
                                                   "\"",
                                                   "\\",
                                                   "\n",
                                                   "\x01",
                                                   std::string(1, '\0'),
                                                   "\x7f",
                                                   "ä",
                                                   "語",
                                                   "😀",
                                                   "/",
                                                   "\xff",
                                                   "\xc3"};
  std::string text;
  for (auto n = random() % 12; n > 0; --n) text += kPieces[random() % kPieces.size()];
  return text;
}

Json random_value(std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 8 : 6)) {
    case 0: return nullptr;
    case 1: return random() % 2 == 0;
    case 2: return static_cast<std::int64_t>(random()) - 1'000'000'000;
    case 3: return static_cast<double>(random()) / 7.0;
    case 6: {
      Json array = Json::array();
      for (auto n = random() % 4; n > 0; --n) array.push_back(random_value(random, depth - 1));
      return array;
    }
    case 7: {
      Json object = Json::object();
      for (auto n = random() % 4; n > 0; --n)
        object[random_text(random)] = random_value(random, depth - 1);
      return object;
    }
    default: return random_text(random);
  }
}

template <class Value>
std::string by_library(const Value& value) {
  return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

}  // namespace

TEST_SUITE("core/json_writer") {
  TEST_CASE("it writes the bytes that the library writes") {
    std::mt19937 random(11);
    for (int i = 0; i < 3000; ++i) {
      const Json value = random_value(random, 4);
      CHECK(to_text(value) == by_library(value));
      CHECK(to_text(OrderedJson(value)) == by_library(value));
    }
  }

  TEST_CASE("an ordered value keeps the order of its members") {
    const OrderedJson value{{"z", 1}, {"a", OrderedJson::array({true, "\n"})}};
    CHECK(to_text(value) == R"({"z":1,"a":[true,"\n"]})");
  }

  TEST_CASE("numbers keep all their digits") {
    for (const Json& number :
         {Json(std::numeric_limits<std::int64_t>::min()),
          Json(std::numeric_limits<std::uint64_t>::max()), Json(0), Json(-1), Json(1e300),
          Json(0.1), Json(-0.0), Json(std::numeric_limits<double>::infinity())})
      CHECK(to_text(number) == by_library(number));
  }

  TEST_CASE("every byte at every place of a word is escaped as it must be") {
    for (int byte = 0; byte < 256; ++byte) {
      for (std::size_t at = 0; at < 17; ++at) {
        std::string text(17, 'x');
        text[at] = static_cast<char>(byte);
        const std::string line = to_text(Json(text));
        CAPTURE(byte);
        CAPTURE(at);
        CHECK(line == by_library(Json(text)));
        CHECK(line.find('\n') == std::string::npos);
      }
    }
  }

  TEST_CASE("what is no UTF-8 becomes what the library makes of it, whatever stands around it") {
    for (const char* text : {"ä\xc3", "\xc3\xa4\xff ä", "\xed\xa0\x80x", "\xf0\x9f\x98",
                             "x\xc0\x80\n", "\xf4\x90\x80\x80", "\xe2\x82 \xe2\x82\xac"}) {
      CAPTURE(text);
      CHECK(to_text(Json(text)) == by_library(Json(text)));
    }
  }

  TEST_CASE("it is added to what stands there") {
    std::string out = "x=";
    append_json(out, Json::object());
    append_json(out, Json::array());
    append_json_string(out, "a\"b");
    CHECK(out == R"(x={}[]"a\"b")");
  }

  TEST_CASE("an object that is written member by member is the text of its value") {
    std::string out;
    JsonMembers members(out);
    members.add("a", "x\"\n");
    members.add("b", true);
    members.add("c", std::uint64_t{7});
    members.add("d", std::int64_t{-7});
    members.add_null("e");
    members.add_json("f", Json{{"g", {1, 2}}});
    JsonMembers inner(members.begin("h"));
    inner.end();
    members.add("i", std::string("text"));
    members.end();
    CHECK(out == to_text(Json{{"a", "x\"\n"},
                              {"b", true},
                              {"c", 7},
                              {"d", -7},
                              {"e", nullptr},
                              {"f", {{"g", {1, 2}}}},
                              {"h", Json::object()},
                              {"i", "text"}}));
  }
}
