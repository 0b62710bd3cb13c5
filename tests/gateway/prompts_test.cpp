// What prompts are called, and how they are got.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gateway/lists/client_name.h"
#include "gateway/support_lists.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

TEST_SUITE("gateway/prompts") {
  TEST_CASE("a prompt is got by the name that the client sees, with its arguments decided") {
    Talk talk({.grants = {R"(fs."prompts/get"(name == "review", arguments.lang in {"en", "de"}))"},
               .offers = true},
              NameForm::kPlain);
    talk.with_servers(two_servers);
    talk.initialize();
    CHECK(prompts(talk) == std::set<std::string>{"fs__review"});
    const auto get = [&](int id, Json arguments) {
      return talk.send(request(id, "prompts/get",
                               {{"name", "fs__review"}, {"arguments", std::move(arguments)}}));
    };
    CHECK(get(2, {{"lang", "de"}}).empty());
    CHECK(talk.world.upstream.calls[0].permission == "fs.prompts/get");
    CHECK(talk.world.upstream.calls[0].arguments ==
          Json{{"name", "review"}, {"arguments", {{"lang", "de"}}}});
    CHECK(get(3, {{"lang", "fr"}}).at(0).at("error").at("code") == -32602);
    CHECK(get(4, {{"lang", "de"}, {"more", "x"}}).at(0).at("error").at("code") == -32602);
    CHECK(get(5, {{"lang", 7}}).at(0).at("error").at("code") == -32602);
    for (const auto& [name, value] : {std::pair("LANG", "fr"), std::pair("la_ng", "fr")})
      CHECK(get(6, {{"lang", "de"}, {name, value}}).at(0).at("error").at("code") == -32602);
    CHECK(talk.world.upstream.calls.size() == 1);
    CHECK(talk.ask(6, "prompts/get", {{"name", "git__ask"}}).at("error").at("message") ==
          "Unknown prompt: git__ask");
  }

  TEST_CASE("two prompts of one name are two, and no name hangs on whether a server answers") {
    for (const NameForm form : {NameForm::kPlain, NameForm::kBare}) {
      Talk talk({.grants = {"fs.*", "git.*"}, .offers = true}, form);
      talk.with_servers(two_servers);
      talk.initialize();
      CHECK(prompts(talk) == std::set<std::string>{"fs__ask", "fs__review", "git__ask"});
      Talk alone({.grants = {"fs.*", "git.*"}, .offers = true}, form);
      alone.with_servers(two_servers);
      alone.servers.servers["git"].answers["prompts/list"] = [](const Json&) {
        return Result<gate::Servers::Outcome>(fail(ErrorId::kServerError, "it broke"));
      };
      alone.initialize();
      CHECK(prompts(alone) == std::set<std::string>{"fs__ask", "fs__review"});
    }
    Talk one({.grants = {"fs.*", "git.commit"}, .offers = true}, NameForm::kBare);
    one.with_servers(two_servers);
    one.initialize();
    CHECK(prompts(one) == std::set<std::string>{"ask", "review"});
  }

  TEST_CASE("no server can list a prompt that changes what another's is called") {
    const auto named = [](std::vector<std::string> prompts, std::set<std::string> servers) {
      std::vector<Permission> all;
      for (const auto& text : prompts) all.push_back(Permission::parse(text).value());
      std::map<std::string, std::string> by_prompt;
      for (const auto& [name, prompt] : names_of_prompts(all, NameForm::kPlain, servers)) {
        CHECK(name.size() <= 64);
        CHECK(by_prompt.emplace(prompt.text(), name).second);
      }
      CHECK(by_prompt.size() == all.size());
      return by_prompt;
    };
    const std::string long_name(60, 's');
    const std::set<std::string> servers{"a", "a__b", "c", long_name, long_name + "t"};
    const std::vector<std::string> all{"a.b__x",
                                       "a.y",
                                       "a__b.x",
                                       "a__b.x_" + std::string(10, '0'),
                                       "c.a y",
                                       "c.a_y",
                                       long_name + ".p",
                                       long_name + "t.p",
                                       "c." + std::string(80, 'x')};
    const auto together = named(all, servers);
    CHECK(together.at("a.y") == "a__y");
    CHECK(together.at("a__b.x") == "a__b__x");
    for (const auto& one : all) {
      const auto server = one.substr(0, one.find('.'));
      std::vector<std::string> own;
      for (const auto& other : all) {
        if (other.starts_with(server + ".")) own.push_back(other);
      }
      CHECK(named(own, servers).at(one) == together.at(one));
    }
  }
}
