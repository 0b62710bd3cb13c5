// What servers complete for a client.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "gateway/support_lists.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

TEST_SUITE("gateway/completion") {
  TEST_CASE("a template that a server may have whose list is not known is nobody's") {
    Talk talk({.grants = {"fs.*", R"(git."resources/read"(uri starts "git://"))"}, .offers = true});
    talk.with_servers([](FakeServers& servers) {
      servers.add("fs", Json::array(),
                  Json::array({{{"uriTemplate", "git://{a}"}}, {{"uriTemplate", "x://{a}"}}}));
      for (auto* server : {&servers.servers["fs"], &servers.add("git", Json::array())})
        server->capabilities["completions"] = Json::object();
      servers.servers["git"].answers["resources/templates/list"] = [](const Json&) {
        return Result<gate::Servers::Outcome>(fail(ErrorId::kServerError, "it broke"));
      };
      servers.servers["fs"].answers["completion/complete"] = [](const Json&) {
        return gate::Servers::Outcome(Json{{"completion", {{"values", {"one"}}}}});
      };
    });
    talk.initialize();
    const auto complete = [&](int id, const char* uri) {
      return talk.ask(id, "completion/complete",
                      {{"ref", {{"type", "ref/resource"}, {"uri", uri}}},
                       {"argument", {{"name", "a"}, {"value", ""}}}});
    };
    CHECK(complete(1, "git://{a}").contains("error"));
    CHECK(complete(2, "x://{a}").at("result").at("completion").at("values") == Json{"one"});
    CHECK(keys(talk.ask(3, "resources/templates/list"), "resourceTemplates", "uriTemplate") ==
          std::set<std::string>{"x://{a}"});
  }

  TEST_CASE("what is completed is a prompt or template that the client was granted") {
    Talk talk({.grants = {R"(fs."prompts/get"(name == "review", ..))",
                          R"(fs."resources/read"(uri starts "file:///data/"))"},
               .offers = true});
    talk.with_servers(two_servers);
    auto& fs = talk.servers.servers["fs"];
    fs.capabilities["completions"] = Json::object();
    fs.answers["completion/complete"] = [](const Json& params) {
      return gate::Servers::Outcome(Json{{"completion", {{"values", {params.at("ref").dump()}}}}});
    };
    CHECK(talk.initialize().at("result").at("capabilities").contains("completions"));
    const auto complete = [&](int id, Json ref) {
      return talk.ask(id, "completion/complete",
                      {{"ref", std::move(ref)}, {"argument", {{"name", "name"}, {"value", "v"}}}});
    };
    const Json answer = complete(1, {{"type", "ref/prompt"}, {"name", "fs.review"}});
    CHECK(answer.at("result").at("completion").at("values").at(0) ==
          R"({"name":"review","type":"ref/prompt"})");
    CHECK(
        complete(2, {{"type", "ref/resource"}, {"uri", "file:///data/{name}"}}).contains("result"));
    CHECK(complete(3, {{"type", "ref/prompt"}, {"name", "fs.ask"}}).contains("error"));
    CHECK(complete(4, {{"type", "ref/resource"}, {"uri", "file:///etc/{name}"}}).contains("error"));
    CHECK(talk.servers.count("completion/complete") == 2);
  }

  TEST_CASE("a URI that is denied as a text is not had by encoding its letters") {
    Talk talk({.grants = {R"(fs."resources/read"(uri any))"},
               .denies = {R"(fs."resources/read"(uri == "file:///data/secret"))"},
               .offers = true});
    talk.with_servers(two_servers);
    talk.servers.servers["fs"].capabilities["completions"] = Json::object();
    talk.initialize();
    int id = 0;
    for (const std::string name : {"secret", "%73ecret", "s%65cret", "secre%74"}) {
      CAPTURE(name);
      const std::string uri = "file:///data/" + name;
      CHECK(read(talk, ++id, uri).contains("error"));
      CHECK(talk.ask(++id, "resources/subscribe", {{"uri", uri}}).contains("error"));
      const Json ref{{"type", "ref/resource"}, {"uri", "file:///data/{name}"}};
      const Json answer =
          talk.ask(++id, "completion/complete",
                   {{"ref", ref}, {"argument", {{"name", "name"}, {"value", name}}}});
      CHECK(answer.at("result").at("completion").at("values").empty());
    }
    CHECK(talk.world.upstream.calls.empty());
    CHECK(talk.servers.count("resources/subscribe") == 0);
    CHECK(talk.servers.count("completion/complete") == 0);
    // What has to be encoded may be.
    CHECK(read(talk, ++id, "file:///data/a%20b%C3%A9").contains("result"));
  }

  TEST_CASE("a template that fills in more than 8,192 bytes is not completed") {
    Talk talk({.grants = {"fs.*"}, .offers = true});
    std::string often = "x://";
    for (int i = 0; i < 9; ++i) often += "{a}";
    talk.with_servers([&](FakeServers& servers) {
      servers.add("fs", Json::array(), Json::array({{{"uriTemplate", often}, {"name", "n"}}}));
    });
    auto& fs = talk.servers.servers["fs"];
    fs.capabilities["completions"] = Json::object();
    fs.answers["completion/complete"] = [](const Json&) {
      return gate::Servers::Outcome(Json{{"completion", {{"values", Json::array()}}}});
    };
    talk.initialize();
    const auto complete = [&](int id, std::size_t length) {
      return talk.ask(id, "completion/complete",
                      {{"ref", {{"type", "ref/resource"}, {"uri", often}}},
                       {"argument", {{"name", "a"}, {"value", std::string(length, 'v')}}}});
    };
    CHECK(complete(1, 909).contains("result"));
    CHECK(complete(2, 910).at("error").at("code") == ipc::kInvalidParams);
    CHECK(talk.servers.count("completion/complete") == 1);
  }

  TEST_CASE("what is completed is texts, and the server gets what the rules looked at") {
    Talk talk({.grants = {R"(fs."resources/read"(uri starts "file:///data/"))",
                          R"(fs."prompts/get"(name == "review", ..))"},
               .offers = true});
    talk.with_servers(two_servers);
    auto& fs = talk.servers.servers["fs"];
    fs.capabilities["completions"] = Json::object();
    fs.answers["completion/complete"] = [](const Json&) {
      return gate::Servers::Outcome(Json{{"completion", {{"values", {"one"}}}}});
    };
    talk.initialize();
    const Json file{{"type", "ref/resource"}, {"uri", "file:///data/{name}"}};
    const Json review{{"type", "ref/prompt"}, {"name", "fs.review"}};
    const Json list = Json::array({"secret"});
    const std::vector<Json> wrong{
        {{"argument", {{"name", "name"}, {"value", list}}}},
        {{"argument", {{"name", "name"}, {"value", 5}}}},
        {{"argument", {{"name", "name"}}}},
        {{"argument", {{"name", list}, {"value", "v"}}}},
        {{"argument", {{"value", "v"}}}},
        {{"argument", {{"name", "name"}, {"value", "v"}}},
         {"context", {{"arguments", {{"x", list}}}}}},
        {{"argument", {{"name", "name"}, {"value", "v"}}}, {"context", {{"arguments", list}}}},
        {{"argument", {{"name", "name"}, {"value", "v"}}}, {"context", list}}};
    int id = 0;
    for (const Json& ref : {file, review}) {
      for (Json params : wrong) {
        CAPTURE(params);
        params["ref"] = ref;
        CHECK(talk.ask(++id, "completion/complete", params).at("error").at("code") == -32602);
      }
    }
    const Json other{{"name", "NAME"}, {"value", "v"}};
    CHECK(talk.ask(++id, "completion/complete", {{"ref", file}, {"argument", other}})
              .at("error")
              .at("code") == -32602);
    CHECK(talk.servers.count("completion/complete") == 0);
    Json params{{"ref", file},
                {"argument", {{"name", "name"}, {"value", "v"}, {"more", 1}}},
                {"context", {{"arguments", {{"name", "another"}, {"x", "y"}}}, {"more", 1}}}};
    CHECK(talk.ask(++id, "completion/complete", params).contains("result"));
    CHECK(talk.servers.asked.back().params ==
          Json{{"ref", file}, {"argument", {{"name", "name"}, {"value", "v"}}}});
    params["ref"] = review;
    CHECK(talk.ask(++id, "completion/complete", params).contains("result"));
    CHECK(talk.servers.asked.back().params.at("context") == Json{{"arguments", {{"x", "y"}}}});
  }
}
