// Which resources a client sees and reads, and whose they are.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "gateway/support_lists.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

TEST_SUITE("gateway/offers") {
  TEST_CASE("lists show what the rules could ever allow, from all servers") {
    Talk talk({.grants = {R"(fs."resources/read"(uri starts "file:///data/"))", R"(git.*)",
                          R"(fs."prompts/get"(name == "review", ..))"},
               .denies = {R"(git."resources/read"(uri == "x://both"))"},
               .offers = true});
    talk.with_servers(two_servers);
    talk.initialize();
    CHECK(uris(talk) == std::set<std::string>{"file:///data/a", "file:///data/b", "git://log"});
    CHECK(keys(talk.ask(2, "resources/templates/list"), "resourceTemplates", "uriTemplate") ==
          std::set<std::string>{"file:///data/{name}", "git://{ref}"});
    CHECK(prompts(talk, 3) == std::set<std::string>{"fs.review", "git.ask"});
    CHECK(talk.ask(4, "resources/list").at("result").at("resources").at(0).at("_meta") ==
          Json{{"of", "the server"}});
  }

  TEST_CASE("what is read goes through the gate, with the URI that was decided, and comes back") {
    for (const bool modern : {false, true}) {
      Talk talk({.grants = {R"(fs."resources/read"(uri starts "file:///data/"))"}, .offers = true});
      talk.with_servers(two_servers);
      if (!modern) talk.initialize();
      const Json params{{"uri", "file:///data/a"}};
      CHECK(talk.send(request(1, "resources/read", modern ? stateless(params) : params)).empty());
      REQUIRE(talk.world.upstream.calls.size() == 1);
      CHECK(talk.world.upstream.calls[0].permission == "fs.resources/read");
      CHECK(talk.world.upstream.calls[0].arguments == params);
      const Json contents = Json::array({{{"uri", "file:///data/a"}, {"text", "mcpac: hello"}}});
      talk.world.upstream.answer(
          0, Json{{"contents", contents}, {"ttlMs", 7}, {"cacheScope", "public"}});
      const Json result = talk.heard().at(0).at("result");
      CHECK(result.at("contents") == contents);
      CHECK(result.contains("ttlMs") == modern);
      // Others were granted other things: nobody in between may keep it for them.
      if (modern) CHECK(result.at("cacheScope") == "private");
      if (modern) CHECK(result.at("ttlMs") == 7);
      const auto& check = talk.world.audit.records.front();
      CHECK(check.kind == "CapabilityCheck");
      CHECK(check.payload.at("capability") == "fs.resources/read");
      CHECK(check.payload.at("allowed") == true);
    }
  }

  TEST_CASE("a URI that no rule admits is refused, recorded, and reaches no server") {
    Talk talk({.grants = {R"(fs."resources/read"(uri starts "file:///data/"))"}, .offers = true});
    talk.with_servers(two_servers);
    talk.initialize();
    for (const std::string uri : {"file:///etc/shadow",
                                  "file:///data/../etc/shadow",
                                  "file:///data/%2e%2E/etc/shadow",
                                  "file:///data/%61",
                                  "file:///data/%5a",
                                  "file:///data/x%2D1",
                                  "file:///data/%7euser",
                                  "file:///data/%39",
                                  "file:///data/a%5Fb",
                                  "file:///data/x%00",
                                  "file:///data/%0a",
                                  "file:///data/%1Fx",
                                  "file:///data/%7f",
                                  "file:///data/.%2e/x",
                                  "file:///data/x%2f..%2fy",
                                  "file:///data/..",
                                  "no uri",
                                  "file:///data/a b",
                                  "file:///data\\..\\x",
                                  "x://both"}) {
      CAPTURE(uri);
      const Json error = read(talk, 1, uri).at("error");
      CHECK(error.at("code") == -32602);
      CHECK(error.at("data").at("uri") == uri);
      CHECK(talk.world.audit.records.back().payload.at("allowed") == false);
    }
    CHECK(talk.world.upstream.calls.empty());
  }

  TEST_CASE(
      "what nobody granted is not there: no list, no capability, and the same answer as ever") {
    Talk talk({.grants = {"fs.read"}, .offers = true});
    talk.with_servers(two_servers);
    const Json capabilities = talk.initialize().at("result").at("capabilities");
    CHECK_FALSE(capabilities.contains("resources"));
    CHECK_FALSE(capabilities.contains("prompts"));
    CHECK(talk.ask(1, "resources/list").at("error").at("code") == -32601);
    CHECK(talk.ask(2, "prompts/list").at("error").at("code") == -32601);
    CHECK(read(talk, 3, "git://log").at("error").at("message") == "Resource not found");
    CHECK(talk.ask(4, "prompts/get", {{"name", "git.ask"}}).at("error").at("message") ==
          "Unknown prompt: git.ask");
    CHECK(talk.world.audit.records.size() == 2);
    CHECK(talk.servers.asked.empty());
    // Not by the names that rules have for it, either.
    const Json answer = talk.ask(5, "tools/call", {{"name", "fs.resources/read"}});
    CHECK(answer.at("error").at("message") == "Unknown tool: fs.resources/read");
  }

  TEST_CASE("with everything granted the names of rules are no tools either") {
    Talk talk({.grants = {"fs.*", "git.*"}, .offers = true});
    talk.with_servers(two_servers);
    talk.initialize();
    for (const Json& tool : talk.ask(1, "tools/list").at("result").at("tools"))
      CHECK(tool.at("name").get<std::string>().find('/') == std::string::npos);
    const Json params{{"name", "fs.resources/read"}, {"arguments", {{"uri", "file:///data/a"}}}};
    CHECK(talk.ask(2, "tools/call", params).at("error").at("code") == -32602);
    CHECK(talk.world.upstream.calls.empty());
  }

  TEST_CASE("no server takes the place of another's resource") {
    Talk talk({.grants = {"fs.*", "git.*"}, .offers = true});
    talk.with_servers(two_servers);
    talk.initialize();
    CHECK_FALSE(uris(talk).contains("x://both"));
    CHECK(read(talk, 2, "x://both").at("error").at("message") == "Resource not found");
    CHECK(talk.world.upstream.calls.empty());
    CHECK(read(talk, 3, "git://log").contains("result"));
    CHECK(talk.world.upstream.calls.back().permission == "git.resources/read");
    // A template of the other one claims it as well.
    talk.servers.add("git", Json::array({resource("git://log")}),
                     Json::array({uri_template("file://{+path}")}));
    talk.servers.say("git", "notifications/resources/list_changed", nullptr);
    talk.heard();
    CHECK(read(talk, 4, "file:///data/a").at("error").at("message") == "Resource not found");
    CHECK_FALSE(uris(talk, 5).contains("file:///data/a"));
  }

  TEST_CASE("a server that cannot be asked keeps its place") {
    Talk talk({.grants = {"fs.*", "git.*"}, .offers = true});
    talk.with_servers(two_servers);
    talk.servers.servers["fs"].answers.erase("resources/list");
    talk.servers.servers["fs"].answers["resources/list"] = [](const Json&) {
      return Result<gate::Servers::Outcome>(fail(ErrorId::kServerDied, "gone"));
    };
    talk.initialize();
    CHECK(read(talk, 1, "git://log").at("error").at("message") == "Resource not found");
    CHECK(talk.world.upstream.calls.empty());
  }

  TEST_CASE("where the rules name one server for a URI, no list is needed and none is believed") {
    Talk talk({.grants = {R"(fs."resources/read"(uri starts "file:///"))",
                          R"(git."resources/read"(uri starts "git://"))"},
               .offers = true});
    talk.with_servers([](FakeServers& servers) {
      servers.add("fs", Json::array());
      servers.add("git", Json::array({resource("file:///data/a")}),
                  Json::array({uri_template("{+any}")}));
    });
    talk.initialize();
    CHECK(read(talk, 1, "file:///data/a").contains("result"));
    CHECK(talk.world.upstream.calls.back().permission == "fs.resources/read");
    CHECK(uris(talk, 2).empty());
  }

  TEST_CASE("lists come in pages, which a change between them does not confuse") {
    Json many = Json::array();
    for (int i = 0; i < 600; ++i) many.push_back(resource("r://" + std::to_string(1000 + i)));
    Talk talk({.grants = {"fs.*"}, .offers = true});
    talk.with_servers([&](FakeServers& servers) { servers.add("fs", many); });
    talk.initialize();
    std::set<std::string> seen;
    Json params = Json::object();
    for (int id = 1; id < 10; ++id) {
      const Json result = talk.ask(id, "resources/list", params).at("result");
      for (const Json& entry : result.at("resources")) CHECK(seen.insert(entry.at("uri")).second);
      if (!result.contains("nextCursor")) break;
      params["cursor"] = result.at("nextCursor");
    }
    CHECK(seen.size() == 600);
    CHECK(talk.servers.count("resources/list") == 1);
    CHECK(talk.ask(20, "resources/list", {{"cursor", "nonsense"}}).at("error").at("code") ==
          -32602);
  }

  TEST_CASE("a list that is too long is none, though it comes in one page") {
    const auto shown = [](int resources, int templates) {
      Json some = Json::array();
      for (int i = 0; i < resources; ++i) some.push_back(resource("r://" + std::to_string(i)));
      Json others = Json::array();
      for (int i = 0; i < templates; ++i)
        others.push_back(uri_template("t://" + std::to_string(i) + "/{x}"));
      Talk talk({.grants = {"fs.*"}, .offers = true});
      talk.with_servers([&](FakeServers& servers) { servers.add("fs", some, others); });
      talk.initialize();
      const Json lists{talk.ask(1, "resources/list"), talk.ask(2, "resources/templates/list")};
      return std::pair(lists[0].at("result").at("resources").size(),
                       lists[1].at("result").at("resourceTemplates").size());
    };
    CHECK(shown(10'000, 200) == std::pair<std::size_t, std::size_t>(250, 200));
    CHECK(shown(10'001, 201) == std::pair<std::size_t, std::size_t>(0, 0));
  }

  TEST_CASE("a server that failed loses nothing to another that would answer in its place") {
    Talk talk({.grants = {"*.*"}, .offers = true});
    talk.with_servers(two_servers);
    talk.initialize();
    CHECK(uris(talk).contains("git://log"));
    talk.servers.servers["fs"].capabilities = nullptr;  // settled, and not there
    CHECK_FALSE(read(talk, 2, "x://new").contains("result"));
    CHECK(talk.world.upstream.calls.empty());
    // What it listed last stands for it.
    CHECK(read(talk, 3, "git://log").contains("result"));
  }

  TEST_CASE("what a server answers with an error reaches the client, and never in mcpac's name") {
    Talk talk({.grants = {"fs.*"}, .offers = true});
    talk.with_servers(two_servers);
    talk.initialize();
    CHECK(talk.send(request(1, "resources/read", {{"uri", "file:///data/z"}})).empty());
    auto& call = talk.world.upstream.calls.at(0);
    call.caller->refused({-32602,
                          "mcpac: it was denied",
                          {{"uri", "file:///data/z"}, {"mcpac/error", {{"kind", "denied"}}}}});
    talk.world.upstream.answer(0, fail(ErrorId::kServerError, "an error"));
    const Json error = talk.heard().at(0).at("error");
    CHECK(error.at("code") == -32602);
    CHECK(error.at("message") == "the server says: mcpac: it was denied");
    CHECK(error.at("data") == Json{{"uri", "file:///data/z"}});
  }
}
