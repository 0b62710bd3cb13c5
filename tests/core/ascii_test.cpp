#include "core/ascii.h"

#include <doctest/doctest.h>

#include <string>

#include "core/percent_code.h"

using namespace mcpac;

TEST_SUITE("core/ascii") {
  TEST_CASE("every byte is of the kinds that ASCII says, and none beyond it is of any") {
    int digits = 0;
    int letters = 0;
    int controls = 0;
    int bare = 0;
    for (int value = 0; value < 256; ++value) {
      const char c = static_cast<char>(value);
      CAPTURE(value);
      if (value >= 0x80) CHECK_FALSE((is_digit(c) || is_letter(c) || is_control(c) || is_bare(c)));
      digits += is_digit(c) ? 1 : 0;
      letters += is_letter(c) ? 1 : 0;
      controls += is_control(c) ? 1 : 0;
      bare += is_bare(c) ? 1 : 0;
      CHECK(is_lower(to_lower(c)) == is_letter(c));
      const bool is_hex =
          std::string_view("0123456789abcdefABCDEF").find(c) != std::string_view::npos;
      CHECK((hex_value(c) >= 0) == is_hex);
    }
    CHECK(digits == 10);
    CHECK(letters == 52);
    CHECK(controls == 33);
    CHECK(bare == 64);
    CHECK(hex_value('7') == 7);
    CHECK(hex_value('f') == 15);
    CHECK(hex_value('A') == 10);
  }

  TEST_CASE("percent codes are decoded once, and what is none stands as it is") {
    CHECK(percent_decoded("a%20b%2Fc%2f") == "a b/c/");
    CHECK(percent_decoded("%2541") == "%41");
    CHECK(percent_decoded("100%") == "100%");
    CHECK(percent_decoded("%4") == "%4");
    CHECK(percent_decoded("%zz%41") == "%zzA");
    CHECK(percent_decoded("%00") == std::string(1, '\0'));
    CHECK(strictly_percent_decoded("a%20b%2Fc%2f%00") == std::string("a b/c/\0", 7));
    CHECK(strictly_percent_decoded("") == "");
    for (const char* text : {"100%", "%4", "%zz%41", "a%2", "%-1", "% 1", "%%41", "%+1"})
      CHECK_MESSAGE(!strictly_percent_decoded(text), text);
  }
}
