// What servers ask of clients while they work on a call.
#include <doctest/doctest.h>

#include <string>

#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

Json call(std::string_view name, Json arguments = Json::object()) {
  return {{"name", name}, {"arguments", std::move(arguments)}};
}

}  // namespace

TEST_SUITE("gateway/questions") {
  TEST_CASE("what a server asks while it works on a call goes to the client that made it") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize("2025-11-25", {{"sampling", Json::object()}, {"elicitation", Json::object()}});
    talk.send(request(1, "tools/call", call("git.commit")));
    const auto caller = talk.world.upstream.calls[0].caller;
    CHECK(caller->answers("sampling/createMessage"));
    CHECK(caller->answers("elicitation/create"));
    CHECK_FALSE(caller->answers("roots/list"));
    CHECK_FALSE(caller->answers("tools/call"));
    std::vector<Json> replies;
    const auto keep = [&](const Result<Json>& reply) {
      replies.push_back(reply ? *reply : Json(reply.error().what));
    };
    caller->ask("sampling/createMessage", {{"maxTokens", 5}}, keep);
    REQUIRE(talk.said.size() == 1);
    CHECK(talk.said[0].about == ipc::Id(std::int64_t{1}));
    const Json asked = talk.heard()[0];
    CHECK(asked.at("params") == Json{{"maxTokens", 5}});
    const Json reply{{"jsonrpc", "2.0"}, {"id", asked.at("id")}, {"result", {{"role", "x"}}}};
    CHECK(talk.send(reply).empty());
    CHECK(talk.send(reply).empty());  // once is enough
    CHECK(replies == std::vector<Json>{{{"role", "x"}}});
    CHECK(talk.anomalies.count() == 1);
    // Whoever asks and is not answered before the call ends is let go.
    caller->ask("sampling/createMessage", Json::object(), keep);
    talk.world.upstream.answer(0, Json::object());
    CHECK(talk.heard().size() == 2);
    CHECK(replies.size() == 1);
  }

  TEST_CASE("what a server asks is recorded before it is asked, and how it ended") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize("2025-11-25", {{"roots", Json::object()}, {"elicitation", Json::object()}});
    talk.send(request(1, "tools/call", call("git.commit")));
    const auto caller = talk.world.upstream.calls[0].caller;
    std::size_t replies = 0;
    const auto count = [&](const Result<Json>&) { ++replies; };
    const auto ask = [&](const std::string& method) {
      caller->ask_for("git", method, {{"message", "private"}}, count);
      const auto heard = talk.heard();
      return heard.empty() ? Json() : heard[0].at("id");
    };
    const Json form = ask("elicitation/create");
    const auto asked = talk.world.audit.of("ClientAsked");
    REQUIRE(asked.size() == 1);
    CHECK(
        asked[0] ==
        Json{{"question", 1}, {"call_id", 1}, {"server", "git"}, {"method", "elicitation/create"}});
    talk.send({{"jsonrpc", "2.0"}, {"id", form}, {"result", {{"action", "decline"}}}});
    talk.send({{"jsonrpc", "2.0"}, {"id", ask("roots/list")}, {"result", Json::object()}});
    const Json refused = ask("elicitation/create");
    talk.send({{"jsonrpc", "2.0"}, {"id", refused}, {"error", {{"code", -1}, {"message", "no"}}}});
    std::ignore = ask("elicitation/create");
    talk.world.upstream.answer(0, Json::object());  // and nobody waits for the reply any more
    std::vector<std::string> outcomes;
    for (const Json& reply : talk.world.audit.of("ClientReplied"))
      outcomes.push_back(reply.at("outcome"));
    CHECK(outcomes == std::vector<std::string>{"decline", "answered", "refused", "refused"});
    CHECK(replies == 3);
  }

  TEST_CASE("what cannot be recorded is not asked, and a server does not ask without end") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize("2025-11-25", {{"roots", Json::object()}});
    talk.send(request(1, "tools/call", call("git.commit")));
    const auto caller = talk.world.upstream.calls[0].caller;
    for (int i = 0; i < 1'000; ++i) caller->ask_for("git", "roots/list", Json(), nullptr);
    CHECK(talk.heard().size() == 64);
    talk.world.upstream.answer(0, Json::object());
    talk.heard();
    talk.send(request(2, "tools/call", call("git.commit")));
    talk.world.audit.full = true;
    talk.world.upstream.calls[1].caller->ask_for("git", "roots/list", Json(), nullptr);
    CHECK(talk.said.empty());
  }

  TEST_CASE("a client that ends its input answers nothing any more, and nobody waits for it") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize("2025-11-25", {{"elicitation", Json::object()}});
    talk.send(request(1, "tools/call", call("git.commit")));
    const auto caller = talk.world.upstream.calls[0].caller;
    std::vector<bool> replied;
    caller->ask("elicitation/create", Json::object(),
                [&](const Result<Json>& reply) { replied.push_back(reply.has_value()); });
    talk.session->input_ended();
    CHECK(replied == std::vector<bool>{false});
    CHECK_FALSE(caller->answers("elicitation/create"));
  }

  TEST_CASE("a call whose client does not come back is taken back by the clock alone") {
    Talk talk({.grants = {"git.commit"}});
    talk.world.clock.stop();
    Json params = stateless(call("git.commit"));
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {{"roots", Json::object()}};
    talk.send(request(1, "tools/call", params));
    talk.world.upstream.calls[0].caller->ask_for("git", "roots/list", Json(), [](const auto&) {});
    CHECK(talk.parked.count() == 1);
    talk.parked.sweep();
    CHECK(talk.parked.count() == 1);
    talk.world.clock.pass(std::chrono::minutes(11));
    talk.parked.sweep();
    CHECK(talk.parked.count() == 0);
    CHECK(talk.world.upstream.cancelled.size() == 1);
    CHECK(talk.world.audit.of("ClientReplied").at(0).at("outcome") == "refused");
  }

  TEST_CASE("a stateless client is asked by a result, and answers by asking once more") {
    Talk talk({.grants = {"git.commit"}});
    talk.world.clock.stop();
    const auto ask = [&](int id, Json params) {
      params = stateless(std::move(params));
      params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {
          {"elicitation", {{"form", Json::object()}}}};
      return talk.send(request(id, "tools/call", std::move(params)));
    };
    std::vector<Json> replies;
    const auto keep = [&](const Result<Json>& reply) { replies.push_back(reply.value()); };
    const Json plain = call("git.commit", {{"message", "m"}});
    const auto asked_at = [&](int id) {
      CHECK(ask(id, plain).empty());
      const auto caller = talk.world.upstream.calls.back().caller;
      CHECK(caller->answers("elicitation/create"));
      CHECK_FALSE(caller->answers("sampling/createMessage"));
      caller->ask("elicitation/create", {{"message", "sure?"}}, keep);
      const auto heard = talk.heard();
      REQUIRE(heard.size() == 1);
      CHECK(heard[0].at("id") == id);
      const Json& result = heard[0].at("result");
      CHECK(result.at("resultType") == "input_required");
      CHECK(result.at("inputRequests").at("question") ==
            Json{{"method", "elicitation/create"}, {"params", {{"message", "sure?"}}}});
      return std::string(result.at("requestState"));
    };
    const std::string state = asked_at(1);
    CHECK(talk.session->calls_in_flight() == 0);
    const Json yes{{"question", {{"action", "accept"}}}};
    const auto with = [&](Json params, const Json& brought, const Json& responses) {
      params["requestState"] = brought;
      params["inputResponses"] = responses;
      return params;
    };
    // Another call, another state, no answer: none of them opens it.
    const std::vector<Json> wrong{with(call("git.commit", {{"message", "other"}}), state, yes),
                                  with(plain, "made up", yes), with(plain, 5, yes),
                                  with(plain, state, Json::object())};
    for (const Json& params : wrong) {
      const auto answers = ask(2, params);
      REQUIRE(answers.size() == 1);
      CHECK(answers[0].at("error").at("code") == -32602);
    }
    CHECK(replies.empty());
    CHECK(ask(3, with(plain, state, yes)).empty());
    CHECK(replies == std::vector<Json>{{{"action", "accept"}}});
    talk.world.upstream.answer(0, gate::testing::text_result("done"));
    const auto heard = talk.heard();
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].at("id") == 3);
    CHECK(heard[0].at("result").at("content").at(0).at("text") == "done");
    // Once, and not for ever.
    CHECK(ask(4, with(plain, state, yes)).at(0).at("error").at("code") == -32602);
    const std::string old = asked_at(5);
    talk.world.clock.pass(std::chrono::minutes(11));
    CHECK(ask(6, with(plain, old, yes)).at(0).at("error").at("code") == -32602);
    CHECK(talk.world.upstream.cancelled.size() == 1);
    CHECK(talk.world.upstream.calls.size() == 2);
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
