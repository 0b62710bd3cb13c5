#include "codegen/text_escape.h"

#include <doctest/doctest.h>

#include <string>

#include "codegen/json_text.h"

using namespace mcpac::codegen;
using mcpac::OrderedJson;

TEST_SUITE("codegen/text_escape") {
  TEST_CASE("nothing in a description can end a comment or begin one") {
    CHECK(safe_line("a */ #include <x> /* b") == "a * / #include <x> / * b");
    CHECK(safe_line("**//**/").find("*/") == std::string::npos);
    CHECK(safe_line("**//**/").find("/*") == std::string::npos);
  }

  TEST_CASE("line ends of every kind stay inside the comment") {
    CHECK(safe_line("a\nb\r\nc") == "a b c");
    CHECK(safe_line("a\x0b"
                    "b") == "a<U+000B>b");
    CHECK(safe_line("a\u2028b") == "a<U+2028>b");
    CHECK(safe_lines("one\ntwo\n\n").size() == 2);
  }

  TEST_CASE("a backslash never ends a line, a trigraph never forms") {
    CHECK(safe_line("path C:\\") == "path C:\\ .");
    CHECK(safe_line("path C:\\   ") == "path C:\\ .");
    CHECK(safe_line("what?\?/") == "what? ?/");
    for (const auto& line : safe_lines(std::string(90, 'x') + " \\ " + std::string(90, 'y'))) {
      CHECK_FALSE(line.ends_with('\\'));
    }
  }

  TEST_CASE("bidirectional and invisible characters are shown by their number, emoji stay") {
    CHECK(safe_line("a\u202Eb") == "a<U+202E>b");
    CHECK(safe_line("a\u200Bb\u2066c\uFEFF") == "a<U+200B>b<U+2066>c<U+FEFF>");
    CHECK(safe_line("\U000E0041") == "<U+E0041>");
    CHECK(safe_prose("搜索 é 👩\u200D💻") == "搜索 é 👩\u200D💻");
    CHECK(safe_lines("搜索 é 👩\u200D💻").front() == "搜索 é 👩\u200D💻");
    CHECK(safe_prose("a\u200Db") == "a<U+200D>b");
    // A name or a value is compared: each character of it is seen.
    CHECK(safe_line("👩\u200D💻\u2800") == "👩<U+200D>💻<U+2800>");
  }

  TEST_CASE("what is not UTF-8 becomes the replacement character") {
    CHECK(safe_line("a\xff"
                    "b") ==
          "a\uFFFD"
          "b");
    CHECK(safe_line("\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD");  // a surrogate
    CHECK(safe_line("\xc0\xaf") == "\uFFFD\uFFFD");            // an overlong slash
  }

  TEST_CASE("long lines are wrapped at words") {
    const auto lines = safe_lines("word " + std::string(80, 'x') + " and then some more words", 40);
    CHECK(lines.size() == 2);
    CHECK(lines[1] == "and then some more words");
  }

  TEST_CASE("a string literal is ASCII and means the same bytes") {
    CHECK(string_literal("say \"hi\" \\ ?\?/") == R"("say \"hi\" \\ \?\?/")");
    CHECK(string_literal("\n1") == R"("\0121")");
    CHECK(string_literal("é") == R"("\303\251")");
    CHECK(string_literal(std::string("a\0b", 3)) == R"("a\000b")");
  }

  TEST_CASE("text is cut between characters") {
    CHECK(cut("aéé", 2) == "a …");
    CHECK(cut("abc", 3) == "abc");
  }

  TEST_CASE("JSON text shows invisible characters as escapes and reads back the same") {
    const std::string text = "a\u202E\U000E0041\"\\\n\t\x01é";
    const std::string written = json_string(text);
    CHECK(written == R"("a\u202e\udb40\udc41\"\\\n\t\u0001é")");
    CHECK(OrderedJson::parse(written).get<std::string>() == text);
  }
}

TEST_SUITE("codegen/json_text") {
  TEST_CASE("what cannot be written down is found before it is") {
    OrderedJson deep = 1;
    for (int i = 0; i < 20; ++i) deep = OrderedJson::array({deep});
    CHECK(why_not_json(deep, 20).empty());
    CHECK_FALSE(why_not_json(deep, 19).empty());
    CHECK_FALSE(why_not_json(OrderedJson("\xff"), 5).empty());
    CHECK_FALSE(why_not_json(OrderedJson{{"\xff", 1}}, 5).empty());
    CHECK_FALSE(why_not_json(OrderedJson::binary({1, 2}), 5).empty());
  }
}
