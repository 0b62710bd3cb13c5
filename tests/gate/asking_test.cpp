// Questions of a run, with an approver that the test holds in its hand, and the real gate.
#include "gate/asking.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "gate/support_gate.h"

using namespace mcpac;
using namespace mcpac::gate;
using namespace mcpac::gate::testing;

namespace {

class ScriptedApprover final : public Approver {
 public:
  void ask(const Question& question, Done done) override {
    REQUIRE_FALSE(waiting);  // one question at a time
    shown.push_back(question);
    if (at_once) return done({*at_once, {}, "a script", ""});
    waiting = std::move(done);
  }
  void cancel() override {
    REQUIRE(waiting);
    ++cancelled;
    late = std::exchange(waiting, nullptr);
  }
  void answer(Reply reply) {
    REQUIRE(waiting);
    const auto done = std::exchange(waiting, nullptr);
    done(std::move(reply));
  }
  void answer(Answered answered) { answer({answered, {}, "a script", ""}); }

  std::vector<Question> shown;
  Done waiting;
  Done late;  // of a question that was taken back
  int cancelled = 0;
  std::optional<Answered> at_once;
};

class ScriptedMemory final : public ApprovalMemory {
 public:
  std::optional<Reply> find(const policy::AskRule& rule) override {
    const auto found = kept.find(rule);
    return found == kept.end() ? std::nullopt : std::optional(found->second);
  }
  Result<void> keep(const std::vector<policy::AskRule>& rules, const Reply& reply) override {
    for (const auto& rule : rules) kept[rule] = reply;
    return {};
  }
  std::map<policy::AskRule, Reply> kept;
};

// A file system in which /data is a link that can be pointed elsewhere.
class MovingLink final : public policy::PathResolver {
 public:
  [[nodiscard]] Result<std::string> resolve(std::string_view path, Work*) const override {
    return path.starts_with("/data") ? target + std::string(path.substr(5)) : std::string(path);
  }
  [[nodiscard]] Result<std::string> resolve_beneath(std::string_view base,
                                                    const std::vector<std::string>& components,
                                                    Work*) const override {
    std::string path(base);
    for (const auto& component : components) path += "/" + component;
    return path;
  }
  std::string target = "/data";
};

struct AskingWorld {
  explicit AskingWorld(World::Options options = {}) : world(complete(std::move(options))) {}
  World::Options complete(World::Options options) {
    if (options.asks.empty()) options.asks = {"fs.write"};
    options.asking.approver = &approver;
    options.asking.memory = &memory;
    options.asking.binding = {"p", "h", "l", "r", "e"};
    return options;
  }
  // Makes the call and keeps its answer.
  std::size_t call(std::string_view name, Json arguments) {
    const std::size_t index = answers.size();
    answers.emplace_back();
    ids.push_back(
        world.gate->call({std::string(name), std::move(arguments)}, [this, index](Answer a) {
          REQUIRE_FALSE(answers[index]);
          answers[index] = std::move(a);
        }));
    return index;
  }
  std::size_t write(const std::string& path) {
    return call("fs.write", {{"path", path}, {"text", "x"}});
  }
  ErrorKind kind(std::size_t index) {
    REQUIRE(answers[index]);
    REQUIRE_FALSE(*answers[index]);
    return answers[index]->error().kind;
  }
  [[nodiscard]] std::vector<Json> approvals() const { return world.audit.of("Approval"); }

  ScriptedApprover approver;
  ScriptedMemory memory;
  std::deque<std::optional<Answer>> answers;
  std::vector<Gate::CallId> ids;
  World world;
};

}  // namespace

