#include "gate/gate.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/hash.h"
#include "gate/support_gate.h"

using namespace mcpac;
using namespace mcpac::gate;
using namespace mcpac::gate::testing;

namespace {

const CallError& error_of(const std::optional<Answer>& answer) {
  REQUIRE(answer.has_value());
  REQUIRE_FALSE(answer->has_value());
  return answer->error();
}

// As they end the message of an error.
std::string words_of(std::string_view outcome) {
  if (outcome == "not_sent") return "; the call was not sent";
  if (outcome == "unknown")
    return "; the call was sent and may have been done: look before you repeat it";
  return outcome == "done" ? "; the call was done: look before you repeat it" : "";
}

}  // namespace

TEST_SUITE("gate") {
  TEST_CASE("allows when all granted") {
    World world({.declared = {"fs.read", "git.commit"}, .grants = {"fs.read", "git.commit"}});
    CHECK_FALSE(world.call("fs.read", {{"path", "/a"}}).has_value());
    CHECK_FALSE(world.call("git.commit").has_value());
    REQUIRE(world.upstream.calls.size() == 2);
    CHECK(world.upstream.calls[0].permission == "fs.read");
    CHECK(world.upstream.calls[1].permission == "git.commit");
  }

  TEST_CASE("what a server reports of a call reaches the caller of that call") {
    struct Listener final : Caller {
      void progress(Json report) override { heard.push_back(std::move(report)); }
      std::vector<Json> heard;
    };
    World world;
    const auto one = std::make_shared<Listener>();
    const auto other = std::make_shared<Listener>();
    for (const auto& caller : {one, other}) {
      world.gate->call({.permission = "git.commit", .caller = caller}, [](const Answer&) {});
    }
    REQUIRE(world.upstream.calls.size() == 2);
    world.upstream.calls[1].caller->progress({{"progress", 1}});
    CHECK(one->heard.empty());
    CHECK(other->heard == std::vector<Json>{{{"progress", 1}}});
  }

  TEST_CASE("who made a call is told how it was decided, once, after that is recorded") {
    struct Listener final : Caller {
      explicit Listener(const MemorySink& sink) : audit(sink) {}
      void decided(const Check& check) override {
        CHECK(audit.of("CapabilityCheck").size() == heard.size() + 1);
        heard.push_back(check);
      }
      const MemorySink& audit;
      std::vector<Check> heard;
    };
    World world({.declared = {"fs.read", "fs.write"}, .grants = {"fs.read(path starts \"/a\")"}});
    const auto caller = std::make_shared<Listener>(world.audit);
    const auto call = [&](const char* name, Json arguments) {
      return world.gate->call(
          {.permission = name, .arguments = std::move(arguments), .caller = caller},
          [](const Answer&) {});
    };
    const auto allowed = call("fs.read", {{"path", "/a"}});
    const auto denied = call("fs.read", {{"path", "/b"}});
    std::ignore = call("no.such", Json::object());
    REQUIRE(caller->heard.size() == 3);
    CHECK(caller->heard[0].allowed);
    CHECK(caller->heard[0].call_id == allowed);
    CHECK_FALSE(caller->heard[0].place.empty());
    CHECK_FALSE(caller->heard[1].allowed);
    CHECK(caller->heard[1].call_id == denied);
    CHECK(caller->heard[2].decided_by == DecidedBy::kUnknownTool);
    world.audit.full = true;
    std::ignore = call("fs.read", {{"path", "/a"}});
    CHECK(caller->heard.size() == 3);
  }

  TEST_CASE("a question knows who made the call") {
    struct Listener final : Approver {
      void ask(const Question& question, Done done) override {
        caller = question.caller;
        done({.answer = Answered::kOnce, .who = "a test"});
      }
      void cancel() override {}
      std::shared_ptr<Caller> caller;
    } approver;
    World world({.grants = {}, .asks = {"git.commit"}, .asking = {.approver = &approver}});
    const auto caller = std::make_shared<Caller>();
    world.gate->call({.permission = "git.commit", .caller = caller}, [](const Answer&) {});
    CHECK(approver.caller == caller);
    REQUIRE(world.upstream.calls.size() == 1);
    CHECK(world.upstream.calls[0].caller == caller);
  }

  TEST_CASE("blocks when missing") {
    World world({.declared = {"fs.read", "fs.write"}, .grants = {"fs.read"}});
    const auto answer = world.call("fs.write", {{"path", "/a"}, {"text", "x"}});
    CHECK(error_of(answer).kind == ErrorKind::kDenied);
    CHECK(world.upstream.calls.empty());
  }

  TEST_CASE("rejects ungranted calls") {
    World world({.declared = {"fs.read"}, .grants = {}});
    const auto answer = world.call("fs.read", {{"path", "/a"}});
    const CallError& error = error_of(answer);
    CHECK(error.kind == ErrorKind::kDenied);
    CHECK(error.data.at("required") == "fs.read");
    CHECK(error.data.at("declared") == Json({"fs.read"}));
    CHECK_FALSE(error.data.at("reason").get<std::string>().empty());
    CHECK(world.upstream.calls.empty());
  }

  TEST_CASE("grants nested access") {
    World world({.declared = {"git.issues.create", "git.issues.remove"},
                 .grants = {R"(git."issues.create")"}});
    CHECK_FALSE(world.call("git.issues.create").has_value());
    REQUIRE(world.upstream.calls.size() == 1);
    CHECK(world.upstream.calls[0].permission == "git.issues.create");
    CHECK(error_of(world.call("git.issues.remove")).kind == ErrorKind::kDenied);
    CHECK(world.upstream.calls.size() == 1);
  }

  TEST_CASE("what is granted but not declared is denied") {
    World world({.declared = {"fs.read"}, .grants = {"fs.read", "git.commit"}});
    CHECK(error_of(world.call("git.commit")).kind == ErrorKind::kDenied);
    CHECK(world.upstream.calls.empty());
  }

  TEST_CASE("a tool that the lock does not hold is unknown, whatever is declared") {
    World world;
    for (const std::string name : {"fs.format_disk", "fs", "", ".", "fs.", ".read", "other.read",
                                   "FS.read", "fs.read ", "../fs.read"}) {
      CAPTURE(name);
      const auto answer = world.call(name);
      CHECK(error_of(answer).kind == ErrorKind::kUnknownTool);
      CHECK(error_of(answer).data.at("required") == name);
    }
    CHECK(world.upstream.calls.empty());
  }

  TEST_CASE(
      "a tool that its server changed is refused and recorded as refused, the others are not") {
    for (const Mode mode : {Mode::kEnforce, Mode::kObserve}) {
      World world({.mode = mode});
      world.upstream.quarantined.insert("fs.read");
      const auto answer = world.call("fs.read", {{"path", "/a"}});
      CHECK(error_of(answer).kind == ErrorKind::kRevoked);
      CHECK(error_of(answer).data.at("id") == "MCPAC-E0402");
      CHECK(error_of(answer).data.at("required") == "fs.read");
      CHECK(world.upstream.calls.empty());
      REQUIRE(world.audit.of("CapabilityCheck").size() == 1);
      CHECK(world.audit.of("CapabilityCheck")[0].at("allowed") == false);
      CHECK_FALSE(world.call("git.commit", {{"message", "m"}}));
      CHECK(world.upstream.calls.size() == 1);
    }
  }

  TEST_CASE("a call that finds the drift on its way is answered as taken back") {
    World world;
    std::optional<Answer> answer;
    world.gate->call({"fs.read", {{"path", "/a"}}}, [&](Answer got) { answer = std::move(got); });
    world.upstream.answer(0, fail(ErrorId::kLockDrift, "another tool"));
    CHECK(error_of(answer).kind == ErrorKind::kRevoked);
    CHECK(error_of(answer).data.at("id") == "MCPAC-E0402");
  }

  TEST_CASE("a tool without a compiled schema cannot be called") {
    World world;
    world.tools[permission("git.commit")].input = nullptr;
    CHECK(error_of(world.call("git.commit")).kind == ErrorKind::kUnknownTool);
    CHECK(world.upstream.calls.empty());
  }

  TEST_CASE("arguments that break the locked schema are refused with pointer and rule") {
    World world;
    SUBCASE("a wrong type") {
      const auto answer = world.call("fs.read", {{"path", 7}});
      CHECK(error_of(answer).kind == ErrorKind::kInvalidArguments);
      CHECK(error_of(answer).data.at("pointer") == "/path");
      CHECK(error_of(answer).data.at("rule") == "type");
    }
    SUBCASE("a bound") {
      const auto answer = world.call("fs.read", {{"path", "/a"}, {"head", 0}});
      CHECK(error_of(answer).data.at("pointer") == "/head");
      CHECK(error_of(answer).data.at("rule") == "minimum");
    }
    SUBCASE("a missing argument") {
      const auto answer = world.call("fs.read");
      CHECK(error_of(answer).kind == ErrorKind::kInvalidArguments);
      CHECK(error_of(answer).data.at("rule") == "required");
    }
    SUBCASE("arguments that are no object") {
      for (const Json& arguments : {Json(nullptr), Json(1), Json("path"), Json::array()}) {
        CHECK(error_of(world.call("fs.read", arguments)).data.at("rule") == "type");
      }
    }
    CHECK(world.upstream.calls.empty());
    CHECK(world.audit.of("CapabilityCheck").front().at("allowed") == false);
  }

  TEST_CASE("what is decided is what is sent: defaults are filled in before") {
    World world;
    CHECK_FALSE(world.call("fs.read", {{"path", "/a"}}).has_value());
    const Json expected = {{"path", "/a"}, {"encoding", "utf-8"}};
    REQUIRE(world.upstream.calls.size() == 1);
    CHECK(world.upstream.calls[0].arguments == expected);
    const Json check = world.audit.of("CapabilityCheck").at(0);
    CHECK(check.at("arguments_digest") == world.audit.keyed_digest(to_text(expected)));
  }

  TEST_CASE("a deny rule outweighs the grant for the call that it matches") {
    World world({.declared = {"fs.read"},
                 .grants = {"fs.read"},
                 .denies = {"fs.read(path == \"/secret\")"}});
    CHECK(error_of(world.call("fs.read", {{"path", "/secret"}})).kind == ErrorKind::kDenied);
    CHECK_FALSE(world.call("fs.read", {{"path", "/public"}}).has_value());
    CHECK(world.upstream.calls.size() == 1);
  }

  TEST_CASE(
      "a denial does not show the user's rules, only the reason and the program's own "
      "declaration") {
    World world({.declared = {"fs.read"}, .grants = {"git.commit", "fs.write"}});
    const auto answer = world.call("fs.read", {{"path", "/a"}});
    const std::string text = to_text(to_rpc_error(error_of(answer)));
    CHECK(text.find("git.commit") == std::string::npos);
    CHECK(text.find("fs.write") == std::string::npos);
  }

  TEST_CASE("a result goes back unchanged, also one that says isError") {
    World world;
    std::vector<Answer> answers;
    const auto keep = [&](Answer answer) { answers.push_back(std::move(answer)); };
    world.gate->call({"git.commit", Json::object()}, keep);
    world.gate->call({"git.commit", Json::object()}, keep);
    Json failed = text_result("no such branch");
    failed["isError"] = true;
    failed["_meta"] = {{"anything", {1, 2.5, nullptr}}};
    world.upstream.answer(1, failed);
    world.upstream.answer(0, text_result("done"));
    REQUIRE(answers.size() == 2);
    CHECK(*answers[0] == failed);
    CHECK(*answers[1] == text_result("done"));
    CHECK(world.gate->in_flight() == 0);
    const auto finished = world.audit.of("CallFinished");
    CHECK(finished.at(0).at("outcome") == "tool_error");
    CHECK(finished.at(1).at("outcome") == "result");
    CHECK(finished.at(1).at("call_id") == world.audit.of("CapabilityCheck").at(0).at("call_id"));
  }

  TEST_CASE("errors of the server become the agent's error kinds") {
    struct Row {
      ErrorId id;
      ErrorKind kind;
      int code;
      std::string outcome;
    };
    using Id = ErrorId;
    using Kind = ErrorKind;
    for (const Row& row : {Row{Id::kServerTimeout, Kind::kTimeout, -32003, "unknown"},
                           Row{Id::kServerBusy, Kind::kTimeout, -32003, "not_sent"},
                           Row{Id::kServerDied, Kind::kTransport, -32002, "unknown"},
                           Row{Id::kServerHttp, Kind::kTransport, -32002, "unknown"},
                           Row{Id::kServerError, Kind::kTransport, -32002, ""},
                           Row{Id::kServerStart, Kind::kTransport, -32002, "not_sent"},
                           Row{Id::kInternal, Kind::kInternal, -32603, "unknown"}}) {
      World world;
      std::optional<Answer> answer;
      world.gate->call({"git.commit", Json::object()},
                       [&](Answer given) { answer = std::move(given); });
      world.upstream.answer(0, fail(row.id, "the server said no"));
      CHECK(error_of(answer).kind == row.kind);
      CHECK(error_of(answer).message == "the server said no" + words_of(row.outcome));
      const Json told = to_rpc_error(error_of(answer));
      CHECK(told.at("code") == row.code);
      CHECK(told.at("data").at("id") == to_string(row.id));
      CHECK(told.at("data").value("outcome", "") == row.outcome);
      CHECK(told.at("data").contains("not_sent") == (row.outcome == "not_sent"));
    }
  }

  TEST_CASE("what became of a call without an answer is said, in words and to programs") {
    const auto check = [](const std::optional<Answer>& answer, const std::string& outcome) {
      CHECK(error_of(answer).message.ends_with(words_of(outcome)));
      CHECK(to_rpc_error(error_of(answer)).at("data").value("outcome", "") == outcome);
    };
    std::optional<Answer> answer;
    const auto keep = [&](Answer given) { answer = std::move(given); };
    const Json none = Json::object();
    // What is known of it goes before what its number would say.
    for (const auto& [sent, outcome] :
         {std::pair(Sent::kNo, "not_sent"), {Sent::kMaybeDone, "unknown"}, {Sent::kRefused, ""}}) {
      World world;
      world.gate->call({"git.commit", none}, keep);
      world.upstream.answer(0, fail(ErrorId::kServerDied, "gone", {.sent = sent}));
      check(answer, outcome);
    }
    for (const bool is_starting : {false, true}) {
      const std::string outcome = is_starting ? "not_sent" : "unknown";
      World world;
      world.upstream.is_starting = is_starting;
      const auto id = world.gate->call({"git.commit", none}, keep);
      world.gate->cancel(id);
      check(answer, outcome);
      world.gate->call({"git.commit", none}, keep);
      world.gate->close();
      check(answer, outcome);
      World revoked;
      revoked.upstream.is_starting = is_starting;
      revoked.gate->call({"git.commit", none}, keep);
      revoked.gate->revoke_all();
      check(answer, outcome);
      // Of what is refused as it comes nothing is sent, and nothing is said of that.
      revoked.gate->call({"git.commit", none}, keep);
      CHECK(error_of(answer).message == "authority was revoked: git.commit");
    }
    World world({.declared = {"git.commit"}, .grants = {"git.commit bytes in <= 10"}});
    world.gate->call({"git.commit", none}, keep);
    world.upstream.answer(0, text_result("more than ten bytes"));
    check(answer, "done");
  }
}

