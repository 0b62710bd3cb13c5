// The parts of code mode that stand between a program and its client, each by itself.
#include <doctest/doctest.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "gate/support_gate.h"
#include "gateway/code_mode/client_upstream.h"
#include "gateway/code_mode/definitions.h"
#include "gateway/code_mode/program_caller.h"
#include "gateway/code_mode/programs.h"
#include "gateway/lists/client_name.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::code_mode;
using gate::testing::permission;
using gate::testing::World;

namespace {

// What each tool of the world takes.
gate::CallRequest call_of(const std::string& name) {
  Json arguments = Json::object();
  if (name.starts_with("fs.")) arguments["path"] = "a";
  if (name == "fs.write") arguments["text"] = "b";
  return {.permission = name, .arguments = std::move(arguments)};
}

// A program's gate before a client's.
struct Pair {
  explicit Pair(const World::Options& options) : client(options) {
    World::Options all;
    all.grants = {"fs.read", "git.commit"};
    program = std::make_unique<gate::Gate>(gate::GateSetup{
        .tools = &client.tools,
        .authority = gate::testing::authority_of(client, all),
        .declared = {.permissions = {permission("fs.read"), permission("git.commit")},
                     .texts = {"fs.read", "git.commit"}},
        .upstream = upstream.get(),
        .audit = &record,
        .clock = &client.clock});
  }
  ~Pair() { program.reset(); }

  gate::Answer call(const char* name) {
    std::optional<gate::Answer> answer;
    program->call(call_of(name), [&](gate::Answer given) { answer = std::move(given); });
    loop.restart();
    loop.run();
    if (!answer) {
      client.upstream.answer(client.upstream.calls.size() - 1, gate::testing::text_result("ok"));
      loop.restart();
      loop.run();
    }
    return answer.value();
  }

  boost::asio::io_context loop;
  World client;
  std::shared_ptr<ClientUpstream> upstream = std::make_shared<ClientUpstream>(
      loop.get_executor(), *client.gate, client.upstream, nullptr, "the program's run");
  gate::testing::MemorySink record;
  std::unique_ptr<gate::Gate> program;
};

class FakeCaller final : public gate::Caller {
 public:
  [[nodiscard]] bool answers(const std::string& method) const override {
    return is_there && method == "elicitation/create";
  }
  void ask(const std::string& method, Json params, Replied done) override {
    asked.push_back({method, std::move(params)});
    replied = std::move(done);
    is_there = false;
  }
  std::vector<std::pair<std::string, Json>> asked;
  Replied replied;
  bool is_there = true;
};

}  // namespace

