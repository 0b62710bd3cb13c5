#include <doctest/doctest.h>

#include <set>
#include <string>

#include "gateway/offer_view.h"
#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

Json resource(std::string_view uri) {
  return {{"uri", uri}, {"name", uri}, {"_meta", {{"of", "the server"}}}};
}
Json prompt(std::string_view name) {
  return {{"name", name}, {"title", "a prompt"}};
}
Json uri_template(std::string_view text) {
  return {{"uriTemplate", text}, {"name", text}};
}

std::set<std::string> keys(const Json& answer, const char* member, const char* key) {
  std::set<std::string> all;
  for (const Json& entry : answer.at("result").at(member)) all.insert(entry.at(key));
  return all;
}
std::set<std::string> uris(Talk& talk, int id = 1) {
  return keys(talk.ask(id, "resources/list"), "resources", "uri");
}
std::set<std::string> prompts(Talk& talk, int id = 1) {
  return keys(talk.ask(id, "prompts/list"), "prompts", "name");
}

// Two servers; what both have is the same URI and the same prompt.
void two_servers(FakeServers& servers) {
  servers.add("fs", {resource("file:///data/a"), resource("file:///data/b"), resource("x://both")},
              {uri_template("file:///data/{name}"), uri_template("file:///etc/{name}")},
              {prompt("ask"), prompt("review")});
  servers.add("git", {resource("git://log"), resource("x://both")},
              Json::array({uri_template("git://{ref}")}), Json::array({prompt("ask")}));
}

