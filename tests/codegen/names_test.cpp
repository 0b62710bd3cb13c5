#include "codegen/names.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace mcpac::codegen;
using Names = std::vector<std::string>;

TEST_SUITE("codegen/names") {
  TEST_CASE("every illegal character becomes one underscore, also one of several bytes") {
    CHECK(to_identifier("read-text.file/x") == "read_text_file_x");
    CHECK(to_identifier("π") == "_");
    CHECK(to_identifier("emoji😀") == "emoji_");
    CHECK(to_identifier("a\nb\"*/") == "a_b___");
    CHECK(to_identifier("\xff\xfe") == "__");
  }

  TEST_CASE("a leading digit gets an underscore before it, an empty name is one") {
    CHECK(to_identifier("3d-render") == "_3d_render");
    CHECK(to_identifier("") == "_");
  }

  TEST_CASE("a very long name is cut, not refused") {
    CHECK(to_identifier(std::string(5000, 'x')).size() == 200);
  }

  TEST_CASE(
      "keywords, alternative tokens, macros and reserved forms get an underscore after them") {
    CHECK(assign_names({"class", "and", "errno", "NULL", "std", "mcpac", "_Bool", "__linux__",
                        "linux"}) == Names{"class_", "and_", "errno_", "NULL_", "std_", "mcpac_",
                                           "_Bool_", "__linux___", "linux_"});
  }

  TEST_CASE("words that only look like macros stay as they are") {
    CHECK(assign_names({"PRIVATE", "SIGNED", "ERROR", "Primary", "is_open"}) ==
          Names{"PRIVATE", "SIGNED", "ERROR", "Primary", "is_open"});
  }

  TEST_CASE(
      "of colliding names the legal one keeps its name, the others count in the order of "
      "originals") {
    CHECK(assign_names({"a.b", "a-b", "a_b"}) == Names{"a_b_3", "a_b_2", "a_b"});
    CHECK(assign_names({"+1", "-1"}) == Names{"_1", "_1_2"});
    CHECK(assign_names({"a-b", "a_b", "a_b_2"}) == Names{"a_b_3", "a_b", "a_b_2"});
  }

  TEST_CASE("a name depends on the other names, never on their order") {
    Names originals{"a.b", "a-b", "a_b", "class", "class_", "搜索", "Args", "", "_"};
    std::ranges::sort(originals);
    const Names first = assign_names(originals, {"Args"});
    Names shuffled(originals.rbegin(), originals.rend());
    Names second = assign_names(shuffled, {"Args"});
    std::ranges::reverse(second);
    CHECK(first == second);
  }

  TEST_CASE("words of the scope are taken") {
    CHECK(assign_names({"Args", "args"}, {"Args"}) == Names{"Args_", "args"});
  }

  TEST_CASE("ten thousand names that all map to one are told apart quickly") {
    Names originals;
    for (int i = 0; i < 10'000; ++i)
      originals.push_back("搜" + std::string(1, static_cast<char>('!' + i % 14)) +
                          std::string(static_cast<std::size_t>(i / 14 % 3), '-') + "é" +
                          std::to_string(i));
    Names names = assign_names(originals);
    std::ranges::sort(names);
    CHECK(std::ranges::adjacent_find(names) == names.end());
  }

  TEST_CASE("type names are PascalCase") {
    CHECK(to_pascal_case("due_date") == "DueDate");
    CHECK(to_pascal_case("createdBy") == "CreatedBy");
    CHECK(to_pascal_case("3d model") == "N3dModel");
    CHECK(to_pascal_case("搜索").empty());
    CHECK(to_pascal_case("EOF") == "EOF_");
  }
}
