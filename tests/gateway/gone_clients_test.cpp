// What is asked of clients that are gone.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "gateway/call_of_client.h"
#include "gateway/client_approver.h"
#include "gateway/code_mode/own_tools.h"
#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

// A client that shows forms, for as long as it is there.
class Client final : public gate::Caller {
 public:
  [[nodiscard]] bool answers(const std::string&) const override { return true; }
  void ask(const std::string&, Json, Replied done) override {
    if (is_there) asked.push_back(std::move(done));
  }
  bool is_there = true;
  std::vector<Replied> asked;
};

struct Asking {
  explicit Asking(bool is_there) { client->is_there = is_there; }
  void ask() {
    auto question = gate::make_question("fs.read", Json::object(), {}, {});
    question.caller = client;
    approver.ask(question, [this](gate::Reply reply) { replies.push_back(std::move(reply)); });
  }
  boost::asio::io_context loop;
  std::shared_ptr<Client> client = std::make_shared<Client>();
  ClientApprover approver{loop.get_executor()};
  std::vector<gate::Reply> replies;
};

// A tool of ours that is never done, and asks its client something.
class Busy final : public OwnTools {
 public:
  [[nodiscard]] const Json& definitions() const override { return none_; }
  [[nodiscard]] bool has(const std::string& name) const override { return name == "busy"; }
  [[nodiscard]] bool are_alone() const override { return false; }
  [[nodiscard]] const std::string& instructions() const override { return text_; }
  [[nodiscard]] std::size_t in_flight() const override { return 0; }
  void call(const std::string&, const Json&, const std::shared_ptr<CallOfClient>& call) override {
    call->taken_back_by([] {});
    call->ask("roots/list", nullptr, [this](const Result<Json>& reply) {
      replies.push_back(reply ? "a reply" : reply.error().what);
    });
    kept_ = call;
  }
  std::vector<std::string> replies;

 private:
  Json none_ = Json::array();
  std::string text_;
  std::shared_ptr<CallOfClient> kept_;
};

}  // namespace

TEST_SUITE("gateway/gone_clients") {
  TEST_CASE("a question to somebody who is gone already is answered at once, with nobody") {
    Asking asking(false);
    asking.ask();
    REQUIRE(asking.replies.size() == 1);
    CHECK(asking.replies[0].answer == gate::Answered::kNobody);
    CHECK(asking.replies[0].detail == "the client is gone");
    CHECK(asking.replies[0].for_caller == "the client answered with an error, or is gone");
  }

  TEST_CASE(
      "a client that nobody can be asked by hears in the refusal why, and not by whose rule") {
    boost::asio::io_context loop;
    ClientApprover approver(loop.get_executor());
    Talk talk({.grants = {}, .asks = {"git.commit"}, .asking = {.approver = &approver}});
    talk.initialize();
    const std::string said = talk.ask(1, "tools/call", {{"name", "git.commit"}})
                                 .at("result")
                                 .at("content")
                                 .at(0)
                                 .at("text");
    CHECK(said.find("no valid answer came: the client shows no forms (elicitation)") !=
          std::string::npos);
    CHECK(said.find("ask ") == std::string::npos);
    talk.session->close();
    Talk shows({.grants = {}, .asks = {"git.commit"}, .asking = {.approver = &approver}});
    shows.initialize("2025-11-25", {{"elicitation", Json::object()}});
    const Json refused =
        shows.ask(1, "tools/call",
                  {{"name", "git.commit"}, {"arguments", {{"message", std::string(5'000, 'x')}}}});
    CHECK(refused.dump().find("too long to be shown in a form") != std::string::npos);
  }

  TEST_CASE("a question to somebody who goes is answered when they do, and only once") {
    Asking asking(true);
    asking.ask();
    CHECK(asking.replies.empty());
    asking.client->asked.clear();
    REQUIRE(asking.replies.size() == 1);
    CHECK(asking.replies[0].answer == gate::Answered::kNobody);
    asking.ask();
    asking.client->asked.at(0)(Json{{"action", "decline"}});
    asking.client->asked.clear();
    REQUIRE(asking.replies.size() == 2);
    CHECK(asking.replies[1].answer == gate::Answered::kNo);
  }

  TEST_CASE("a question that was taken back has no answer, though its client goes") {
    Asking asking(true);
    asking.ask();
    asking.approver.cancel();
    asking.client->asked.clear();
    CHECK(asking.replies.empty());
  }

  TEST_CASE(
      "what a call asks that its client takes back is answered then, though the call goes on") {
    Talk talk({.grants = {"fs.read"}});
    Busy busy;
    std::vector<Outgoing> said;
    const auto session =
        McpSession::open({.client = "a run",
                          .gate = talk.world.gate.get(),
                          .anomalies = &talk.anomalies,
                          .catalog = talk.catalog,
                          .own = &busy,
                          .say = [&](Outgoing one) { said.push_back(std::move(one)); }});
    session->receive(request("start", "initialize",
                             {{"protocolVersion", "2025-11-25"},
                              {"capabilities", {{"roots", Json::object()}}},
                              {"clientInfo", {{"name", "a test"}, {"version", "1"}}}})
                         .dump());
    session->receive(request(1, "tools/call", {{"name", "busy"}}).dump());
    REQUIRE(said.size() == 2);  // the answer to initialize, and the question
    CHECK(busy.replies.empty());
    session->receive(Json{
        {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 1}}}}
                         .dump());
    CHECK(busy.replies == std::vector<std::string>{"the client took its request back"});
  }
}
