// How the text of --approver becomes the words of a command, without a shell.
#include "cli/approver_options.h"

#include <doctest/doctest.h>

using mcpac::cli::split_words;
using Words = std::vector<std::string>;

namespace {

Words words(std::string_view text) {
  auto split = split_words(text);
  REQUIRE_MESSAGE(split, text);
  return *split;
}

}  // namespace

TEST_SUITE("cli/approver_options") {
  TEST_CASE("blanks separate words, however many they are") {
    CHECK(words("approve") == Words{"approve"});
    CHECK(words("  python3\t approve.py\n --yes ") == Words{"python3", "approve.py", "--yes"});
  }

  TEST_CASE("quotes group, join with what they touch, and may be empty") {
    CHECK(words("'my approver' \"a b\"") == Words{"my approver", "a b"});
    CHECK(words("a'b c'd\"e f\"g") == Words{"ab cde fg"});
    CHECK(words("a '' \"\"") == Words{"a", "", ""});
    CHECK(words("'a\"b' \"c'd\"") == Words{"a\"b", "c'd"});
  }

  TEST_CASE("a backslash takes the next character, but not between single quotes") {
    CHECK(words("a\\ b \\'c \\\\d") == Words{"a b", "'c", "\\d"});
    CHECK(words("\"a\\\"b\"") == Words{"a\"b"});
    CHECK(words("'a\\b'") == Words{"a\\b"});
  }

  TEST_CASE("nothing is expanded, and nothing ends the command") {
    CHECK(words("a $HOME `id` $(id) *.c ~ ; b && c | d > e #f") ==
          Words{"a", "$HOME", "`id`", "$(id)", "*.c", "~", ";", "b", "&&", "c", "|", "d", ">", "e",
                "#f"});
  }

  TEST_CASE("what is open at the end, or no command, is a usage error") {
    for (const char* text : {"'a", "a \"b", "a\\", "\"a\\\"", "", "   ", "''", "\"\" a"}) {
      CAPTURE(text);
      const auto split = split_words(text);
      REQUIRE_FALSE(split);
      CHECK(split.error().id == mcpac::ErrorId::kUsage);
    }
  }
}
