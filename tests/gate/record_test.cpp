#include "gate/record.h"

#include <doctest/doctest.h>

#include <string>

#include "gate/answer.h"

using namespace mcpac;
using namespace mcpac::gate;

TEST_SUITE("gate/record") {
  TEST_CASE("the target is the first argument that looks like a place") {
    CHECK(target_of({{"path", "notes.txt"}}) == "notes.txt");
    CHECK(target_of({{"count", 3}, {"what", "/etc/passwd"}}) == "/etc/passwd");
    CHECK(target_of({{"options", {{"where", "https://example.com/a"}}}}) ==
          "https://example.com/a");
    CHECK(target_of({{"paths", {"a.txt", "b.txt"}}}) == "a.txt");
    CHECK_FALSE(target_of({{"text", "hello"}, {"n", 1}}).has_value());
    CHECK_FALSE(target_of(Json::object()).has_value());
    CHECK_FALSE(target_of(nullptr).has_value());
  }

  TEST_CASE("a URL is recorded without the parts where secrets live") {
    CHECK(target_of({{"url", "https://user:pass@example.com/a?token=secret#x"}}) ==
          "https://example.com/a");
    CHECK(target_of({{"q", "postgres://me:secret@db:5432/x"}}) == "postgres://db:5432/x");
    CHECK(target_of({{"url", "https://a@b@example.com"}}) == "https://example.com");
  }

  TEST_CASE("a target is bounded and its search is, too") {
    const auto long_target = target_of({{"path", std::string(100'000, 'x')}});
    REQUIRE(long_target);
    CHECK(long_target->size() <= 260);
    Json many = Json::array();
    for (int i = 0; i < 100'000; ++i) many.push_back(i);
    many.push_back("/late");
    CHECK_FALSE(target_of({{"list", many}}).has_value());
  }

  TEST_CASE("a text is cut between characters, never inside one") {
    CHECK(bounded("abc", 3) == "abc");
    CHECK(bounded("abcd", 3) == "abc…");
    CHECK(bounded("aäöü", 4) == "aä…");  // a, then two bytes each
    CHECK(bounded("aäöü", 2) == "a…");
  }

  TEST_CASE("every kind of error has its number and says its kind") {
    CHECK(
        to_rpc_error(denied("a.b", "no", {"c.d"})) ==
        Json{{"code", -32001},
             {"message", "permission denied: a.b: no"},
             {"data",
              {{"kind", "denied"}, {"required", "a.b"}, {"reason", "no"}, {"declared", {"c.d"}}}}});
    CHECK(to_rpc_error(invalid_arguments({"/path", "type", "must be a string"})) ==
          Json{{"code", -32602},
               {"message", "invalid arguments: /path must be a string"},
               {"data", {{"kind", "invalid_arguments"}, {"pointer", "/path"}, {"rule", "type"}}}});
    CHECK(to_rpc_error(unknown_tool("a.b")).at("code") == -32602);
    CHECK(to_rpc_error(unknown_tool("a.b")).at("data") ==
          Json{{"kind", "unknown_tool"}, {"required", "a.b"}});
    CHECK(to_rpc_error(budget("x")).at("code") == -32004);
    CHECK(to_rpc_error(revoked("a.b")).at("code") == -32005);
    CHECK(to_rpc_error(internal("x")).at("code") == -32603);
  }
}