TEST_SUITE("gate/audit") {
  TEST_CASE("every check is recorded before the call is forwarded") {
    World world;
    std::size_t recorded_before_forwarding = 0;
    world.upstream.on_forward = [&](FakeUpstream::Call&) {
      recorded_before_forwarding = world.audit.of("CapabilityCheck").size();
    };
    world.call("fs.read", {{"path", "/a"}});
    CHECK(recorded_before_forwarding == 1);
    world.call("fs.write", {{"path", "/a"}, {"text", "x"}});
    world.call("fs.nothing");
    const auto checks = world.audit.of("CapabilityCheck");
    REQUIRE(checks.size() == 3);
    CHECK(checks[0].at("capability") == "fs.read");
    CHECK(checks[0].at("target") == "/a");
    CHECK(checks[0].at("allowed") == true);
    CHECK(checks[0].at("mode") == "enforce");
    CHECK(checks[0].at("tool_digest") == sha256_hex("fs.read"));
    CHECK(checks[0].at("policy_decision_id").get<std::string>().size() == 36);
    CHECK_FALSE(checks[0].at("rule").get<std::string>().empty());
    CHECK(checks[1].at("allowed") == false);
    CHECK_FALSE(checks[1].at("reason").get<std::string>().empty());
    CHECK(checks[1].at("policy_decision_id") != checks[0].at("policy_decision_id"));
    CHECK(checks[2].at("allowed") == false);
    CHECK(checks[2].at("tool_digest").is_null());
  }

  TEST_CASE("what cannot be recorded does not happen") {
    World world({.declared = {"git.commit"}, .grants = {"git.commit calls <= 1"}});
    world.audit.full = true;
    const auto answer = world.call("git.commit");
    CHECK(error_of(answer).kind == ErrorKind::kInternal);
    CHECK(error_of(answer).message == "audit log cannot be written");
    CHECK(world.upstream.calls.empty());
    // Nothing was sent, so the meter was given back.
    world.audit.full = false;
    CHECK_FALSE(world.call("git.commit").has_value());
    CHECK(world.upstream.calls.size() == 1);
  }

  TEST_CASE("a record is of bounded size, whatever the program sends") {
    World world;
    world.call(std::string(1'000'000, 'x'));
    world.call("fs.read", {{"path", "/" + std::string(1'000'000, 'y')}});
    world.call("fs.read", {{"path", "/a"}, {std::string(1'000'000, 'z'), 1}});
    for (const auto& record : world.audit.records) CHECK(to_text(record.payload).size() < 8192);
    CHECK(world.audit.records.size() == 3);
  }

  TEST_CASE("observe mode forwards what policy denies, says so, and still holds lock and schema") {
    World world({.declared = {"fs.read"}, .grants = {}, .mode = Mode::kObserve});
    CHECK_FALSE(world.call("fs.read", {{"path", "/a"}}).has_value());
    CHECK_FALSE(world.call("git.commit").has_value());
    CHECK(world.upstream.calls.size() == 2);
    for (const Json& check : world.audit.of("CapabilityCheck")) {
      CHECK(check.at("allowed") == true);
      CHECK(check.at("would_deny") == true);
      CHECK(check.at("mode") == "observe");
    }
    World granted({.declared = {"git.commit"}, .grants = {"git.commit"}, .mode = Mode::kObserve});
    granted.call("git.commit");
    CHECK_FALSE(granted.audit.of("CapabilityCheck").at(0).contains("would_deny"));
    CHECK(error_of(world.call("fs.read")).kind == ErrorKind::kInvalidArguments);
    CHECK(error_of(world.call("fs.nothing")).kind == ErrorKind::kUnknownTool);
    CHECK(world.upstream.calls.size() == 2);
  }

  TEST_CASE("a program that keeps asking for what it may not do loses what it has") {
    World world({.max_refusals = 20});
    for (int i = 0; i < 19; ++i) world.call("x");
    CHECK_FALSE(world.call("git.commit").has_value());
    world.call("x");
    CHECK(world.upstream.cancelled.size() == 1);
    CHECK(error_of(world.call("git.commit")).kind == ErrorKind::kRevoked);
    CHECK(world.upstream.calls.size() == 1);
    const std::size_t recorded = world.audit.records.size();
    world.call("x");
    CHECK(world.audit.records.size() == recorded);
  }
}

