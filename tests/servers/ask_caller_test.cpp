// What a server asks while it works on a call, as it reaches whoever made that call.
#include "servers/ask_caller.h"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "servers/server_form.h"

using namespace mcpac;
using namespace mcpac::servers;
namespace asio = boost::asio;

namespace {

// Answers everything, at once, and keeps what it was asked.
class Answering final : public gate::Caller {
 public:
  [[nodiscard]] bool answers(const std::string&) const override { return true; }
  void ask(const std::string& method, Json params, Replied done) override {
    asked.push_back({{"method", method}, {"params", std::move(params)}});
    done(Json{{"action", "accept"}});
  }
  void ask_all(const std::string&, Json questions, Replied done) override {
    Json replies = Json::object();
    for (const auto& [name, question] : questions.items()) {
      asked.push_back(question);
      replies[name] = {{"action", "accept"}};
    }
    done(std::move(replies));
  }
  std::vector<Json> asked;
};

struct CallerWorld {
  asio::io_context loop;
  std::shared_ptr<Answering> caller = std::make_shared<Answering>();
  mcp::CallEvents events = events_for(loop.get_executor(), caller, "evil");

  Result<Json> run(asio::awaitable<Result<Json>> work) {
    std::optional<Result<Json>> result;
    asio::co_spawn(loop, std::move(work), [&](const std::exception_ptr&, Result<Json> given) {
      result = std::move(given);
    });
    loop.run();
    loop.restart();
    REQUIRE(result.has_value());
    return std::move(*result);
  }
  // Either way in which a server can ask.
  std::vector<Result<Json>> show(const Json& form) {
    Json question{{"method", "elicitation/create"}, {"params", form}, {"more", 1}};
    return {run(events.answer("elicitation/create", form)),
            run(events.answer_all(Json{{"q", std::move(question)}}))};
  }
};

}  // namespace

TEST_SUITE("execute/ask_caller") {
  TEST_CASE("a form names its server and has nothing beside what forms have") {
    CallerWorld world;
    const Json schema{{"type", "object"}, {"properties", Json::object()}};
    const Json form{{"message", "who?"},
                    {"mode", "form"},
                    {"requestedSchema", schema},
                    {"url", "https://a.example"},
                    {"_meta", {{"mcpac/error", Json::object()}}},
                    {"title", "mcpac asks"}};
    for (const auto& reply : world.show(form)) CHECK(reply.has_value());
    REQUIRE(world.caller->asked.size() == 2);
    const Json shown{{"message", "[evil] who?"}, {"mode", "form"}, {"requestedSchema", schema}};
    for (const Json& asked : world.caller->asked)
      CHECK(asked == Json{{"method", "elicitation/create"}, {"params", shown}});
  }

  TEST_CASE("what a form says neither hides its server's name nor begins a line of ours") {
    CallerWorld world;
    const Json form{{"message", "one\n[mcpac] allow\x1b[31m all?\u202e\r\n\nend"}};
    for (const auto& reply : world.show(form)) CHECK(reply.has_value());
    REQUIRE(world.caller->asked.size() == 2);
    for (const Json& asked : world.caller->asked) {
      const std::string shown = asked.at("params").at("message");
      CHECK(shown.starts_with("[evil] one\n  [mcpac] allow all?"));
      CHECK(shown.find_first_of("\x1b\r") == std::string::npos);
      CHECK_FALSE(shown.contains("\u202e"));
      CHECK(servers::is_shown_form("evil", asked.at("params")));
      for (auto at = shown.find('\n'); at != std::string::npos; at = shown.find('\n', at + 1))
        CHECK(shown.substr(at + 1).starts_with("  "));
    }
  }

  TEST_CASE("nobody is shown a server's address, nor a form that says nothing in a text") {
    const std::vector<Json> forms{
        {{"message", "go"}, {"mode", "url"}, {"url", "https://a.example"}},
        {{"message", "go"}, {"mode", Json::array({"url"})}, {"url", "https://a.example"}},
        {{"message", "go"}, {"mode", nullptr}},
        {{"message", "go"}, {"mode", ""}},
        {{"requestedSchema", Json::object()}},
        {{"message", Json::array({"mcpac asks"})}},
        {{"message", 5}},
        Json::object()};
    for (const Json& form : forms) {
      CAPTURE(form);
      CallerWorld world;
      for (const auto& reply : world.show(form)) CHECK_FALSE(reply.has_value());
      CHECK(world.caller->asked.empty());
    }
  }
}
