#include "core/printable.h"

#include <doctest/doctest.h>

#include "core/characters.h"
#include "core/json.h"

using namespace mcpac;

namespace {

std::string number_of(char32_t code) {
  std::string text;
  append_escaped(text, code);
  return text;
}

std::string utf8(char32_t code) {
  std::string text;
  append_utf8(text, code);
  return text;
}

}  // namespace

TEST_SUITE("core/printable") {
  TEST_CASE("every invisible character is shown by its number, whoever shows the text") {
    for (const char32_t hidden :
         {U'\x01',   U'\x7f',       U'\x80',       U'\x9b',       U'\xad',       U'\u034f',
          U'\u061c', U'\u115f',     U'\u1160',     U'\u17b4',     U'\u180b',     U'\u180f',
          U'\u200b', U'\u200e',     U'\u2028',     U'\u202e',     U'\u2060',     U'\u2066',
          U'\u206f', U'\u2800',     U'\u3164',     U'\ufe00',     U'\ufeff',     U'\uffa0',
          U'\ufff9', U'\U0001bca0', U'\U0001d173', U'\U000e0001', U'\U000e007f', U'\U000e0100'}) {
      const std::string text = "a" + utf8(hidden) + "b";
      const std::string shown = "a" + number_of(hidden) + "b";
      CAPTURE(shown);
      CHECK(printable(text) == shown);
      CHECK(printable_prose(text) == shown);
      CHECK(printable_lines(text) == shown);
      CHECK(printable_in_place(text) == shown);
      CHECK(printable_width(text) == shown.size());
      CHECK(has_invisible(text));
    }
    CHECK(number_of(U'\u200c') == "\\u200c");
    CHECK(number_of(U'\U000e0041') == "\\udb40\\udc41");
  }

  TEST_CASE("a value is shown exactly: also what joins letters, and blanks that are none of ours") {
    CHECK(printable("\u0645\u06cc\u200c\u062e") == "\u0645\u06cc\\u200c\u062e");
    CHECK(printable("\U0001f469\u200d\U0001f4bb") == "\U0001f469\\u200d\U0001f4bb");
    CHECK(printable("\u2764\ufe0f") == "\u2764\\ufe0f");
    CHECK(printable("a\u00a0b\u3000c") == "a\\u00a0b\\u3000c");
    // In a JSON string what is shown is read back as the very value.
    for (const char* value : {"\u200c", "x\u2800", "\U000e0041\"\\", "\x7f\u0085", "\\u200c"}) {
      const std::string json = printable_in_place(to_text(Json(value)));
      CAPTURE(json);
      CHECK(Json::parse(json).get<std::string>() == value);
      CHECK(printable(json) == json);
    }
  }

  TEST_CASE("bytes that are no UTF-8 do not reach a terminal") {
    CHECK(printable("a\x9b"
                    "b") == "a\\x9bb");
    for (const char* broken : {"\x9b", "\xff", "\xc0", "\xed"}) CHECK(has_invisible(broken));
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");
  }

  TEST_CASE("prose that people write stays, and what hides in it does not") {
    for (const char* text : {"Grüße", "日本語", "می‌خواهم", "👩‍💻", "\u2764\ufe0f",
                             "1\ufe0f\u20e3", "\u2764\ufe0f\u200d\U0001f525",
                             "3\u202f"
                             "PM",
                             "\xef\xbf\xbd"}) {
      CAPTURE(text);
      CHECK(printable_prose(text) == text);
      CHECK(printable_lines(text) == text);
      CHECK_FALSE(has_invisible(text));
    }
    CHECK(printable_prose("pa\u200dth") == "pa\\u200dth");
    CHECK(printable_prose("ي\u200c") == "ي\\u200c");
    CHECK(printable_prose("a\ufe0f") == "a\\ufe0f");
    CHECK(printable_prose("\u2764\ufe0f\ufe0f") == "\u2764\ufe0f\\ufe0f");
    CHECK(printable_prose("\u2764\ufe01") == "\u2764\\ufe01");
    CHECK(printable_prose("می\u200c\u200cخ") == "می\\u200c\\u200cخ");
  }

  TEST_CASE("what stands in place keeps its place, and a colour takes no quote with it") {
    CHECK(printable_in_place("a\x1b[31mb\tc") == "a\\u001b[31mb c");
    CHECK(printable("\x1b[31mred\x1b[0m") == "red");
    CHECK(printable("\x1b['\\''; x") == "\\u001b['\\''; x");
    CHECK(printable_width("é\u200b") == 7);
  }
}
