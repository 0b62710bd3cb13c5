// What tools are called, and how their list comes in pages.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

TEST_SUITE("gateway/lists/catalog") {
  TEST_CASE("a list of many tools comes in pages, each tool once") {
    policy::ToolSchemas schemas;
    for (int i = 0; i < 700; ++i) {
      schemas[gate::testing::permission("s.t" + std::to_string(i))] = {{"type", "object"}};
    }
    const SystemClock clock;
    policy::Environment environment;
    environment.tools = &schemas;
    environment.clock = &clock;
    auto authority = policy::Authority::load(
        {{.name = "t", .grants = {"s.*"}, .asks = {}, .denies = {}, .files = {}}}, environment);
    REQUIRE(authority.has_value());
    const auto catalog = Catalog::make(lock_of(schemas), *authority, NameForm::kDotted);
    const auto nothing_hidden = [](const Permission&) { return false; };
    std::set<std::string> seen;
    std::size_t pages = 0;
    std::string cursor;
    do {
      const auto page = catalog->page(cursor, nothing_hidden);
      REQUIRE(page.has_value());
      CHECK(page->tools.size() <= 250);
      for (const OrderedJson& tool : page->tools) CHECK(seen.insert(tool.at("name")).second);
      cursor = page->next;
      ++pages;
    } while (!cursor.empty());
    CHECK(seen.size() == 700);
    CHECK(pages == 3);
    CHECK_FALSE(catalog->page("made up", nothing_hidden).has_value());
    CHECK_FALSE(catalog->page("after:s.t9999", nothing_hidden).has_value());
  }

  TEST_CASE("no server can give its tool the name of another's") {
    const auto tool = [](std::string_view text) { return gate::testing::permission(text); };
    const std::vector<Permission> tools{tool("a.b__c"), tool("a__b.c"), tool("git.commit"),
                                        tool("evil.filesystem.read_file"),
                                        tool("filesystem.read_file")};
    for (const NameForm form : {NameForm::kDotted, NameForm::kPlain, NameForm::kBare}) {
      const auto names = client_names(tools, form);
      CHECK(names.size() == tools.size());
    }
    const auto plain = client_names(tools, NameForm::kPlain);
    CHECK_FALSE(plain.contains("a__b__c"));  // neither has it, both carry digits
    CHECK(plain.at("git__commit") == tool("git.commit"));
    CHECK(plain.at("filesystem__read_file") == tool("filesystem.read_file"));
  }

  TEST_CASE("plain names are letters, digits, _ and -, at most 64 of them") {
    const std::vector<Permission> tools{
        gate::testing::permission("s.with spaces/and.dots"),
        gate::testing::permission("s." + std::string(200, 'x')),
        gate::testing::permission("s." + std::string(200, 'x') + "y")};
    const auto names = client_names(tools, NameForm::kPlain);
    CHECK(names.size() == 3);
    for (const auto& [name, permission] : names) {
      CHECK(name.size() <= 64);
      CHECK(name.find_first_not_of(
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
            std::string::npos);
    }
  }
}
