// Which calls a recording answers, in which order, and what it says of all others.
#include "history/recording/replayer.h"

#include <doctest/doctest.h>

#include "history/support_recording.h"

using namespace mcpac;
using namespace mcpac::history;
using namespace mcpac::history::testing;

namespace {

const Json kA{{"path", "a"}};
const Json kB{{"path", "b"}};

bool says(const Error& error, std::string_view part) {
  return error.to_text().find(part) != std::string::npos;
}

class Client final : public gate::Caller {
 public:
  void progress(Json report) override { heard.push_back(std::move(report)); }
  [[nodiscard]] bool answers(const std::string& /*method*/) const override { return answers_any; }
  void ask(const std::string& /*method*/, Json params, Replied done) override {
    asked.push_back(std::move(params));
    replies.push_back(std::move(done));
  }
  bool answers_any = true;
  std::vector<Json> heard;
  std::vector<Json> asked;
  void ask_all(const std::string& server, Json questions, Replied done) override {
    asked.push_back({server, std::move(questions)});
    replies.push_back(std::move(done));
  }
  void refused(const ipc::ErrorObject& error) override { refusal = error.message; }
  std::string refusal;
  std::vector<Replied> replies;
};

// files.write asks its client, and writes what it answers.
Recording with_question() {
  const auto lock = some_lock();
  Servers servers;
  Recorder recorder(servers, servers, lock);
  const auto client = std::make_shared<Client>();
  const auto made = make_call(recorder, "files.write", kA, client);
  servers.calls[0].caller->progress({{"progress", 1}});
  servers.calls[0].caller->ask_for("files", "elicitation/create", {{"message", "who?"}},
                                   [](Result<Json>) {});
  client->replies[0](Json{{"action", "accept"}, {"content", {{"name", "Jo"}}}});
  servers.answer(0, said("hello Jo"));
  return recorder.take().value();
}

}  // namespace

