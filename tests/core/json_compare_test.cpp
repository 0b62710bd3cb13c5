// Comparing numbers exactly, where doubles would not.
#include "core/json_compare.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace mcpac {
namespace {

Json json(std::string_view text) {
  auto value = parse_json(text);
  REQUIRE(value);
  return *value;
}

bool multiple(std::string_view number, std::string_view divisor) {
  return is_multiple_of(json(number), json(divisor));
}

TEST_SUITE("core/json_compare") {
  TEST_CASE("numbers of every kind have one order") {
    const std::vector<Json> rising = {json("-1e300"),
                                      json("-18446744073709551616.0"),
                                      json("-9223372036854775808"),
                                      json("-1.5"),
                                      json("-1"),
                                      json("0"),
                                      json("5e-324"),
                                      json("0.5"),
                                      json("1"),
                                      json("9007199254740992.0"),
                                      json("9007199254740993"),
                                      json("9007199254740994.0"),
                                      json("9223372036854775807"),
                                      json("9223372036854775808"),
                                      json("18446744073709551615"),
                                      json("18446744073709551616.0"),
                                      json("1e300")};
    for (std::size_t i = 0; i < rising.size(); ++i) {
      for (std::size_t j = 0; j < rising.size(); ++j) {
        CAPTURE(to_text(rising[i]));
        CAPTURE(to_text(rising[j]));
        CHECK(compare_numbers(rising[i], rising[j]) == (i <=> j));
      }
    }
  }

  TEST_CASE("a number is equal however it is written, and never to another type") {
    CHECK(json_equal(json("1"), json("1.0")));
    CHECK(json_equal(Json(1), Json(1U)));
    CHECK(json_equal(json("0"), json("-0.0")));
    CHECK_FALSE(json_equal(json("1"), json("true")));
    CHECK_FALSE(json_equal(json("0"), json("null")));
    CHECK_FALSE(json_equal(json("1"), json("\"1\"")));
    CHECK_FALSE(json_equal(json("9007199254740993"), json("9007199254740992.0")));
  }

  TEST_CASE("arrays and objects are equal by their contents") {
    CHECK(json_equal(json(R"({"a":[1,{"b":2.0}],"c":null})"),
                     json(R"({"c":null,"a":[1.0,{"b":2}]})")));
    CHECK_FALSE(json_equal(json("[1,2]"), json("[2,1]")));
    CHECK_FALSE(json_equal(json("[1,2]"), json("[1,2,3]")));
    CHECK_FALSE(json_equal(json(R"({"a":1})"), json(R"({"b":1})")));
    CHECK_FALSE(json_equal(json("{}"), json("[]")));
  }

  TEST_CASE("whole numbers are whole however they are written") {
    for (const char* text : {"0", "1.0", "-3", "1e300", "18446744073709551615"})
      CHECK(is_integral(json(text)));
    for (const char* text : {"0.5", "1e-9", "-2.000001"}) CHECK_FALSE(is_integral(json(text)));
  }

  TEST_CASE("multiples are judged in decimal") {
    CHECK(multiple("0.3", "0.1"));
    CHECK(multiple("19.99", "0.01"));
    CHECK(multiple("0.0075", "0.0001"));
    CHECK(multiple("1e300", "7e299") == false);
    CHECK(multiple("4.5", "1.5"));
    CHECK(multiple("0", "0.7"));
    CHECK(multiple("1e308", "0.5"));
    CHECK(multiple("12391239123", "1e-8"));
    CHECK(multiple("18446744073709551615", "5"));
    CHECK(multiple("-6", "3"));
    CHECK(multiple("5", "2.5"));
    CHECK_FALSE(multiple("35", "1.5"));
    CHECK_FALSE(multiple("0.00751", "0.0001"));
    CHECK_FALSE(multiple("18446744073709551615", "2"));
    CHECK_FALSE(multiple("1e308", "0.123456789"));
    CHECK_FALSE(multiple("0.1", "0.3"));
  }

  TEST_CASE("every pair of values has an order, so they can be sorted") {
    std::vector<Json> values;
    for (const char* text : {"[2]", "{}", "1.0", "\"b\"", "null", "[1,1]", "true", "1", "\"a\"",
                             "false", R"({"a":2})", R"({"a":1})", "[1]", "-1"}) {
      values.push_back(json(text));
    }
    std::ranges::sort(values, [](const Json& a, const Json& b) { return compare_json(a, b) < 0; });
    for (std::size_t i = 1; i < values.size(); ++i)
      CHECK(compare_json(values[i - 1], values[i]) <= 0);
    CHECK(values.front().is_null());
    CHECK(values.back() == json(R"({"a":2})"));
  }
}

}  // namespace
}  // namespace mcpac
