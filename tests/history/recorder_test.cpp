// What a recorder keeps of calls, and what it does not: secrets.
#include "history/recording/recorder.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include "history/recording/secret_marks.h"
#include "history/support_recording.h"

using namespace mcpac;
using namespace mcpac::history;
using namespace mcpac::history::testing;

namespace {

struct RecordingRun {
  codegen::Lock lock = some_lock();
  Servers servers;
  Recorder recorder{servers, servers, lock};

  std::shared_ptr<Made> call(const std::string& name, Json arguments, Result<Json> answer) {
    auto made = make_call(recorder, name, std::move(arguments));
    servers.answer(servers.calls.size() - 1, std::move(answer));
    return made;
  }
  void has_secret(const std::string& value) {
    ::setenv("RECORDER_TEST", value.c_str(), 1);
    REQUIRE(servers.secrets.expand("${env:RECORDER_TEST}", "here").has_value());
  }
  std::string text() {
    auto taken = recorder.take();
    REQUIRE(taken.has_value());
    taken->header.lock = std::string(64, 'a');  // whoever writes the file knows it
    return history::to_text(*taken).value();
  }
};

// A client that hears, and answers what it is told to.
class RecorderClient final : public gate::Caller {
 public:
  [[nodiscard]] std::string client() const override { return "one"; }
  void progress(Json report) override { heard.push_back(std::move(report)); }
  [[nodiscard]] bool answers(const std::string& method) const override {
    return method == "elicitation/create";
  }
  void ask(const std::string& /*method*/, Json params, Replied done) override {
    asked.push_back(std::move(params));
    done(Json{{"action", "accept"}});
  }
  [[nodiscard]] std::string log_level() const override { return "debug"; }
  void logged(const std::string& /*server*/, const Json& /*message*/) override { ++logs; }
  [[nodiscard]] Json request_meta() const override { return {{"traceparent", "of a trace"}}; }
  void refused(const ipc::ErrorObject& /*error*/) override { ++refusals; }
  int logs = 0;
  int refusals = 0;
  std::vector<Json> heard;
  std::vector<Json> asked;
};

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("execute/recorder") {
  TEST_CASE("calls pass unchanged, and are kept with the order of their beginnings and ends") {
    RecordingRun here;
    const auto one = make_call(here.recorder, "files.read", {{"path", "a"}});
    const auto two = make_call(here.recorder, "files.read", {{"path", "b"}});
    here.servers.answer(1, said("b"));
    here.servers.answer(0, said("a"));
    const auto three = here.call("git.log", Json::object(), fail(ErrorId::kServerDied, "gone"));
    CHECK(here.servers.calls[0].arguments == Json{{"path", "a"}});
    CHECK(text_of(one) == "a");
    CHECK(three->answer->error().id == ErrorId::kServerDied);
    const auto recording = here.recorder.take();
    REQUIRE(recording.has_value());
    const auto& calls = recording->calls;
    REQUIRE(calls.size() == 3);
    CHECK(calls[0].began == 1);
    CHECK(calls[1].began == 2);
    CHECK(calls[1].ended == 3);
    CHECK(calls[0].ended == 4);
    CHECK(calls[2].answer->error().what == "gone");
    CHECK(recording->header.tools.size() == 2);
  }

  TEST_CASE("what is taken back or never answered has no answer, though one may come") {
    RecordingRun here;
    const auto one = make_call(here.recorder, "files.read", {{"path", "a"}});
    const auto two = make_call(here.recorder, "files.read", {{"path", "b"}});
    here.recorder.cancel(one->token);
    CHECK(here.servers.cancelled == std::vector<gate::Upstream::CallToken>{one->token});
    here.servers.answer(0, said("too late"));
    const std::string text = here.text();
    CHECK_FALSE(holds(text, "too late"));
    CHECK(parse_recording(text, "r")->calls.size() == 2);
    here.servers.answer(1, said("after the end"));  // nobody keeps it, and nothing breaks
    CHECK(text_of(two) == "after the end");
  }

  TEST_CASE("what a server says of a call reaches the client, and the recording") {
    RecordingRun here;
    const auto client = std::make_shared<RecorderClient>();
    const auto made = make_call(here.recorder, "files.read", Json::object(), client);
    const auto through = here.servers.calls[0].caller;
    CHECK(through->client() == client->client());
    CHECK(through->answers("elicitation/create"));
    CHECK_FALSE(through->answers("sampling/createMessage"));
    through->progress({{"progress", 1}});
    bool replied = false;
    through->ask_for("files", "elicitation/create", {{"message", "who?"}},
                     [&replied](const Result<Json>& reply) { replied = reply.has_value(); });
    through->refused({-32602, "no", nullptr});
    CHECK(through->log_level() == "debug");
    through->logged("files", "a line");
    here.servers.answer(0, said("done"));
    through->progress({{"progress", "after the end"}});
    CHECK(replied);
    CHECK(client->heard.size() == 2);
    CHECK(client->asked.size() == 1);
    CHECK(client->refusals == 1);
    CHECK(client->logs == 1);
    CHECK(through->request_meta() == client->request_meta());
    const auto recording = here.recorder.take();
    REQUIRE(recording->calls[0].said.size() == 2);
    CHECK(recording->calls[0].refused->message == "no");
    CHECK(recording->calls[0].said[0].said == Json{{"progress", 1}});
    CHECK(recording->calls[0].said[1].reply->value().value == Json{{"action", "accept"}});
  }

  TEST_CASE("secrets of the configuration are nowhere, and the places are told") {
    RecordingRun here;
    here.has_secret("s3cr3t-value");
    const auto made = here.call("files.read", {{"path", "/x?key=s3cr3t-value"}, {"head", 3}},
                                said("s3cr3t-value"));
    CHECK(here.call("git.log", Json::object(), fail(ErrorId::kServerError, "no s3cr3t-value"))
              ->answer.has_value());
    CHECK(text_of(made) == "s3cr3t-value");  // whoever called is not the recording's business
    const std::string text = here.text();
    CHECK_FALSE(holds(text, "s3cr3t-value"));
    const auto call = parse_recording(text, "r")->calls[0];
    CHECK(call.arguments->value.at("path") == "/x?key=${env:RECORDER_TEST}");
    CHECK(call.arguments->hidden == std::vector<std::string>{"/path"});
  }

  TEST_CASE("what a schema calls secret is taken out, and wherever else it was said, also before") {
    RecordingRun here;
    here.call("files.read", {{"path", "notes"}}, said("the password is hunter2-hunter2"));
    here.call("vault.login", {{"password", "hunter2-hunter2"}, {"user", "jo"}}, said("welcome"));
    here.call("files.write", {{"text", "again: hunter2-hunter2"}}, said("hunter2-hunter2 written"));
    const Json shown{{"password", "from-the-vault"}};
    Json result = said(to_text(shown));
    result["structuredContent"] = shown;
    here.call("vault.show", Json::object(), result);
    const std::string text = here.text();
    CHECK_FALSE(holds(text, "hunter2"));
    CHECK_FALSE(holds(text, "from-the-vault"));
    CHECK(holds(text, R"("password":"[redacted]")"));
    CHECK(holds(text, R"("user":"jo")"));
    CHECK(holds(text, "the password is [redacted]"));
  }

  TEST_CASE("the first of many secrets is as secret as the last") {
    RecordingRun here;
    const auto password = [](int i) { return "hunter-number-" + std::to_string(1'000 + i); };
    here.call("files.read", {{"path", "notes"}}, said("the password is " + password(0)));
    for (int i = 0; i < 200; ++i)
      here.call("vault.login", {{"password", password(i)}, {"user", "jo"}}, said("welcome"));
    const std::string text = here.text();
    CHECK_FALSE(holds(text, "hunter-number"));
    CHECK(holds(text, "the password is [redacted]"));
  }

  TEST_CASE("secrets that are too many, or too long, to be looked for are not recorded at all") {
    const auto kept = [](int secrets, std::size_t length) {
      RecordingRun here;
      here.call("files.read", {{"path", "notes"}}, said("the password is s0"));
      for (int i = 0; i < secrets; ++i) {
        const std::string password = "s" + std::to_string(i) + std::string(length, 'x');
        here.call("vault.login", {{"password", password}, {"user", "jo"}}, said("welcome"));
      }
      return here.recorder.take();
    };
    CHECK(kept(1'000, 0).has_value());
    CHECK(kept(4, 300'000).has_value());
    for (const auto& refused : {kept(1'001, 0), kept(16, 300'000), kept(1, 5'000'000)}) {
      REQUIRE_FALSE(refused.has_value());
      CHECK(refused.error().id == ErrorId::kRecordingLimit);
      CHECK(holds(refused.error().why, "secret"));
      CHECK_FALSE(holds(refused.error().to_text(), "xxx"));
    }
  }

  TEST_CASE("arguments for a server that never started are not kept: what is secret is not known") {
    RecordingRun here;
    here.servers.unknown = "files";
    here.call("files.read", {{"path", "maybe-a-secret"}}, fail(ErrorId::kServerStart, "no node"));
    const std::string text = here.text();
    CHECK_FALSE(holds(text, "maybe-a-secret"));
    CHECK_FALSE(parse_recording(text, "r")->calls[0].arguments.has_value());
    RecordingRun other;
    other.has_secret("s3cr3t-value");
    other.servers.unknown = "files";
    other.call("files.read", Json::object(), said("s3cr3t-value of another server"));
    CHECK_FALSE(holds(other.text(), "s3cr3t-value"));
  }

  TEST_CASE("what the program was given is kept without secrets, or not at all") {
    RecordingRun here;
    here.has_secret("s3cr3t-value");
    here.call("vault.login", {{"password", "hunter2-hunter2"}, {"user", "jo"}}, said("welcome"));
    const Json given{{"token", "s3cr3t-value"}, {"word", "hunter2-hunter2"}, {"path", "a"}};
    const auto recording = here.recorder.take(given);
    REQUIRE(recording.has_value());
    REQUIRE(recording->header.arguments.has_value());
    const Cleaned& kept = *recording->header.arguments;
    CHECK(kept.value ==
          Json{{"token", "${env:RECORDER_TEST}"}, {"word", "[redacted]"}, {"path", "a"}});
    CHECK(kept.hidden == std::vector<std::string>{"/token", "/word"});
    // Clients have none.
    RecordingRun none;
    CHECK_FALSE(none.recorder.take()->header.arguments.has_value());
    // What a call could hold that nobody knew, it may have from them.
    RecordingRun unknown;
    unknown.servers.unknown = "files";
    unknown.call("files.read", {{"path", "maybe-a-secret"}}, said("x"));
    CHECK_FALSE(
        unknown.recorder.take(Json{{"path", "maybe-a-secret"}})->header.arguments.has_value());
  }

  TEST_CASE("marks stand for any text, and for nothing else") {
    CHECK(fits_marks("a ${env:X} b", "a 1 b"));
    CHECK(fits_marks("a ${env:X} b", "a ${env:X} b"));
    CHECK_FALSE(fits_marks("a ${env:X} b", "a  b"));
    CHECK_FALSE(fits_marks("a ${env:X} b", "a 1 c"));
    CHECK_FALSE(fits_marks("a ${env:X} b", "c 1 b"));
    CHECK(fits_marks("${file:/x}/${login:y}", "one/two"));
    CHECK_FALSE(fits_marks("${file:/x}/${login:y}", "one"));
    CHECK(fits_marks("[redacted]", "anything"));
    CHECK_FALSE(fits_marks("[redacted]", ""));
    CHECK_FALSE(fits_marks("plain", "plainer"));
    CHECK(fits_marks("${env:", "${env:"));
    CHECK_FALSE(fits_marks("${env:", "x"));
    CHECK(fits_marks("${env:a${file:b} [redacted]", "1 2"));
    CHECK(fits_marks("${env:[redacted]", "${env:1"));
    std::string marked;
    std::string text;
    for (int i = 0; i < 200'000; ++i) {
      marked += "-[redacted]";
      text += "-x";
    }
    CHECK(fits_marks(marked, text));
    CHECK_FALSE(fits_marks(marked + "-", text));
  }
}