TEST_SUITE("gate/shrinking") {
  TEST_CASE("a revoked permission ends its pending calls and refuses later ones, for good") {
    World world;
    std::vector<std::string> log;
    const auto note = [&](std::string name) {
      return [&log, name](const Answer& answer) {
        log.push_back(name + ":" +
                      (answer ? "result" : std::string(to_string(answer.error().kind))));
      };
    };
    world.gate->call({"fs.read", {{"path", "/a"}}}, note("read"));
    world.gate->call({"git.commit", Json::object()}, note("commit"));
    world.gate->revoke(permission("fs.read"));
    CHECK(log == std::vector<std::string>{"read:revoked"});
    CHECK(world.upstream.cancelled ==
          std::vector<Upstream::CallToken>{world.upstream.calls[0].token});
    // The server's late answer finds nobody.
    world.upstream.answer(0, text_result("secret"));
    world.upstream.answer(1, text_result("done"));
    CHECK(log == std::vector<std::string>{"read:revoked", "commit:result"});
    CHECK(error_of(world.call("fs.read", {{"path", "/a"}})).kind == ErrorKind::kRevoked);
    CHECK(world.upstream.calls.size() == 2);
    CHECK(world.audit.of("CapabilityCheck").back().at("allowed") == false);
  }

  TEST_CASE("revoking everything ends every call once") {
    World world;
    int answers = 0;
    for (int i = 0; i < 10; ++i) {
      world.gate->call({"git.commit", Json::object()}, [&](const Answer& answer) {
        CHECK_FALSE(answer.has_value());
        ++answers;
      });
    }
    world.gate->revoke_all();
    CHECK(answers == 10);
    CHECK(world.upstream.cancelled.size() == 10);
    CHECK(world.gate->in_flight() == 0);
    CHECK(error_of(world.call("git.commit")).kind == ErrorKind::kRevoked);
  }

  TEST_CASE("observe mode lifts what was not granted, and neither a deny nor a ceiling") {
    World world(
        {.grants = {},
         .denies = {"fs.read(path within /secret)"},
         .ceiling = {"fs.read(path within /srv) calls <= 2", "fs.read(path within /secret)"},
         .mode = Mode::kObserve});
    CHECK_FALSE(world.call("fs.read", {{"path", "/srv/a"}}).has_value());
    CHECK(error_of(world.call("fs.read", {{"path", "/secret/a"}})).kind == ErrorKind::kDenied);
    CHECK(error_of(world.call("fs.read", {{"path", "/etc/a"}})).kind == ErrorKind::kDenied);
    CHECK(error_of(world.call("git.commit")).kind == ErrorKind::kDenied);
    CHECK_FALSE(world.call("fs.read", {{"path", "/srv/b"}}).has_value());
    // The ceiling counts what is lifted.
    CHECK(error_of(world.call("fs.read", {{"path", "/srv/c"}})).kind == ErrorKind::kDenied);
    CHECK(world.upstream.calls.size() == 2);
    const auto checks = world.audit.of("CapabilityCheck");
    CHECK(checks.at(0).at("would_deny") == true);
    CHECK_FALSE(checks.at(1).contains("would_deny"));
    CHECK(checks.at(1).at("mode") == "observe");
  }

  TEST_CASE("authority is taken back in observe mode, too") {
    World world({.mode = Mode::kObserve});
    world.gate->revoke(permission("git.commit"));
    CHECK(error_of(world.call("git.commit")).kind == ErrorKind::kRevoked);
  }

  TEST_CASE("a cancelled call is answered once, and the server is told") {
    World world;
    int answers = 0;
    const auto id = world.gate->call({"git.commit", Json::object()}, [&](const Answer& answer) {
      ++answers;
      CHECK(answer.error().kind == ErrorKind::kTransport);
    });
    world.gate->cancel(id);
    world.gate->cancel(id);
    world.gate->cancel(id + 1);
    world.upstream.answer(0, text_result("late"));
    CHECK(answers == 1);
    CHECK(world.upstream.cancelled.size() == 1);
  }

  TEST_CASE("a gate that goes away cancels its calls, and late answers find nobody") {
    World world;
    int answers = 0;
    world.gate->call({"git.commit", Json::object()}, [&](const Answer&) { ++answers; });
    world.gate.reset();
    CHECK(world.upstream.cancelled.size() == 1);
    world.upstream.answer(0, text_result("late"));
    CHECK(answers == 0);
  }

  TEST_CASE("what had no answer when a gate was closed is known afterwards") {
    World world;
    world.gate->call({"fs.read", {{"path", "/a"}}}, [](const Answer&) {});
    world.gate->call({"git.commit", Json::object()}, [](const Answer&) {});
    CHECK(world.gate->unanswered().empty());
    world.gate->close();
    world.gate->close();
    REQUIRE(world.gate->unanswered().size() == 2);
    CHECK(world.gate->unanswered()[0].permission == "fs.read");
    CHECK(world.gate->unanswered()[1].permission == "git.commit");
  }

  TEST_CASE("calls that ended before a gate was closed are counted, with those that may be done") {
    World world;
    const auto nobody = [](const Answer&) {};
    for (int i = 0; i < 3; ++i) world.gate->call({"git.commit", Json::object()}, nobody);
    world.gate->call({"fs.read", {{"path", "/a"}}}, nobody);
    Json failed = text_result("no such branch");
    failed["isError"] = true;
    world.upstream.answer(0, failed);
    world.upstream.answer(1, fail(ErrorId::kServerTimeout, "slow"));
    world.upstream.answer(2, text_result("done"));
    world.gate->call({"fs.write", {{"path", "/a"}, {"text", "x"}}}, nobody);  // refused
    world.gate->close();
    REQUIRE(world.gate->ended().size() == 1);
    const EndedCalls& commits = world.gate->ended().at("git.commit");
    CHECK(commits.calls == 3);
    CHECK(commits.failed == 2);
    CHECK(commits.unknown == 1);
    REQUIRE(world.gate->unanswered().size() == 1);
    CHECK(world.gate->unanswered()[0].sent == Sent::kMaybeDone);
  }

  TEST_CASE("an answer may make the next call") {
    World world;
    int done = 0;
    std::function<void(const Answer&)> again = [&](const Answer&) {
      if (++done < 3) world.gate->call({"git.commit", Json::object()}, again);
    };
    world.gate->call({"git.commit", Json::object()}, again);
    for (std::size_t i = 0; i < 3; ++i) world.upstream.answer(i, text_result("ok"));
    CHECK(done == 3);
  }

  TEST_CASE("a result beyond bytes in is not delivered, and the log says what became of the call") {
    World world({.declared = {"git.commit"}, .grants = {"git.commit bytes in <= 100"}});
    std::vector<Answer> answers;
    for (int i = 0; i < 2; ++i)
      world.gate->call({"git.commit", Json::object()},
                       [&](Answer answer) { answers.push_back(std::move(answer)); });
    world.upstream.answer(1, text_result("ok"));
    world.upstream.answer(0, text_result(std::string(100, 'x')));
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].has_value());
    REQUIRE_FALSE(answers[1].has_value());
    CHECK(answers[1].error().kind == ErrorKind::kBudget);
    CHECK(world.audit.of("CallFinished")[1]["outcome"] == "budget");
    const auto later = world.call("git.commit");
    REQUIRE(later.has_value());
    CHECK(later->error().kind == ErrorKind::kDenied);
  }

  TEST_CASE("a call that cannot be recorded gives all that it reserved back") {
    World world({.declared = {"git.commit"}, .grants = {"git.commit calls <= 1 bytes out <= 2"}});
    world.audit.full = true;
    CHECK(world.call("git.commit")->error().kind == ErrorKind::kInternal);
    world.audit.full = false;
    CHECK_FALSE(world.call("git.commit").has_value());  // forwarded
    CHECK(world.upstream.calls.size() == 1);
  }

  TEST_CASE("fifty calls at once against a budget of ten forward exactly ten") {
    World world({.declared = {"git.commit"}, .grants = {"git.commit calls <= 10"}});
    int denied = 0;
    for (int i = 0; i < 50; ++i) {
      world.gate->call({"git.commit", Json::object()}, [&](const Answer& answer) {
        if (!answer && answer.error().kind == ErrorKind::kDenied) ++denied;
      });
    }
    CHECK(world.upstream.calls.size() == 10);
    CHECK(denied == 40);
  }
}
