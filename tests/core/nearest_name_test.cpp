#include "core/nearest_name.h"

#include <doctest/doctest.h>

using namespace mcpac;

TEST_SUITE("core/nearest_name") {
  TEST_CASE("of several names the one with the fewest edits is meant, the first of equal ones") {
    const std::vector<std::string> names = {"write_file", "read_file", "read_files", "list"};
    CHECK(nearest_name("raed_file", names) == "read_file");
    CHECK(nearest_name("read_filess", names) == "read_files");
    CHECK(nearest_name("lst", names) == "list");
    CHECK(nearest_name("cat", {"bat", "hat"}) == "bat");
    CHECK(did_you_mean("lst", names) == "did you mean 'list'?");
  }

  TEST_CASE("capitals are no edits") {
    CHECK(nearest_name("READTEXTFILE", {"readTextFile", "writeTextFile"}) == "readTextFile");
    CHECK(nearest_name("ENV", {"cwd", "env"}) == "env");
    CHECK(nearest_name("RaedTextFile", {"readTextFile"}) == "readTextFile");
  }

  TEST_CASE("what nothing is near to is the beginning of a name, where that is asked for") {
    CHECK(nearest_or_longer_name("read", {"list", "read_text_file", "read_media"}) ==
          "read_text_file");
    CHECK(nearest_or_longer_name("issues", {"issues_all_of_them", "issues.create"}) ==
          "issues.create");
    CHECK(nearest_or_longer_name("lst", {"lst_of_all", "list"}) == "list");
    CHECK(nearest_or_longer_name("r", {"read_text_file"}).empty());
    CHECK(nearest_name("read", {"read_text_file"}).empty());
  }

  TEST_CASE("what is not near is not meant: two edits, or a third of a longer name") {
    CHECK(nearest_name("abcdef", {"abcxyz"}).empty());
    CHECK(nearest_name("abcdef", {"abcdxy"}) == "abcdxy");
    CHECK(nearest_name("abcdefghijkl", {"abcdefghwxyz"}) == "abcdefghwxyz");
    CHECK(nearest_name("abcdefghijkl", {"abcdefgvwxyz"}).empty());
    CHECK(nearest_name("name", {}).empty());
    CHECK(did_you_mean("abcdef", {"zzz"}).empty());
  }
}
