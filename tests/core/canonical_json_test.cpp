// RFC 8785's own examples (sections 3.2.2 and 3.2.3, appendix B), and where we say that we deviate.
#include "core/canonical_json.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>

namespace mcpac {
namespace {

std::string canonical(std::string_view text) {
  const auto plain = parse_json(text);
  const auto ordered = parse_ordered_json(text);
  REQUIRE(plain);
  REQUIRE(ordered);
  CHECK(canonical_json(*plain) == canonical_json(*ordered));
  return canonical_json(*plain);
}

TEST_SUITE("core/canonical_json") {
  TEST_CASE("the example of RFC 8785, section 3.2.2") {
    CHECK(canonical(R"({
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    })") ==
          "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
          "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
  }

  TEST_CASE("members are sorted as UTF-16, as in RFC 8785, section 3.2.3") {
    CHECK(canonical(R"({
      "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis"
    })") ==
          "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
          "\"\xc3\xb6\":\"Latin Small Letter O With Diaeresis\",\"\xe2\x82\xac\":\"Euro Sign\","
          "\"\xf0\x9f\x98\x80\":\"Emoji: Grinning Face\","
          "\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"}");
  }

  TEST_CASE("a name that begins another comes first") {
    CHECK(canonical(R"({"ab":1,"a":2,"":3,"b":4})") == R"({"":3,"a":2,"ab":1,"b":4})");
  }

  TEST_CASE("numbers are written as RFC 8785, appendix B, writes them") {
    struct Sample {
      std::uint64_t bits;
      std::string_view text;
    };
    constexpr std::array kSamples = {
        Sample{0x0000000000000000, "0"},
        Sample{0x8000000000000000, "0"},
        Sample{0x0000000000000001, "5e-324"},
        Sample{0x8000000000000001, "-5e-324"},
        Sample{0x7fefffffffffffff, "1.7976931348623157e+308"},
        Sample{0xffefffffffffffff, "-1.7976931348623157e+308"},
        Sample{0x4340000000000000, "9007199254740992"},
        Sample{0xc340000000000000, "-9007199254740992"},
        Sample{0x4430000000000000, "295147905179352830000"},
        Sample{0x44b52d02c7e14af5, "9.999999999999997e+22"},
        Sample{0x44b52d02c7e14af6, "1e+23"},
        Sample{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        Sample{0x444b1ae4d6e2ef4e, "999999999999999700000"},
        Sample{0x444b1ae4d6e2ef4f, "999999999999999900000"},
        Sample{0x444b1ae4d6e2ef50, "1e+21"},
        Sample{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        Sample{0x3eb0c6f7a0b5ed8d, "0.000001"},
        Sample{0x41b3de4355555553, "333333333.3333332"},
        Sample{0x41b3de4355555554, "333333333.33333325"},
        Sample{0x41b3de4355555555, "333333333.3333333"},
        Sample{0x41b3de4355555556, "333333333.3333334"},
        Sample{0x41b3de4355555557, "333333333.33333343"},
        Sample{0xbecbf647612f3696, "-0.0000033333333333333333"},
        Sample{0x43143ff3c1cb0959, "1424953923781206.2"},
    };
    for (const auto& [bits, text] : kSamples) {
      CAPTURE(text);
      CHECK(ecmascript_number(std::bit_cast<double>(bits)) == text);
    }
  }

  TEST_CASE("one value has one text, however it was written") {
    CHECK(canonical("[1.0, 1e0, 10e-1, -0.0, -0, 100E-2]") == "[1,1,1,0,0,1]");
    CHECK(canonical(R"(["\u00e9","\u001f","\/","\u007f"])") ==
          "[\"\xc3\xa9\",\"\\u001f\",\"/\",\"\x7f\"]");
  }

  TEST_CASE(
      "64-bit integers keep all digits, unlike in the RFC: two values must not have one text") {
    CHECK(canonical("[9007199254740993,18446744073709551615,-9223372036854775808]") ==
          "[9007199254740993,18446744073709551615,-9223372036854775808]");
    CHECK(canonical("9007199254740993") != canonical("9007199254740992"));
  }

  TEST_CASE("what is canonical stays as it is") {
    for (const std::string_view text :
         {R"({"a":[{"b":1.5e-9,"c":"x\n"}],"d":{}})", "1e+21", "\"\\b\\f\\t\\r\""}) {
      CHECK(canonical(text) == text);
    }
  }
}

}  // namespace
}  // namespace mcpac
