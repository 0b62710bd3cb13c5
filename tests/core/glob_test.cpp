#include "core/glob.h"

#include <doctest/doctest.h>

#include <string>

using namespace mcpac;

TEST_SUITE("core/glob") {
  TEST_CASE("a star is any run of bytes, and all of a text is meant") {
    CHECK(glob_matches("*", ""));
    CHECK(glob_matches("a*c", "abbc"));
    CHECK(glob_matches("a*c", "ac"));
    CHECK(glob_matches("*a*b*", "xaxbx"));
    CHECK_FALSE(glob_matches("a*c", "abcd"));
    CHECK_FALSE(glob_matches("", "a"));
  }

  TEST_CASE("a question mark is one byte only where that is asked for") {
    CHECK_FALSE(glob_matches("a?c", "abc"));
    CHECK(glob_matches("a?c", "a?c"));
    CHECK(glob_matches("a?c", "abc", QuestionMark::kAnyByte));
    CHECK_FALSE(glob_matches("a?c", "ac", QuestionMark::kAnyByte));
  }

  TEST_CASE("a pattern of stars is no trap") {
    const std::string stars(2'000, '*');
    CHECK(glob_matches(stars + "x", std::string(2'000, 'x')));
    CHECK_FALSE(glob_matches(stars + "y", std::string(2'000, 'x')));
  }
}