TEST_SUITE("execute/replayer") {
  TEST_CASE("the same calls get the recorded answers, and nothing is different") {
    Played here(sequence(some_lock(), {{"files.read", kA, "one"}, {"files.write", kB, "two"}}));
    CHECK(text_of(here.call("files.read", kA)) == "one");
    CHECK(here.differences().size() == 1);  // one more is to come
    CHECK(text_of(here.call("files.write", kB)) == "two");
    CHECK(here.differences().empty());
  }

  TEST_CASE("equal calls get their answers in the order recorded") {
    Played here(sequence(
        some_lock(),
        {{"files.read", kA, "one"}, {"files.write", kA, "ok"}, {"files.read", kA, "two"}}));
    CHECK(text_of(here.call("files.read", kA)) == "one");
    CHECK(text_of(here.call("files.write", kA)) == "ok");
    CHECK(text_of(here.call("files.read", kA)) == "two");
    CHECK(here.differences().empty());
  }

  TEST_CASE("an argument that changed is shown, beside the nearest call, by its pointer") {
    Played here(sequence(some_lock(), {{"files.read", {{"path", "x"}, {"head", 1}}, "one"},
                                       {"files.read", {{"path", "a"}, {"head", 2}}, "two"}}));
    const auto made = here.call("files.read", {{"path", "a"}, {"head", 3}});
    REQUIRE(made->answer.has_value());
    CHECK(made->answer->error().id == ErrorId::kServerError);
    const auto found = here.differences();
    REQUIRE(found.size() == 3);
    CHECK(found[0].id == ErrorId::kRecordingDiffers);
    CHECK(found[0].where == "/arguments/head");
    CHECK(says(found[0], "nearest is call 2 of 2, files.read: /head is 3, recorded 2"));
    CHECK(says(found[1], "a recorded call was not made: call 1 of 2"));
  }

  TEST_CASE("a call more, one less, and one of a tool that was never called are told apart") {
    Played here(sequence(some_lock(), {{"files.read", kA, "one"}, {"files.read", kB, "two"}}));
    CHECK(text_of(here.call("files.read", kA)) == "one");
    CHECK_FALSE(here.call("git.log", Json::object())->answer->has_value());
    auto found = here.differences();
    REQUIRE(found.size() == 2);
    CHECK(says(found[0], "it has no call of git.log"));
    CHECK(says(found[1], R"(was not made: call 2 of 2, files.read {"path":"b"})"));
    CHECK(text_of(here.call("files.read", kB)) == "two");
    CHECK_FALSE(here.call("files.read", kA)->answer->has_value());
    found = here.differences();
    REQUIRE(found.size() == 2);
    CHECK(says(found[1], "all 2 recorded calls of files.read were made before"));
  }

  TEST_CASE("calls that only read, and those of different servers, come in any order") {
    Played here(sequence(some_lock(), {{"files.read", kA, "1"},
                                       {"files.list", kA, "2"},
                                       {"git.log", kA, "3"},
                                       {"files.write", kA, "4"}}));
    CHECK(text_of(here.call("git.log", kA)) == "3");
    CHECK(text_of(here.call("files.list", kA)) == "2");
    CHECK(text_of(here.call("files.read", kA)) == "1");
    CHECK(text_of(here.call("files.write", kA)) == "4");
    CHECK(here.differences().empty());
  }

  TEST_CASE("a call that may change what another sees keeps its place") {
    for (const auto& [first, second] :
         {std::pair{"files.write", "files.read"}, std::pair{"files.read", "files.write"},
          std::pair{"files.write", "files.write"}}) {
      Played here(sequence(some_lock(), {{first, kA, "first"}, {second, kB, "second"}}));
      const auto early = here.call(second, kB);
      here.run();  // until nobody waits for it any more
      REQUIRE(early->answer.has_value());
      CHECK_FALSE(early->answer->has_value());
      const auto found = here.differences();
      REQUIRE(found.size() == 3);
      CHECK(says(found[0], "was called too early"));
      CHECK(says(found[0], std::string("after the answer of call 1 of 2, ") + first));
    }
  }

  TEST_CASE("a call that another thread has to precede waits for it") {
    Played here(sequence(some_lock(), {{"files.write", kA, "first"}, {"files.read", kB, "second"}}),
                {std::chrono::hours(1)});
    const auto early = here.call("files.read", kB);
    CHECK_FALSE(early->answer.has_value());
    CHECK(text_of(here.call("files.write", kA)) == "first");
    CHECK(text_of(early) == "second");
    CHECK(here.differences().empty());
  }

  TEST_CASE("calls that overlapped come in any order, also one after another") {
    const auto lock = some_lock();
    Servers servers;
    Recorder recorder(servers, servers, lock);
    const auto one = make_call(recorder, "files.write", kA);
    const auto two = make_call(recorder, "files.write", kB);
    servers.answer(0, said("a"));
    servers.answer(1, said("b"));
    Played here(recorder.take().value());
    CHECK(text_of(here.call("files.write", kB)) == "b");
    CHECK(text_of(here.call("files.write", kA)) == "a");
    CHECK(here.differences().empty());
  }

  TEST_CASE("what failed fails again; what was taken back waits to be taken back") {
    const auto lock = some_lock();
    Servers servers;
    Recorder recorder(servers, servers, lock);
    const auto one = make_call(recorder, "files.read", kA);
    servers.answer(0, fail(ErrorId::kServerTimeout, "too slow"));
    const auto two = make_call(recorder, "files.read", kB);
    recorder.cancel(two->token);
    Played here(recorder.take().value());
    const auto failed = here.call("files.read", kA);
    REQUIRE(failed->answer.has_value());
    CHECK(failed->answer->error().id == ErrorId::kServerTimeout);
    CHECK(failed->answer->error().what == "too slow");
    const auto open = here.call("files.read", kB);
    CHECK_FALSE(open->answer.has_value());
    here.replayer.cancel(open->token);
    CHECK_FALSE(open->answer.has_value());  // never from inside
    here.settle();
    CHECK(open->answer->error().id == ErrorId::kServerCancelled);
    CHECK(here.differences().empty());
  }

  TEST_CASE("progress and questions come again; the recorded reply goes on") {
    Played here(with_question());
    const auto client = std::make_shared<Client>();
    const auto made = here.call("files.write", kA, client);
    CHECK(client->heard == std::vector<Json>{{{"progress", 1}}});
    REQUIRE(client->asked == std::vector<Json>{{{"message", "who?"}}});
    CHECK_FALSE(made->answer.has_value());
    client->replies[0](Json{{"action", "accept"}, {"content", {{"name", "Jo"}}}});
    here.settle();
    CHECK(text_of(made) == "hello Jo");
    CHECK(here.differences().empty());
  }

  TEST_CASE("several questions at once come again as one, and so does the server's own error") {
    const auto lock = some_lock();
    Servers servers;
    Recorder recorder(servers, servers, lock);
    const auto before = std::make_shared<Client>();
    const auto made = make_call(recorder, "files.write", kA, before);
    Json questions = Json::object();
    questions["a"] = {{"method", "roots/list"}, {"params", Json::object()}};
    questions["b"] = {{"method", "elicitation/create"}, {"params", {{"message", "[files] who?"}}}};
    Json replies = Json::object();
    replies["a"] = Json::object();
    replies["b"] = {{"action", "decline"}};
    servers.calls[0].caller->ask_all("files", questions, [](Result<Json>) {});
    before->replies[0](replies);
    servers.calls[0].caller->refused({-32602, "not like that", nullptr});
    servers.answer(0, fail(ErrorId::kServerError, "it refused"));
    auto recording = recorder.take().value();
    recording.header.lock = std::string(64, 'a');
    const auto read = parse_recording(history::to_text(recording).value(), "r");
    REQUIRE_MESSAGE(read.has_value(), read.error().to_text());
    Played here(*read);
    const auto client = std::make_shared<Client>();
    const auto again = here.call("files.write", kA, client);
    REQUIRE(client->asked.size() == 1);
    CHECK(client->asked[0] == Json::array({"files", questions}));
    client->replies[0](replies);
    here.settle();
    REQUIRE(again->answer.has_value());
    CHECK(again->answer->error().what == "it refused");
    CHECK(client->refusal == "not like that");
    CHECK(here.differences().empty());
  }

  TEST_CASE("another reply, or nobody who gives one, is a difference") {
    for (const bool answers : {true, false}) {
      Played here(with_question());
      const auto client = std::make_shared<Client>();
      client->answers_any = answers;
      const auto made = here.call("files.write", kA, client);
      if (answers) client->replies[0](Json{{"action", "accept"}, {"content", {{"name", "Al"}}}});
      here.settle();
      REQUIRE(made->answer.has_value());
      CHECK_FALSE(made->answer->has_value());
      const auto found = here.differences();
      REQUIRE(found.size() == 1);
      CHECK(says(found[0], "asked elicitation/create"));
      if (answers) CHECK(says(found[0], R"(/content/name is "Al", recorded "Jo")"));
    }
    Played here(with_question());
    const auto unheard = here.call("files.write", kA);
    CHECK_FALSE(unheard->answer->has_value());
  }

  TEST_CASE("arguments with secrets are found without knowing them") {
    const auto lock = some_lock();
    Servers servers;
    servers.secrets.keep("s3cr3t-value", "${env:TOKEN}");
    Recorder recorder(servers, servers, lock);
    const auto one = make_call(recorder, "files.read", {{"path", "x?key=s3cr3t-value"}});
    servers.answer(0, said("one"));
    const auto two = make_call(recorder, "vault.login", {{"password", "hunter2"}, {"user", "jo"}});
    servers.answer(1, said("two"));
    const auto recording = recorder.take().value();
    Played here(recording);
    CHECK(text_of(here.call("files.read", {{"path", "x?key=s3cr3t-value"}})) == "one");
    CHECK(text_of(here.call("vault.login", {{"password", "hunter2"}, {"user", "jo"}})) == "two");
    CHECK(here.differences().empty());
    Played other(recording);
    CHECK_FALSE(other.call("files.read", {{"path", "y?key=s3cr3t-value"}})->answer->has_value());
    CHECK_FALSE(
        other.call("vault.login", {{"password", "hunter2"}, {"user", "al"}})->answer->has_value());
    for (const Error& error : other.differences()) CHECK_FALSE(says(error, "hunter2"));
  }

  TEST_CASE("what servers can do and list is played as well, the last time again and again") {
    const auto lock = some_lock();
    Servers servers;
    servers.secrets.keep("s3cr3t-value", "${env:TOKEN}");
    servers.can["git"] = {{"prompts", Json::object()}};
    Recorder recorder(servers, servers, lock);
    const auto ask = [](gate::Servers& at, const std::string& method, const Json& params,
                        const std::function<void()>& turn) {
      auto given = std::make_shared<std::optional<Result<gate::Servers::Outcome>>>();
      std::ignore = at.request("git", method, params, nullptr,
                               [given](Result<gate::Servers::Outcome> one) { *given = one; });
      turn();
      REQUIRE(given->has_value());
      return **given;
    };
    const auto nothing = [] {};
    servers.next_outcome = gate::Servers::Outcome(Json{{"prompts", {"one", "s3cr3t-value"}}});
    std::ignore = ask(recorder, "prompts/list", Json::object(), nothing);
    servers.next_outcome = gate::Servers::Outcome(Json{{"prompts", {"two"}}});
    std::ignore = ask(recorder, "prompts/list", Json::object(), nothing);
    servers.next_outcome = gate::Servers::Outcome(
        std::unexpected(ipc::ErrorObject{-32601, "no such method", nullptr}));
    std::ignore = ask(recorder, "completion/complete", {{"a", 1}}, nothing);
    servers.next_outcome = fail(ErrorId::kServerTimeout, "too slow");
    std::ignore = ask(recorder, "resources/list", Json::object(), nothing);
    auto recording = recorder.take().value();
    recording.header.lock = std::string(64, 'a');
    const std::string text = history::to_text(recording).value();
    CHECK(text.find("s3cr3t-value") == std::string::npos);
    Played here(parse_recording(text, "r").value());
    const auto settle = [&here] { here.settle(); };
    CHECK(here.replayer.capabilities("git")->contains("prompts"));
    CHECK(here.replayer.is_stateless("git"));
    CHECK(here.replayer.capabilities("files") == nullptr);
    CHECK(here.replayer.is_settled("files"));
    CHECK(ask(here.replayer, "prompts/list", Json::object(), settle)->value()["prompts"][0] ==
          "one");
    for (int i = 0; i < 3; ++i)
      CHECK(ask(here.replayer, "prompts/list", Json::object(), settle)->value()["prompts"][0] ==
            "two");
    CHECK(ask(here.replayer, "completion/complete", {{"a", 1}}, settle)->error().code == -32601);
    CHECK(ask(here.replayer, "resources/list", Json::object(), settle).error().id ==
          ErrorId::kServerTimeout);
    CHECK(here.differences().empty());
    CHECK_FALSE(ask(here.replayer, "completion/complete", {{"a", 2}}, settle).has_value());
    CHECK(here.differences().size() == 1);
    std::ignore = here.replayer.request("git", "prompts/list", Json::object(), nullptr,
                                        [](const auto&) { FAIL("it was taken back"); });
    here.replayer.forget(here.replayer.request("git", "prompts/list", Json::object(), nullptr,
                                               [](const auto&) { FAIL("it was taken back"); }));
  }

  TEST_CASE("a flood of calls that are not recorded is counted, not kept") {
    Played here(sequence(some_lock(), {}));
    for (int i = 0; i < 1'000; ++i) std::ignore = here.call("git.log", {{"n", i}});
    const auto outcome = here.replayer.findings();
    CHECK(outcome.differences.size() == 20);
    CHECK(outcome.others == 980);
  }

  TEST_CASE("many calls are played in their order without looking at all of them each time") {
    std::vector<Step> steps;
    for (int i = 0; i < 3'000; ++i)
      steps.push_back({i % 2 == 0 ? "files.write" : "files.read", {{"n", i}}, std::to_string(i)});
    Played here(sequence(some_lock(), steps));
    for (const Step& step : steps)
      CHECK(text_of(here.call(step.tool, step.arguments)) == step.answer);
    CHECK(here.differences().empty());
  }
}