TEST_SUITE("gateway/program calls") {
  TEST_CASE("the client's limits count a program's calls, and its refusals reach the program") {
    Pair pair({.grants = {"fs.read calls <= 1"}});
    CHECK(pair.call("fs.read").has_value());
    const auto refused = pair.call("fs.read");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == gate::ErrorKind::kDenied);
    CHECK(refused.error().message.starts_with("permission denied: fs.read: "));
    CHECK(refused.error().data.at("declared") == Json{"fs.read", "git.commit"});
    CHECK(pair.client.upstream.calls.size() == 1);
    const auto other = pair.call("git.commit");
    CHECK(other.error().kind == gate::ErrorKind::kDenied);
    REQUIRE(pair.upstream->denials().size() == 2);
    CHECK(pair.upstream->denials().at(1).at("permission") == "git.commit");
    // The client's record holds what was decided, and whose program it was.
    const auto checks = pair.client.audit.of("CapabilityCheck");
    REQUIRE(checks.size() == 3);
    CHECK(checks[0].at("allowed") == true);
    CHECK(checks[1].at("allowed") == false);
    for (const Json& check : checks) CHECK(check.at("program_run") == "the program's run");
    const auto ends = pair.record.of("CallFinished");
    REQUIRE(ends.size() == 3);
    CHECK(ends[0].at("outcome") == "result");
    CHECK(ends[1].at("outcome") == "denied");
  }

  TEST_CASE("what the program does not declare never comes to the client's gate") {
    Pair pair({.grants = {"fs.read", "fs.write"}});
    const auto refused = pair.call("fs.write");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == gate::ErrorKind::kDenied);
    CHECK(pair.client.audit.of("CapabilityCheck").empty());
  }

  TEST_CASE("what is taken from the client is taken from its programs, calls in flight as well") {
    Pair pair({.grants = {"fs.read"}});
    std::optional<gate::Answer> answer;
    pair.program->call(call_of("fs.read"), [&](gate::Answer given) { answer = std::move(given); });
    REQUIRE(pair.client.upstream.calls.size() == 1);
    pair.client.gate->revoke(permission("fs.read"));
    pair.loop.run();
    REQUIRE(answer.has_value());
    CHECK(answer->error().kind == gate::ErrorKind::kRevoked);
    CHECK(pair.call("fs.read").error().kind == gate::ErrorKind::kRevoked);
  }

  TEST_CASE("a program that is gone takes its calls back, and their answers find nobody") {
    auto pair = std::make_unique<Pair>(World::Options{.grants = {"fs.read"}});
    pair->program->call(call_of("fs.read"), [](const gate::Answer&) {});
    REQUIRE(pair->client.upstream.calls.size() == 1);
    pair->program.reset();
    CHECK(pair->client.upstream.cancelled.size() == 1);
    CHECK(pair->client.gate->in_flight() == 0);
    pair->loop.run();
  }

  TEST_CASE("a question that nobody replies to, since who was asked is gone, holds up no other") {
    boost::asio::io_context loop;
    const auto client = std::make_shared<FakeCaller>();
    const auto program = std::make_shared<ProgramCaller>(client, loop.get_executor());
    for (const int i : {1, 2}) program->ask("elicitation/create", i, [](const Result<Json>&) {});
    CHECK(client->asked.size() == 1);
    client->replied = nullptr;
    CHECK(client->asked.size() == 1);  // not in the middle of what dropped it
    loop.run();
    CHECK(client->asked.size() == 2);
    client->replied = nullptr;
    loop.restart();
    loop.run();
  }

  TEST_CASE("what a server asks is about the call of the client's gate that it came with") {
    using Calls = std::vector<gate::Gate::CallId>;
    boost::asio::io_context loop;
    World world({.grants = {"fs.read"}});
    const auto client = std::make_shared<FakeCaller>();
    Calls about;
    const auto program = std::make_shared<ProgramCaller>(
        client, loop.get_executor(), [&](gate::Gate::CallId call) { about.push_back(call); });
    const auto upstream = std::make_shared<ClientUpstream>(loop.get_executor(), *world.gate,
                                                           world.upstream, program, "a run");
    for (const char* path : {"a", "b"})
      upstream->forward(permission("fs.read"), {{"path", path}}, nullptr, [](Result<Json>) {});
    const auto checks = world.audit.of("CapabilityCheck");
    REQUIRE(checks.size() == 2);
    Calls made;
    for (const Json& check : checks) made.push_back(check.at("call_id"));
    CHECK(made[0] != made[1]);
    const auto ask = [&](std::size_t call) {
      world.upstream.calls[call].caller->ask_for("fs", "elicitation/create", Json::object(),
                                                 [](const Result<Json>&) {});
    };
    ask(1);
    CHECK(about == Calls{made[1]});
    // The second waits until the first has its reply.
    world.upstream.calls[0].caller->ask_all("fs", Json::object(), [](const Result<Json>&) {});
    CHECK(about == Calls{made[1]});
    std::exchange(client->replied, nullptr)(Json::object());
    CHECK(about == Calls{made[1], made[0]});
  }

  TEST_CASE("a client is asked one thing at a time, however much a program does at once") {
    boost::asio::io_context loop;
    const auto client = std::make_shared<FakeCaller>();
    const auto program = std::make_shared<ProgramCaller>(client, loop.get_executor());
    CHECK(program->answers("elicitation/create"));
    CHECK_FALSE(program->answers("sampling/createMessage"));
    std::vector<int> replies;
    for (const int i : {1, 2})
      program->ask("elicitation/create", i, [&, i](const Result<Json>&) { replies.push_back(i); });
    CHECK(client->asked.size() == 1);
    // The client is away with the first question, and still one that shows forms.
    CHECK(program->answers("elicitation/create"));
    client->is_there = true;
    std::exchange(client->replied, nullptr)(Json::object());
    CHECK(replies == std::vector<int>{1});
    REQUIRE(client->asked.size() == 2);
    CHECK(client->asked[1].second == 2);
    client->is_there = true;
    std::exchange(client->replied, nullptr)(Json::object());
    CHECK(replies == std::vector<int>{1, 2});
  }

  TEST_CASE("a bounded number of programs is at work, and the end of all can be waited for") {
    boost::asio::io_context loop;
    const auto work = boost::asio::make_work_guard(loop);
    Programs programs(loop.get_executor(), {.of_client = 1, .all = 2});
    const auto until_stopped = [](StopSignal stop) {
      pollfd readable{stop.descriptor, POLLIN, 0};
      ::poll(&readable, 1, -1);
      return Json("stopped");
    };
    std::vector<Json> done;
    const auto keep = [&](Json result) { done.push_back(std::move(result)); };
    const auto first = programs.start("one", until_stopped, keep);
    REQUIRE(first.has_value());
    CHECK(programs.start("one", until_stopped, keep).error().id == ErrorId::kServerLimit);
    REQUIRE(programs.start("two", until_stopped, keep).has_value());
    CHECK_FALSE(programs.start("three", until_stopped, keep).has_value());
    programs.stop(*first);
    loop.run_one();
    CHECK(done.size() == 1);
    REQUIRE(programs
                .start(
                    "three", [](StopSignal) -> Json { throw std::runtime_error("broken"); }, keep)
                .has_value());
    bool ended = false;
    programs.stop_all([&] { ended = true; });
    CHECK_FALSE(programs.start("one", until_stopped, keep).has_value());
    while (!ended) loop.run_one();
    REQUIRE(done.size() == 3);
    CHECK(std::ranges::count_if(done, [](const Json& result) { return result.is_object(); }) == 1);
  }

  TEST_CASE("no server's tool has the name of one of ours") {
    const auto named = client_names({permission("a.execute_agent"), permission("a.other")},
                                    NameForm::kBare, code_mode::names());
    REQUIRE(named.size() == 2);
    CHECK(named.contains("other"));
    CHECK_FALSE(named.contains("execute_agent"));
  }

  TEST_CASE("the four tools are said with schemas that compile") {
    const Json tools = definitions({});
    CHECK(tools.size() == code_mode::names().size());
    for (const Json& tool : tools) {
      CHECK(code_mode::names().contains(tool.at("name").get<std::string>()));
      CHECK(JsonSchema::compile(tool.at("inputSchema")).has_value());
      CHECK(JsonSchema::compile(tool.at("outputSchema")).has_value());
      CHECK(tool.at("annotations").contains("readOnlyHint"));
    }
  }
}
