// A session in revision 2026-07-28.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

std::set<std::string> names_in(const Json& answer) {
  std::set<std::string> names;
  for (const Json& tool : answer.at("result").at("tools")) names.insert(tool.at("name"));
  return names;
}

Json call(std::string_view name, Json arguments = Json::object()) {
  return {{"name", name}, {"arguments", std::move(arguments)}};
}

}  // namespace

TEST_SUITE("gateway/session of 2026-07-28") {
  TEST_CASE("every request stands alone: no initialize, and who answers says so") {
    Talk talk({.grants = {"fs.read"}});
    const Json discovered = talk.ask_stateless(1, "server/discover").at("result");
    CHECK(discovered.at("supportedVersions") == Json{"2026-07-28"});
    CHECK(discovered.at("resultType") == "complete");
    CHECK(discovered.at("cacheScope") == "private");
    CHECK(discovered.at("ttlMs").is_number_unsigned());
    CHECK(discovered.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name") == "mcpac");
    const Json listed = talk.ask_stateless(2, "tools/list");
    CHECK(names_in(listed) == std::set<std::string>{"fs.read"});
    CHECK(listed.at("result").at("ttlMs").is_number_unsigned());
    CHECK(talk.ask_stateless(3, "ping").at("error").at("code") == -32601);
    CHECK(talk.ask_stateless(4, "initialize").at("error").at("code") == -32601);
  }

  TEST_CASE("a revision that nobody speaks is named, with the one that is spoken") {
    Talk talk;
    Json params = stateless();
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01";
    const Json error = talk.ask(1, "tools/list", params).at("error");
    CHECK(error.at("code") == -32022);
    CHECK(error.at("data") == Json{{"requested", "2099-01-01"}, {"supported", Json{"2026-07-28"}}});
  }

  TEST_CASE("a request says its client's capabilities, or is refused") {
    Talk talk({.grants = {"git.commit"}});
    Json params = stateless(call("git.commit"));
    params["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
    CHECK(talk.ask(1, "tools/call", params).at("error").at("code") == -32602);
    CHECK(talk.world.upstream.calls.empty());
  }

  TEST_CASE(
      "a result of a server of the other era gets the form of this one, and the other way round") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize();
    talk.send(request(1, "tools/call", stateless(call("git.commit"))));
    talk.world.upstream.answer(0, gate::testing::text_result("done"));
    CHECK(talk.heard()[0].at("result").at("resultType") == "complete");
    talk.send(request(2, "tools/call", call("git.commit")));
    Json modern = gate::testing::text_result("done");
    modern["resultType"] = "complete";
    talk.world.upstream.answer(1, modern);
    CHECK(talk.heard()[0].at("result") == gate::testing::text_result("done"));
  }

  TEST_CASE("what a server answered in the end asks nothing, whatever it says of itself") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize();
    const Json question{{"method", "elicitation/create"},
                        {"params", {{"mode", "url"}, {"url", "https://a.example"}}}};
    const std::vector<Json> types{"input_required", Json::array({"input_required"}), 5, nullptr,
                                  "complete"};
    std::size_t made = 0;
    for (const bool modern : {true, false}) {
      for (const Json& type : types) {
        CAPTURE(type);
        const Json params = call("git.commit");
        talk.send(request(1, "tools/call", modern ? stateless(params) : params));
        Json answer = gate::testing::text_result("done");
        answer["resultType"] = type;
        answer["inputRequests"] = {{"q", question}};
        answer["requestState"] = "s";
        talk.world.upstream.answer(made++, answer);
        const Json result = talk.heard().at(0).at("result");
        CHECK(result.at("content") == gate::testing::text_result("done").at("content"));
        CHECK(result.value("resultType", "none") == (modern ? "complete" : "none"));
        CHECK_FALSE(result.contains("inputRequests"));
        CHECK_FALSE(result.contains("requestState"));
      }
    }
  }

  TEST_CASE(
      "a subscription is acknowledged first, hears what it asked for, and ends with an answer") {
    Talk talk({.grants = {"git.commit"}});
    const auto opened = talk.send(request(
        "s", "subscriptions/listen",
        stateless(
            {{"notifications", {{"toolsListChanged", true}, {"promptsListChanged", true}}}})));
    REQUIRE(opened.size() == 1);
    CHECK(opened[0].at("method") == "notifications/subscriptions/acknowledged");
    CHECK(opened[0].at("params").at("notifications") == Json{{"toolsListChanged", true}});
    const Json meta{{"io.modelcontextprotocol/subscriptionId", "s"}};
    CHECK(opened[0].at("params").at("_meta") == meta);
    talk.send(
        request("deaf", "subscriptions/listen", stateless({{"notifications", Json::object()}})));
    talk.session->tools_changed();
    const auto heard = talk.heard();
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].at("params").at("_meta") == meta);
    talk.session->forget(std::string("deaf"));
    talk.session->finish();
    const auto ended = talk.heard();
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].at("id") == "s");
    CHECK(ended[0].at("result").at("resultType") == "complete");
    CHECK(talk.ask_stateless(9, "tools/list").at("error").at("code") == -32603);
  }
}
