#include "codegen/select.h"

#include <doctest/doctest.h>

#include "support_codegen.h"

using namespace mcpac;
using namespace mcpac::codegen;
using namespace mcpac::codegen::testing;

namespace {

// Permissions, with spaces between them.
std::string selected(std::string_view pattern) {
  static const Output output = [] {
    auto made = generate(
        {listing(
             "my-files",
             R"([{"name": "get-sum"}, {"name": "get_sum"}, {"name": "v1.list"}, {"name": "read"}])"),
         listing("other", R"([{"name": "read"}, {"name": "my-files"}])")});
    REQUIRE(made);
    return std::move(*made);
  }();
  std::string names;
  for (const ToolRef& ref : select_tools(output.lock, pattern))
    names += (names.empty() ? "" : " ") + ref.permission();
  return names;
}

}  // namespace

TEST_SUITE("codegen/select") {
  TEST_CASE("the original name comes before a C++ name that looks the same") {
    CHECK(selected("my-files.get_sum") == "my-files.get_sum");
    CHECK(selected("my-files.get-sum") == "my-files.get-sum");
    CHECK(selected("mcp::my_files::get_sum") == "my-files.get_sum");
    CHECK(selected("mcp::my_files::get_sum_2") == "my-files.get-sum");
  }
  TEST_CASE("C++ names are understood as they stand in a program") {
    CHECK(selected("my_files::v1_list") == "my-files.v1.list");
    CHECK(selected("::mcp::my_files::v1_list") == "my-files.v1.list");
    CHECK(selected("rt.my_files.v1_list({.a = 1})") == "my-files.v1.list");
    CHECK(selected("my_files.v1_list") == "my-files.v1.list");
    CHECK(selected("my-files.v1_list") == "my-files.v1.list");
  }
  TEST_CASE("a server means its tools, and comes before a tool of that name") {
    CHECK(selected("other") == "other.my-files other.read");
    CHECK(selected("my-files") ==
          "my-files.get-sum my-files.get_sum my-files.read my-files.v1.list");
    CHECK(selected("mcp::my_files") == selected("my-files"));
  }
  TEST_CASE("a tool's name alone means it on every server") {
    CHECK(selected("read") == "my-files.read other.read");
    CHECK(selected("v1.list") == "my-files.v1.list");
  }
  TEST_CASE("patterns match whole names") {
    CHECK(selected("*.read") == "my-files.read other.read");
    CHECK(selected("my-files.get?sum") == "my-files.get-sum my-files.get_sum");
    CHECK(selected("*list") == "my-files.v1.list");
    CHECK(selected("my_files::get*") == "my-files.get-sum my-files.get_sum");
  }
  TEST_CASE("what means nothing finds nothing") {
    CHECK(selected("").empty());
    CHECK(selected("MY-FILES").empty());
    CHECK(selected("my-files.").empty());
    CHECK(selected("my-files.get").empty());
  }
}