TEST_SUITE("gate/asking") {
  TEST_CASE("a call that is asked about waits, and a yes sends exactly what was shown") {
    AskingWorld w;
    w.write("/a");
    REQUIRE(w.approver.shown.size() == 1);
    const Question& question = w.approver.shown[0];
    CHECK(question.permission == "fs.write");
    CHECK(question.arguments == Json{{"path", "/a"}, {"text", "x"}});
    REQUIRE(question.rules.size() == 1);
    CHECK(question.rules[0].layer == "the command line");
    CHECK(question.rules[0].rule == "ask fs.write");
    CHECK(w.world.upstream.calls.empty());
    CHECK(w.world.gate->in_flight() == 1);
    w.approver.answer(Answered::kOnce);
    REQUIRE(w.world.upstream.calls.size() == 1);
    CHECK(w.world.upstream.calls[0].arguments == question.arguments);
    const auto checks = w.world.audit.of("CapabilityCheck");
    REQUIRE(checks.size() == 1);
    CHECK(checks[0].at("allowed") == true);
    CHECK(checks[0].at("approval") == "1");  // the record of the answer stands before it
    REQUIRE(w.approvals().size() == 1);
    CHECK(w.approvals()[0].at("question") == question.id);
    CHECK(w.approvals()[0].at("answer") == "once");
    CHECK(w.approvals()[0].at("scope") == "call");
    CHECK(w.approvals()[0].at("binding") == to_json(question.binding));
  }

  TEST_CASE("other calls go on while one waits") {
    AskingWorld w;
    w.write("/a");
    w.call("fs.read", {{"path", "/b"}});
    REQUIRE(w.world.upstream.calls.size() == 1);
    CHECK(w.world.upstream.calls[0].permission == "fs.read");
  }

  TEST_CASE("once is for one call: the same call again is asked about again") {
    AskingWorld w;
    w.write("/a");
    w.approver.answer(Answered::kOnce);
    w.write("/a");
    CHECK(w.approver.shown.size() == 2);
    CHECK(w.approver.shown[0].id == w.approver.shown[1].id);
    w.approver.answer(Answered::kNo);
    CHECK(w.kind(1) == ErrorKind::kDenied);
    CHECK(w.world.upstream.calls.size() == 1);
  }

  TEST_CASE("a no says permission and reason, and nothing of the rules") {
    AskingWorld w;
    w.write("/a");
    w.approver.answer(Answered::kNo);
    const CallError& error = w.answers[0]->error();
    CHECK(error.data.at("required") == "fs.write");
    CHECK(error.data.at("reason") == "it needs an approval, and the answer was no");
    CHECK(to_rpc_error(error).dump().find("ask fs.write") == std::string::npos);
  }

  TEST_CASE("run answers every call that the same rule asks about, also those that wait") {
    AskingWorld w({.declared = {"fs.write", "fs.remove"},
                   .grants = {"fs.write"},
                   .asks = {"fs.write(path starts \"/a\")", "fs.remove"}});
    w.write("/a1");
    w.write("/a2");
    w.call("fs.remove", {{"path", "/a"}});
    w.approver.answer(Answered::kRun);
    CHECK(w.world.upstream.calls.size() == 2);
    w.write("/a3");
    CHECK(w.world.upstream.calls.size() == 3);
    REQUIRE(w.approver.shown.size() == 2);  // the other rule is a question of its own
    CHECK(w.approver.shown[1].permission == "fs.remove");
    CHECK(w.memory.kept.empty());
    for (const Json& check : w.world.audit.of("CapabilityCheck")) CHECK(check.contains("approval"));
  }

  TEST_CASE("a call that two rules ask about needs a yes to both") {
    AskingWorld w({.asks = {"fs.write(path starts \"/a\")", "fs.write(path ends \"z\")"}});
    w.write("/a");
    w.approver.answer(Answered::kRun);
    w.write("/az");
    REQUIRE(w.approver.shown.size() == 2);
    CHECK(w.approver.shown[1].rules.size() == 2);
    w.approver.answer(Answered::kNever);
    CHECK(w.kind(1) == ErrorKind::kDenied);
    w.write("/bz");
    CHECK(w.kind(2) == ErrorKind::kDenied);
    CHECK(w.approver.shown.size() == 2);
  }

  TEST_CASE("never and until are kept, and hold in a run that finds them") {
    AskingWorld first;
    first.write("/a");
    first.approver.answer(
        {Answered::kUntil, first.world.clock.wall_now() + std::chrono::hours(1), "a script", ""});
    REQUIRE(first.memory.kept.size() == 1);
    AskingWorld second;
    second.memory.kept = first.memory.kept;
    second.write("/b");
    CHECK(second.approver.shown.empty());
    REQUIRE(second.world.upstream.calls.size() == 1);
    REQUIRE(second.approvals().size() == 1);  // the log of this run says why, too
    CHECK(second.approvals()[0].at("remembered") == true);
    second.write("/c");
    CHECK(second.approvals().size() == 1);
  }

  TEST_CASE("an until whose time is over is no answer, and one that ends during the run ends") {
    AskingWorld w;
    w.world.clock.stop();
    w.write("/a");
    w.approver.answer(
        {Answered::kUntil, w.world.clock.wall_now() - std::chrono::seconds(1), "a script", ""});
    CHECK(w.kind(0) == ErrorKind::kDenied);
    CHECK(w.memory.kept.empty());
    w.write("/b");
    w.approver.answer({Answered::kUntil, w.world.clock.wall_now() + std::chrono::milliseconds(20),
                       "a script", ""});
    CHECK(w.world.upstream.calls.size() == 1);
    w.memory.kept.clear();
    w.world.clock.pass(std::chrono::milliseconds(21));
    w.write("/c");
    CHECK(w.approver.shown.size() == 3);
  }

  TEST_CASE("without an approver asking is denied at once, and nothing waits") {
    World world({.asks = {"fs.write"}});
    const auto answer = world.call("fs.write", {{"path", "/a"}, {"text", "x"}});
    REQUIRE(answer);
    CHECK(answer->error().kind == ErrorKind::kDenied);
    CHECK(answer->error().data.at("reason") == "it needs an approval, and nobody is there to ask");
    CHECK(world.gate->in_flight() == 0);
  }

  TEST_CASE("a deny and a ceiling win over any answer, and are not even asked about") {
    SUBCASE("a deny") {
      AskingWorld w({.denies = {"fs.write(path == \"/a\")"}});
      w.write("/a");
      CHECK(w.kind(0) == ErrorKind::kDenied);
      CHECK(w.approver.shown.empty());
    }
    SUBCASE("a ceiling") {
      AskingWorld w({.ceiling = {"fs.read"}});
      w.write("/a");
      CHECK(w.kind(0) == ErrorKind::kDenied);
      CHECK(w.approver.shown.empty());
    }
    SUBCASE("what the program does not declare") {
      AskingWorld w({.declared = {"fs.read"}});
      w.write("/a");
      CHECK(w.kind(0) == ErrorKind::kDenied);
      CHECK(w.approver.shown.empty());
    }
  }

  TEST_CASE("questions come one at a time, in their order") {
    AskingWorld w;
    for (const char* path : {"/1", "/2", "/3"}) w.write(path);
    REQUIRE(w.approver.shown.size() == 1);
    CHECK(w.world.gate->status().questions_waiting == 3);
    for (int i = 0; i < 3; ++i) w.approver.answer(Answered::kOnce);
    REQUIRE(w.world.upstream.calls.size() == 3);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(w.world.upstream.calls[i].arguments.at("path") == "/" + std::to_string(i + 1));
  }

  TEST_CASE(
      "ten thousand questions bother a person with a few, and the rest is denied and recorded") {
    AskingWorld w;
    w.world.clock.stop();  // all of it in one minute, however long it takes
    for (int i = 0; i < 10'000; ++i) w.write("/" + std::to_string(i));
    CHECK(w.approver.shown.size() == 1);
    CHECK(w.world.gate->in_flight() == 32);
    CHECK(w.world.audit.of("CapabilityCheck").size() == 10'000 - 32);
    w.approver.at_once = Answered::kNo;
    w.approver.answer(Answered::kNo);
    CHECK(w.approver.shown.size() == 32);
    // Answered at once or not: no more than so many a minute.
    for (int i = 0; i < 10'000; ++i) w.write("/" + std::to_string(i));
    CHECK(w.approver.shown.size() == 60);
    CHECK(w.world.upstream.calls.empty());
    w.world.clock.pass(std::chrono::minutes(1));
    for (int i = 0; i < 100; ++i) w.write("/" + std::to_string(i));
    CHECK(w.approver.shown.size() == 120);
  }

  TEST_CASE("a question disappears with its call: cancelled, revoked, or the run over") {
    AskingWorld w;
    w.write("/a");
    w.write("/b");
    SUBCASE("cancelled: the next is shown") {
      w.world.gate->cancel(w.ids[0]);
      CHECK(w.approver.cancelled == 1);
      CHECK(w.kind(0) == ErrorKind::kTransport);
      REQUIRE(w.approver.shown.size() == 2);
      CHECK(w.approver.shown[1].arguments.at("path") == "/b");
    }
    SUBCASE("revoked: both, and a late answer is worth nothing") {
      const auto ended = w.world.gate->revoke(permission("fs.write"));
      CHECK(ended.questions == 2);
      CHECK(w.kind(0) == ErrorKind::kRevoked);
      CHECK(w.kind(1) == ErrorKind::kRevoked);
      CHECK(w.approver.cancelled == 1);
      CHECK(w.approver.shown.size() == 1);
      w.approver.late({Answered::kRun, {}, "a script", ""});
      CHECK(w.world.upstream.calls.empty());
      CHECK(w.approvals().empty());
      w.write("/c");
      CHECK(w.kind(2) == ErrorKind::kRevoked);
      REQUIRE(w.world.audit.of("Revoked").size() == 1);
      CHECK(w.world.audit.of("Revoked")[0].at("permission") == "fs.write");
    }
    SUBCASE("closed") {
      w.world.gate->close();
      CHECK(w.kind(1) == ErrorKind::kRevoked);
      CHECK(w.approver.cancelled == 1);
    }
    SUBCASE("the gate is gone: nobody is answered, nothing is touched") {
      w.world.gate.reset();
      CHECK(w.approver.cancelled == 1);
      w.approver.late({Answered::kRun, {}, "a script", ""});
    }
    CHECK(w.world.upstream.calls.empty());
  }

  TEST_CASE("after a yes the gate decides again: a tool that changed meanwhile is not called") {
    AskingWorld w;
    w.write("/a");
    w.world.upstream.quarantined.insert("fs.write");
    w.approver.answer(Answered::kOnce);
    CHECK(w.kind(0) == ErrorKind::kRevoked);
    CHECK(w.world.upstream.calls.empty());
  }

  TEST_CASE("a yes is not to a rule that asks about the call only by the time of the answer") {
    MovingLink files;
    AskingWorld w(
        {.asks = {"fs.write(text == \"x\")", "fs.write(path within /secret)"}, .resolver = &files});
    w.write("/data/a");
    REQUIRE(w.approver.shown.size() == 1);
    REQUIRE(w.approver.shown[0].rules.size() == 1);
    SUBCASE("nothing moved") {
      w.approver.answer(Answered::kOnce);
      CHECK(w.world.upstream.calls.size() == 1);
    }
    SUBCASE("the path leads elsewhere by now") {
      files.target = "/secret";
      w.approver.answer(Answered::kRun);
      CHECK(w.kind(0) == ErrorKind::kDenied);
      CHECK(w.world.upstream.calls.empty());
      const Json check = w.world.audit.of("CapabilityCheck").at(0);
      CHECK(check.at("allowed") == false);
      CHECK(check.at("rule") == "ask fs.write(path within /secret)");
      CHECK(check.at("reason") == "another rule asks about the call by now");
      // The next such call is asked about, with both rules.
      w.write("/data/a");
      REQUIRE(w.approver.shown.size() == 2);
      CHECK(w.approver.shown[1].rules.size() == 2);
    }
  }

  TEST_CASE("an answer that cannot be recorded is none") {
    AskingWorld w;
    w.write("/a");
    w.world.audit.full = true;
    w.approver.answer(Answered::kRun);
    CHECK(w.kind(0) == ErrorKind::kInternal);
    w.world.audit.full = false;
    w.write("/b");
    CHECK(w.approver.shown.size() == 2);  // it did not become a standing one either
    CHECK(w.world.upstream.calls.empty());
  }

  TEST_CASE("an approver that fails is a no, and only the user's side hears why") {
    AskingWorld w;
    w.write("/a");
    w.approver.answer({Answered::kNobody, {}, "approver x", "it ended with exit code 3"});
    CHECK(w.kind(0) == ErrorKind::kDenied);
    CHECK(to_rpc_error(w.answers[0]->error()).dump().find("exit code") == std::string::npos);
    CHECK(w.world.audit.of("CapabilityCheck")[0].at("reason").get<std::string>().find(
              "exit code 3") != std::string::npos);
  }

  TEST_CASE("what of it is about the caller's own side, the caller hears as well") {
    AskingWorld w;
    w.write("/a");
    w.approver.answer({Answered::kNobody, {}, "approver x", "code 3", "it shows no forms"});
    CHECK(w.answers[0]->error().data.at("reason") ==
          "it needs an approval, and no valid answer came: it shows no forms");
    CHECK(w.world.audit.of("CapabilityCheck")[0].at("reason") ==
          "it needs an approval, and no valid answer came: it shows no forms: code 3");
  }

  TEST_CASE("an answer for all calls is one about the tool that was shown") {
    AskingWorld w({.declared = {"fs.read", "fs.write"}, .grants = {}, .asks = {"fs.*"}});
    w.call("fs.read", {{"path", "/a"}});
    w.approver.answer(Answered::kRun);
    w.call("fs.read", {{"path", "/b"}});
    CHECK(w.world.upstream.calls.size() == 2);
    REQUIRE(w.approvals().size() == 1);
    CHECK(w.approvals()[0].at("scope") == "tool");
    CHECK(w.approvals()[0].at("permission") == "fs.read");
    w.write("/b");
    REQUIRE(w.approver.shown.size() == 2);  // the same rule, another tool
    CHECK(w.approver.shown[1].permission == "fs.write");
    CHECK(w.world.upstream.calls.size() == 2);
    w.approver.answer(Answered::kNever);
    w.call("fs.read", {{"path", "/c"}});
    CHECK(w.world.upstream.calls.size() == 3);
    REQUIRE(w.memory.kept.size() == 1);
    CHECK(w.memory.kept.begin()->first.tool == "fs.write");
  }

  TEST_CASE("observing makes the call and asks nobody") {
    AskingWorld w({.mode = Mode::kObserve});
    w.write("/a");
    CHECK(w.approver.shown.empty());
    CHECK(w.world.upstream.calls.size() == 1);
    CHECK(w.world.audit.of("CapabilityCheck")[0].at("would_deny") == true);
  }

  TEST_CASE("every part of a question has its say in its id") {
    const Question base =
        make_question("a.b", {{"x", 1}}, {{"l", "ask a.b"}}, {"p", "h", "l", "r", "e"});
    CHECK(make_question("a.b", {{"x", 1}}, {{"l", "ask a.b"}}, {"p", "h", "l", "r", "e"}).id ==
          base.id);
    CHECK(make_question("a.c", {{"x", 1}}, {{"l", "ask a.b"}}, {"p", "h", "l", "r", "e"}).id !=
          base.id);
    CHECK(make_question("a.b", {{"x", 2}}, {{"l", "ask a.b"}}, {"p", "h", "l", "r", "e"}).id !=
          base.id);
    CHECK(make_question("a.b", {{"x", 1}}, {{"m", "ask a.b"}}, {"p", "h", "l", "r", "e"}).id !=
          base.id);
    for (const Binding& other :
         {Binding{"q", "h", "l", "r", "e"}, Binding{"p", "i", "l", "r", "e"},
          Binding{"p", "h", "m", "r", "e"}, Binding{"p", "h", "l", "s", "e"},
          Binding{"p", "h", "l", "r", "f"}, Binding{"p", "h", "l", "r", "e", "a"}})
      CHECK(make_question("a.b", {{"x", 1}}, {{"l", "ask a.b"}}, other).id != base.id);
  }

  TEST_CASE("what a run was given is part of its binding, and in the log under a key") {
    const Binding none{"p", "h", "l", "r", "e"};
    const Binding given{"p", "h", "l", "r", "e", "a"};
    CHECK_FALSE(to_json(none).contains("arguments"));
    CHECK(to_json(given).at("arguments") == "a");
    CHECK(none.digest() != given.digest());
    const MemorySink sink;
    CHECK(recorded(none, sink) == to_json(none));
    CHECK(recorded(given, sink).at("arguments") == sink.keyed_digest("a"));
    CHECK(recorded(given, sink).at("arguments") != "a");
  }
}