// One read, answered by the server; the error where there is one.
Json read(Talk& talk, int id, std::string_view uri, const Json& contents = Json::array()) {
  const auto before = talk.world.upstream.calls.size();
  const auto at_once = talk.send(request(id, "resources/read", {{"uri", uri}}));
  if (talk.world.upstream.calls.size() == before) {
    REQUIRE(at_once.size() == 1);
    return at_once.front();
  }
  talk.world.upstream.answer(before, Json{{"contents", contents}});
  return talk.heard().at(0);
}

}  // namespace

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
    for (const std::string uri :
         {"file:///etc/shadow", "file:///data/../etc/shadow", "file:///data/%2e%2E/etc/shadow",
          "file:///data/%61", "file:///data/%5a", "file:///data/x%2D1", "file:///data/%7euser",
          "file:///data/%39", "file:///data/a%5Fb", "file:///data/.%2e/x",
          "file:///data/x%2f..%2fy", "file:///data/..", "no uri", "file:///data/a b",
          "file:///data\\..\\x", "x://both"}) {
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

  TEST_CASE("changes are told to whoever subscribed, and may read what changed") {
    Talk talk({.grants = {R"(fs."resources/read"(uri starts "file:///data/"))"},
               .asks = {R"(fs."resources/read"(uri == "file:///data/b"))"},
               .offers = true});
    talk.with_servers(two_servers);
    talk.initialize();
    CHECK(talk.ask(1, "resources/subscribe", {{"uri", "file:///data/a"}}).contains("result"));
    CHECK(talk.servers.asked.back().method == "resources/subscribe");
    const auto updated = [&](const char* server, const char* uri) {
      talk.servers.say(server, "notifications/resources/updated",
                       {{"uri", uri}, {"_meta", {{"other", "client"}}}});
      return talk.heard();
    };
    const auto told = updated("fs", "file:///data/a");
    REQUIRE(told.size() == 1);
    CHECK(told[0].at("params") == Json{{"uri", "file:///data/a"}});
    CHECK(updated("fs", "file:///data/a/part").size() == 1);
    CHECK(updated("fs", "file:///data/ab").empty());
    CHECK(updated("fs", "file:///etc/x").empty());
    CHECK(updated("git", "file:///data/a").empty());
    // What a rule asks about, or denies, is not told unasked.
    CHECK(talk.ask(2, "resources/subscribe", {{"uri", "file:///data/b"}}).contains("error"));
    CHECK(talk.ask(3, "resources/subscribe", {{"uri", "file:///etc/x"}}).contains("error"));
    CHECK(talk.ask(4, "resources/unsubscribe", {{"uri", "file:///data/a"}}).contains("result"));
    CHECK(talk.servers.asked.back().method == "resources/unsubscribe");
    CHECK(updated("fs", "file:///data/a").empty());
    // Taken back, it is not told any more.
    CHECK(talk.ask(5, "resources/subscribe", {{"uri", "file:///data/a"}}).contains("result"));
    talk.world.gate->revoke(gate::testing::permission("fs.resources/read"));
    CHECK(updated("fs", "file:///data/a").empty());
  }

  TEST_CASE(
      "a subscription of 2026-07-28 hears what it asked for, and a modern server is asked so") {
    Talk talk({.grants = {"fs.*"}, .offers = true});
    talk.with_servers(two_servers);
    talk.servers.servers["fs"].is_stateless = true;
    const Json wanted{{"resourceSubscriptions", {"file:///data/a", "git://log", 7}},
                      {"promptsListChanged", true}};
    const auto said =
        talk.send(request("l", "subscriptions/listen", stateless({{"notifications", wanted}})));
    REQUIRE(said.size() == 1);
    CHECK(said[0].at("method") == "notifications/subscriptions/acknowledged");
    // git is not granted: whose its log is this client does not learn, and fs may have any URI.
    CHECK(said[0].at("params").at("notifications").at("promptsListChanged") == true);
    CHECK(talk.servers.listening.empty());  // all that is named at once is asked for once
    talk.loop.poll();
    REQUIRE(talk.servers.listening.size() == 1);
    const auto& filter = talk.servers.listening.begin()->second.params.at("notifications");
    CHECK(filter.at("resourceSubscriptions").size() ==
          said[0].at("params").at("notifications").at("resourceSubscriptions").size());
    talk.servers.say("fs", "notifications/resources/updated", {{"uri", "file:///data/a"}});
    talk.servers.say("fs", "notifications/resources/list_changed", nullptr);
    talk.servers.say("fs", "notifications/prompts/list_changed", nullptr);
    const auto told = talk.heard();
    REQUIRE(told.size() == 2);
    for (const Json& one : told)
      CHECK(one.at("params").at("_meta").at("io.modelcontextprotocol/subscriptionId") == "l");
    CHECK(told[0].at("method") == "notifications/resources/updated");
    CHECK(told[1].at("method") == "notifications/prompts/list_changed");
  }

  TEST_CASE("a server that was started again is asked for the same once more") {
    Talk talk({.grants = {"fs.*"}, .offers = true});
    talk.with_servers(two_servers);
    talk.servers.servers["fs"].capabilities["logging"] = Json::object();
    talk.initialize();
    CHECK(talk.ask(1, "logging/setLevel", {{"level", "info"}}).contains("result"));
    CHECK(talk.ask(2, "resources/subscribe", {{"uri", "file:///data/a"}}).contains("result"));
    CHECK(uris(talk, 3).size() == 3);
    ++talk.servers.servers["fs"].starts;
    talk.servers.settled();
    CHECK(talk.servers.count("logging/setLevel") == 2);
    CHECK(talk.servers.count("resources/subscribe") == 2);
    uris(talk, 4);
    CHECK(talk.servers.count("resources/list") == 2);
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

  TEST_CASE("logs of a call reach the client that made it, from the level that it asked for") {
    Talk talk({.grants = {"fs.read"}, .offers = true});
    talk.with_servers(two_servers);
    talk.servers.servers["fs"].capabilities["logging"] = Json::object();
    CHECK(talk.initialize().at("result").at("capabilities").contains("logging"));
    CHECK(talk.ask(1, "logging/setLevel", {{"level", "loud"}}).at("error").at("code") == -32602);
    const auto call = [&](int id) {
      CHECK(talk.send(request(id, "tools/call",
                              {{"name", "fs.read"}, {"arguments", {{"path", "x"}}}}))
                .empty());
      return talk.world.upstream.calls.back().caller;
    };
    const Json info{{"level", "info"}, {"data", "hello"}, {"_meta", {{"x", 1}}}};
    const auto before = call(2);
    CHECK(before->log_level().empty());
    before->logged("fs", info);
    CHECK(talk.heard().empty());
    CHECK(talk.ask(3, "logging/setLevel", {{"level", "info"}}).contains("result"));
    CHECK(talk.servers.asked.back().params == Json{{"level", "info"}});
    const auto after = call(4);
    CHECK(after->log_level() == "info");
    after->logged("fs", info);
    after->logged("fs", {{"level", "debug"}, {"data", "hello"}});
    after->logged("fs", {{"level", "error"}, {"data", std::string(100'000, 'x')}});
    const auto told = talk.heard();
    REQUIRE(told.size() == 1);
    CHECK(told[0].at("method") == "notifications/message");
    CHECK(told[0].at("params") == Json{{"level", "info"}, {"logger", "fs"}, {"data", "hello"}});
    for (int i = 0; i < 3'000; ++i) after->logged("fs", info);
    CHECK(talk.heard().size() < 1'001);
    talk.world.upstream.answer(1, gate::testing::text_result("done"));
    talk.heard();
    after->logged("fs", info);
    CHECK(talk.heard().empty());
  }

  TEST_CASE("a client of 2026-07-28 says with each request which logs it wants") {
    Talk talk({.grants = {"fs.read"}, .offers = true});
    talk.with_servers(two_servers);
    const auto call = [&](int id, const Json& level) {
      Json params = stateless({{"name", "fs.read"}, {"arguments", {{"path", "x"}}}});
      if (!level.is_null()) params["_meta"]["io.modelcontextprotocol/logLevel"] = level;
      return talk.send(request(id, "tools/call", std::move(params)));
    };
    CHECK(call(1, nullptr).empty());
    talk.world.upstream.calls.back().caller->logged("fs", {{"level", "error"}, {"data", 1}});
    CHECK(talk.heard().empty());
    CHECK(call(2, "notice").empty());
    talk.world.upstream.calls.back().caller->logged("fs", {{"level", "error"}, {"data", 1}});
    CHECK(talk.heard().size() == 1);
    CHECK(call(3, "loud").at(0).at("error").at("code") == -32602);
  }

  TEST_CASE("several questions of a server come at once, under its names, and go back so") {
    Talk talk({.grants = {"fs.read"}, .offers = true});
    Json params = stateless({{"name", "fs.read"}, {"arguments", {{"path", "x"}}}});
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {{"roots", Json::object()}};
    CHECK(talk.send(request(1, "tools/call", params)).empty());
    std::optional<Result<Json>> replied;
    const Json questions{{"a", {{"method", "roots/list"}, {"params", Json::object()}}},
                         {"b", {{"method", "roots/list"}, {"params", Json::object()}}}};
    const auto caller = talk.world.upstream.calls.at(0).caller;
    caller->ask_all("fs", questions, [&](Result<Json> given) { replied = std::move(given); });
    const Json result = talk.heard().at(0).at("result");
    CHECK(result.at("resultType") == "input_required");
    CHECK(result.at("inputRequests") == questions);
    params["requestState"] = result.at("requestState");
    params["inputResponses"] = {{"a", {{"roots", Json::array()}}}};
    CHECK(talk.send(request(2, "tools/call", params)).at(0).contains("error"));
    CHECK_FALSE(replied);
    params["inputResponses"]["b"] = {{"roots", Json::array()}};
    params["inputResponses"]["other"] = {{"x", 1}};
    CHECK(talk.send(request(3, "tools/call", params)).empty());
    REQUIRE(replied);
    REQUIRE(*replied);
    CHECK((**replied).size() == 2);
  }

  TEST_CASE(
      "replies that come with a call answer what its server asks, and never what mcpac asks") {
    Talk talk({.grants = {"fs.read"}, .offers = true});
    Json params = stateless({{"name", "fs.read"}, {"arguments", {{"path", "x"}}}});
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {
        {"elicitation", {{"form", Json::object()}}}};
    params["inputResponses"] = {{"question", {{"action", "accept"}}},
                                {"a", {{"action", "accept"}}}};
    CHECK(talk.send(request(1, "tools/call", params)).empty());
    const auto caller = talk.world.upstream.calls.at(0).caller;
    int replies = 0;
    caller->ask("elicitation/create", {{"message", "may it?"}},
                [&](const Result<Json>&) { ++replies; });
    CHECK(replies == 0);
    CHECK(talk.heard().at(0).at("result").at("resultType") == "input_required");
    CHECK(talk.send(request(2, "tools/call", params)).empty());
    const Json questions{{"a", {{"method", "elicitation/create"}, {"params", Json::object()}}}};
    talk.world.upstream.calls.at(1).caller->ask_all("fs", questions,
                                                    [&](const Result<Json>&) { ++replies; });
    CHECK(replies == 1);
    CHECK(talk.heard().empty());
  }

  TEST_CASE("a capability that the client does not have is the server's error, with its number") {
    Talk talk({.grants = {"fs.read"}, .offers = true});
    const Json params = stateless({{"name", "fs.read"}, {"arguments", {{"path", "x"}}}});
    CHECK(talk.send(request(1, "tools/call", params)).empty());
    const Json data{{"requiredCapabilities", {{"sampling", Json::object()}}}};
    talk.world.upstream.calls.at(0).caller->refused({-32021, "sampling is needed", data});
    talk.world.upstream.answer(0, fail(ErrorId::kServerError, "an error"));
    const Json error = talk.heard().at(0).at("error");
    CHECK(error.at("code") == -32021);
    CHECK(error.at("data") == data);
  }
}
