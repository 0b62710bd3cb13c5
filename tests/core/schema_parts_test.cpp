// The parts of the validator: regular expressions as ECMA reads them, and references between
// schemas.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/schema/pattern.h"
#include "core/schema/uri.h"

namespace mcpac::schema {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  int budget = 100'000;
  const auto compiled = Pattern::compile(pattern, budget);
  REQUIRE_MESSAGE(compiled, (compiled ? "" : compiled.error().what));
  return compiled->matches(text);
}

bool compiles(std::string_view pattern) {
  int budget = 100'000;
  return Pattern::compile(pattern, budget).has_value();
}

TEST_SUITE("core/schema/pattern") {
  TEST_CASE("a pattern matches anywhere unless it is anchored") {
    CHECK(matches("b", "abc"));
    CHECK_FALSE(matches("^b", "abc"));
    CHECK(matches("^a.c$", "abc"));
    CHECK_FALSE(matches("^abc$", "abc\n"));  // "$" is the end of the text
  }

  TEST_CASE("classes and escapes mean what ECMA-262 says") {
    CHECK_FALSE(matches("^\\d$", "\xe0\xa7\xaa"));  // BENGALI DIGIT FOUR
    CHECK_FALSE(matches("^\\w$", "\xc3\xa9"));
    CHECK(matches("^\\s$", "\xc2\xa0"));
    CHECK(matches("^\\s$", "\xef\xbb\xbf"));
    CHECK(matches("^\\s$", "\v"));
    CHECK_FALSE(matches("^\\S$", "\xe3\x80\x80"));
    CHECK(matches("^[\\s]$", "\xe2\x80\xa8"));
    CHECK_FALSE(matches("^[\\S]$", "\xe2\x80\xa8"));
    CHECK(matches("^[\\S]$", "x"));
    CHECK_FALSE(matches("^.$", "\r"));
    CHECK_FALSE(matches("^.$", "\xe2\x80\xa8"));
    CHECK(matches("^.$", "\xf0\x9f\x98\x80"));
    CHECK(matches("^\\/\\-\\_\\.\\x41\\u0042\\cA\\0$", std::string_view("/-_.AB\x01\0", 8)));
    CHECK(matches("^\\ud83d\\ude00$", "\xf0\x9f\x98\x80"));
    CHECK(matches("^\\u{1f600}$", "\xf0\x9f\x98\x80"));
    CHECK(matches("^[\\b]$", "\b"));
    CHECK(matches("^\\p{Letter}+$", "\xc3\xa9x"));
    CHECK(matches("^\\p{Script=Greek}$", "\xce\xb1"));
    CHECK(matches("^[[:alpha:]]$", "a]"));  // a class of "[:alph", then "]"
    CHECK_FALSE(matches("^[[:alpha:]]$", "b"));
    CHECK(matches("^[^]$", "\n"));
    CHECK_FALSE(matches("[]", "a"));
    CHECK(matches("^a{,3}$", "a{,3}"));
  }

  TEST_CASE("groups with names or a flag match as groups") {
    CHECK(matches("^(?<year>\\d{4})$", "2026"));
    CHECK(matches("^(?P<year>\\d{4})$", "2026"));
    CHECK(matches("^(?:a|b)$", "b"));
    CHECK(matches("(?i)^abc$", "ABC"));
  }

  TEST_CASE("look-aheads right after the start are exact") {
    const std::string_view email =
        "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+"
        "[A-Za-z]{2,}$";
    CHECK(matches(email, "a.b@example.org"));
    CHECK_FALSE(matches(email, ".a@example.org"));
    CHECK_FALSE(matches(email, "a..b@example.org"));
    CHECK_FALSE(matches(email, "a.b@example"));
    CHECK(matches("^(?=.*\\d)(?=.*[a-z)]).{4,}$", "abc1"));
    CHECK_FALSE(matches("^(?=.*\\d)(?=.*[a-z)]).{4,}$", "abcd"));
    CHECK_FALSE(matches("^(?!a|b)", "b"));
    CHECK(matches("^(?!a|b)", "c"));
  }

  TEST_CASE("repetitions beyond RE2's limit are counted exactly") {
    const auto times = [](std::string_view text, std::size_t count) {
      std::string all;
      for (std::size_t i = 0; i < count; ++i) all += text;
      return all;
    };
    struct Row {
      std::string pattern;
      std::string one;
      std::size_t least;
      std::size_t most;
      std::string other = "!";  // that is not repeated
    };
    for (const Row& row :
         {Row{"^.{1,2000}$", "\xc3\xa9", 1, 2000, "\n"},
          Row{"^[a-z0-9-]{3,100000}$", "q", 3, 100'000},
          Row{"^[\\s\\S]{0,5000}$", "\n", 0, 5000, ""}, Row{"^x{1500}$", "x", 1500, 1500},
          Row{"^(?=.*b)b{1,1200}?$", "b", 1, 1200}, Row{"^(?:ab|cd){2,2500}$", "cd", 2, 2500},
          Row{"^<([^>]{1,3000})>$", "", 0, 0, "<>"}}) {
      CAPTURE(row.pattern);
      if (row.one.empty()) {
        CHECK(matches(row.pattern, "<" + times("a", 3000) + ">"));
        CHECK_FALSE(matches(row.pattern, "<" + times("a", 3001) + ">"));
        CHECK_FALSE(matches(row.pattern, row.other));
        continue;
      }
      CHECK(matches(row.pattern, times(row.one, row.least)));
      CHECK(matches(row.pattern, times(row.one, row.most)));
      CHECK_FALSE(matches(row.pattern, times(row.one, row.most + 1)));
      if (row.least > 0) CHECK_FALSE(matches(row.pattern, times(row.one, row.least - 1)));
      if (row.other.empty()) continue;
      CHECK_FALSE(matches(row.pattern, times(row.one, row.least) + row.other));
    }
    CHECK(matches("a{1001,}", times("a", 1001)));
    CHECK_FALSE(matches("a{1001,}", times("a", 1000)));
    CHECK(matches("^ab{1001}c$", "a" + times("b", 1001) + "c"));
    CHECK(matches("^(a(b)){0,1001}\xc3\xa9{1001}$", times("ab", 1001) + times("\xc3\xa9", 1001)));
    CHECK_FALSE(matches("^\xc3\xa9{1001}$", times("\xc3\xa9", 1000) + "\xc3"));
    for (const char* pattern :
         {"a{1,2000}*", "(a{1,50}){1,2000}", "(ab){1,9000000}", "a{2000,1500}"})
      CHECK_FALSE(compiles(pattern));
  }

  TEST_CASE("what RE2 cannot match does not compile") {
    for (const char* pattern : {"(?=a)b",      "a(?!b)",
                                "(?<=a)b",     "(?<!a)b",
                                "(a)\\1",      "(?<n>a)\\k<n>",
                                "^(?!a)b|c",   "^(?!a)*b",
                                "^(?!(?!a))b", "^(?!(a)\\1)b",
                                "\\",          "(",
                                ")",           "[",
                                "[a",          "*",
                                "a**",         "\\u12",
                                "\\ud800",     "\\p{Nonsense}",
                                "\\A",         "\\Z",
                                "\\Q..\\E",    "\\C",
                                "(?s).",       "(?#x)",
                                "\\pL",        "x{2,1}",
                                "[z-a]",       "\\u{110000}",
                                "\\c1"}) {
      CAPTURE(pattern);
      CHECK_FALSE(compiles(pattern));
    }
  }

  TEST_CASE("patterns that explode elsewhere take linear time here") {
    CHECK_FALSE(matches("^(a+)+$", std::string(100'000, 'a') + "b"));
    CHECK_FALSE(matches("^(a|aa)*$", std::string(100'000, 'a') + "b"));
  }

  TEST_CASE("large patterns use up a budget that all patterns share") {
    int budget = 10'000;
    int compiled = 0;
    while (Pattern::compile("^[a-z]{1,900}$", budget)) REQUIRE(++compiled < 100);
    CHECK(compiled >= 1);
    CHECK_FALSE(compiles("((a{1,100}){1,100}){1,100}"));
  }
}

TEST_SUITE("core/schema/uri") {
  TEST_CASE("references resolve as RFC 3986, section 5.4.1, says") {
    const std::vector<std::pair<std::string_view, std::string_view>> examples = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {"./g/.", "http://a/b/c/g/"},
        {"g/../h", "http://a/b/c/h"},
        {"#s", "http://a/b/c/d;p?q"}};
    for (const auto& [reference, wanted] : examples) {
      CAPTURE(reference);
      CHECK(resolve("http://a/b/c/d;p?q", reference).uri == wanted);
    }
    CHECK(resolve("http://a/b", "#/x%25y").fragment == "/x%y");
    CHECK(resolve("urn:uuid:1", "#a").uri == "urn:uuid:1");
  }

  TEST_CASE("a JSON pointer is taken apart as RFC 6901 says") {
    CHECK(pointer_tokens("")->empty());
    CHECK(*pointer_tokens("/a~1b/m~0n//0") == std::vector<std::string>{"a/b", "m~n", "", "0"});
    CHECK_FALSE(pointer_tokens("a"));
    CHECK_FALSE(pointer_tokens("/~2"));
    CHECK_FALSE(pointer_tokens("/~"));
    CHECK(pointer_token("a/b~c") == "a~1b~0c");
  }
}

}  // namespace
}  // namespace mcpac::schema
