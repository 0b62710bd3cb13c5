#include "core/printable.h"

#include <doctest/doctest.h>

#include "core/characters.h"

using namespace mcpac;

TEST_SUITE("core/printable") {
  TEST_CASE("every invisible character becomes a question mark, whoever shows the text") {
    for (const char* hidden :
         {"\x01", "\x7f", "\xc2\x80", "\xc2\x9b", "\xc2\x9f", "\xc2\xad", "\xe2\x80\x8b",
          "\xe2\x80\x8e", "\xe2\x80\xa8", "\xe2\x80\xae", "\xe2\x81\xa0", "\xe2\x81\xa6",
          "\xef\xbb\xbf", "\xf3\xa0\x80\x81", "\xf3\xa0\x81\xbf"}) {
      const std::string text = "a" + std::string(hidden) + "b";
      INFO(text);
      CHECK(printable(text) == "a?b");
      CHECK(printable_lines(text) == "a?b");
      CHECK(printable_in_place(text) == "a?b");
      CHECK(has_invisible(text));
    }
  }

  TEST_CASE("bytes that are no UTF-8 do not reach a terminal") {
    for (const char* broken : {"\x9b", "\xff", "\xc0", "\xed"}) {
      CHECK(printable("a" + std::string(broken) + "b") == "a?b");
      CHECK(has_invisible(broken));
    }
    CHECK(printable("\xed\xa0\x80") == "???");
  }

  TEST_CASE("text that people see stays") {
    for (const char* text :
         {"Grüße", "日本語", "می‌خواهم", "👩‍💻", "\xef\xbf\xbd"}) {
      CHECK(printable(text) == text);
      CHECK_FALSE(has_invisible(text));
    }
  }

  TEST_CASE("what stands in place keeps its place, and a colour takes no quote with it") {
    CHECK(printable_in_place("a\x1b[31mb\tc") == "a?[31mb c");
    CHECK(printable("\x1b[31mred\x1b[0m") == "red");
    CHECK(printable("\x1b['\\''; x") == "?['\\''; x");
  }
}
