// Calls as they go to the servers of a run, from before these are there until after they have
// ended.
#include "servers/upstreams.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/file.h"
#include "mcp/child_process.h"
#include "mcp/resync_notice.h"
#include "mcp/support.h"
#include "places.h"

using namespace mcpac;
using namespace std::chrono_literals;
using servers::Upstreams;
namespace asio = boost::asio;

namespace {

// One call, and how it ended.
struct Call {
  Call(Upstreams& upstreams, const std::string& tool, Json arguments = Json::object())
      : token(upstreams.forward(Permission::parse("one." + tool).value(), std::move(arguments),
                                nullptr, [given = result](Result<Json> told) {
                                  REQUIRE_FALSE(given->has_value());
                                  *given = std::move(told);
                                })) {}
  [[nodiscard]] bool has_ended() const { return result->has_value(); }
  [[nodiscard]] std::string text() const {
    REQUIRE(has_ended());
    const auto& given = **result;
    return given ? string_member(given->at("content").at(0), "text") : given.error().to_text();
  }
  [[nodiscard]] ErrorId error() const {
    REQUIRE(has_ended());
    REQUIRE_FALSE((*result)->has_value());
    return (*result)->error().id;
  }

  std::shared_ptr<std::optional<Result<Json>>> result =
      std::make_shared<std::optional<Result<Json>>>();
  Upstreams::CallToken token;
};

mcp::ServerConfig fixture() {
  mcp::ServerConfig config;
  config.name = "one";
  config.command = "node";
  config.arguments = {testing::in_source("tests/servers/fixture.mjs"), "plain"};
  return config;
}

struct World {
  World() : World(fixture()) {
    upstreams->start_again_what_ends();
    upstreams->start(config);
  }
  // Not started yet.
  explicit World(mcp::ServerConfig server) : config(std::move(server)) {}
  ~World() {
    if (upstreams) close();
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  template <class Ready>
  void until(Ready ready) {
    loop.restart();
    while (!ready() && loop.run_one() > 0) {
    }
  }
  void until_started() {
    until([&] { return upstreams->is_settled("one"); });
  }
  void until(const Call& call) {
    until([&] { return call.has_ended(); });
  }
  [[nodiscard]] std::string ended(const std::string& tool, Json arguments = Json::object()) {
    const Call call(*upstreams, tool, std::move(arguments));
    until(call);
    return call.text();
  }
  void close() {
    bool is_closed = false;
    asio::co_spawn(loop, upstreams->close(), [&](const std::exception_ptr&) { is_closed = true; });
    until([&] { return is_closed; });
  }

  asio::io_context loop;
  codegen::Lock lock;  // of none: what is not locked has not drifted
  mcp::ServerConfig config;
  std::unique_ptr<Upstreams> upstreams = std::make_unique<Upstreams>(loop.get_executor(), lock);
};

const Json kHello{{"apple", "hello"}};

// A server over HTTP whose streams of announcements end with cut().
struct WebWorld {
  WebWorld() {
    world.upstreams->compare_after({.first = 1ms, .longest = 4ms});
    world.upstreams->on_failed(
        [this](const std::string&, const Error& error) { failures.push_back(error.id); });
    world.upstreams->on_drift(
        [this](std::string_view what, const std::string&) { heard.emplace_back(what); });
    world.upstreams->on_notified(
        [this](const std::string&, const std::string& method, const Json&) {
          // Its tools may have changed, and are not compared yet.
          if (method == mcp::kResync && !early) early.emplace(*world.upstreams, "echo", kHello);
        });
  }
  void start() {
    world.upstreams->start(world.config);
    world.until_started();
  }
  void lock(const std::vector<std::string>& tools) {
    codegen::LockedServer server{.name = "one",
                                 .identity = world.config.identity(),
                                 .implementation = "",
                                 .protocol_version = "",
                                 .cpp_name = "",
                                 .tools = {}};
    for (const std::string& name : tools) {
      OrderedJson definition = {{"name", name}, {"inputSchema", {{"type", "object"}}}};
      std::string digest = codegen::definition_digest(definition);
      server.tools.push_back({name, "", std::move(digest), std::move(definition)});
    }
    world.lock.servers.push_back(std::move(server));
  }
  // `lists`: how the next lists of its tools are answered.
  void cut(const std::vector<std::string>& lists, bool changes = false) {
    CHECK(world.ended("cut", {{"lists", lists}, {"changes", changes}}) == "cut");
  }
  void until_failed(std::size_t times) {
    asio::steady_timer patience(world.loop, 60s);
    bool is_over = false;
    patience.async_wait([&](const boost::system::error_code& error) { is_over = !error; });
    world.until([&] { return is_over || failures.size() >= times; });
    patience.cancel();
    world.loop.poll();
    REQUIRE(failures.size() >= times);
  }
  void pass(std::chrono::milliseconds time) {
    asio::steady_timer timer(world.loop, time);
    bool is_over = false;
    timer.async_wait([&](auto) { is_over = true; });
    world.until([&] { return is_over; });
  }
  // What it was asked after its start, shortly: "list", "call".
  [[nodiscard]] std::vector<std::string> asked() const {
    std::vector<std::string> methods;
    for (const Json& entry : web.log()) {
      const std::string method = string_member(entry, "method");
      if (method.starts_with("tools/")) methods.push_back(method.substr(6));
    }
    return methods;
  }

  // Written to until the world is gone.
  std::vector<ErrorId> failures{};
  std::vector<std::string> heard{};
  std::optional<Call> early{};
  mcpac::test::HttpFixture web{{"initialize"}};
  World world{[this] {
    auto config = web.config("/sse");
    config.name = "one";
    return config;
  }()};
};

// Hears of failed calls, and cannot do anything about them.
class FailingConfiner final : public mcp::Confiner {
 public:
  [[nodiscard]] Result<std::unique_ptr<mcp::ConfinedProcess>> start(
      const std::string&, const mcp::SpawnOptions&, const mcp::ConfinedEnds&) const override {
    return fail(ErrorId::kServerStart, "nothing is started here");
  }
  [[nodiscard]] std::shared_ptr<mcp::Refusals> look_at_refusals(const std::string&) const override {
    return nullptr;
  }
  void call_failed(const std::string&, std::string_view said) const override {
    heard.emplace_back(said);
    throw std::runtime_error("out of something");
  }
  mutable std::vector<std::string> heard{};
};

// So many times each.
std::vector<std::string> asked_for(
    std::initializer_list<std::pair<std::size_t, std::string>> times) {
  std::vector<std::string> all;
  for (const auto& [count, method] : times) all.insert(all.end(), count, method);
  return all;
}

using Texts = std::vector<std::string>;
const std::string kRenewed = "a server that had forgotten its session was initialized again";

Texts refused(std::size_t times, const Texts& then = {}) {
  Texts lists(times, "503");
  lists.insert(lists.end(), then.begin(), then.end());
  return lists;
}

}  // namespace

TEST_SUITE("execute/upstreams") {
  TEST_CASE("a changed entry starts no other program than the one that was approved") {
    struct Case {
      std::function<void(mcp::ServerConfig&)> change;
      std::string said;
    };
    const auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-");
    const auto mark = folder.value().path() / "started";
    const auto with_sandbox = [](std::vector<std::string> files) {
      return [files](mcp::ServerConfig& config) { config.sandbox = {.files = files}; };
    };
    for (const auto& [change, said] : std::vector<Case>{
             {[](auto& config) { config.working_directory = "/tmp"; }, "\"cwd\" was added"},
             {[](auto& config) { config.environment["NODE_OPTIONS"] = "-r ./evil.js"; },
              "\"env.NODE_OPTIONS\" was added"},
             {[](auto& config) { config.environment["PATH"] = "./bin"; },
              "\"env.PATH\" was changed"},
             {[](auto& config) { config.environment["MODE"] = "other"; },
              "\"env.MODE\" was changed"},
             {[](auto& config) { config.sandbox.reset(); }, "\"sandbox\" was taken away"},
             {with_sandbox({"./data", "./more"}), "\"sandbox.files\" gives it more"},
             {with_sandbox({"./data:rw"}), "\"sandbox.files\" gives it more"},
         }) {
      CAPTURE(said);
      mcp::ServerConfig config;
      config.name = "one";
      config.command = "touch";
      config.arguments = {mark.string()};
      config.environment = {{"PATH", "/bin:/usr/bin"}, {"MODE", "sk-secret"}};
      config.sandbox = {.files = {"./data"}};
      World world(config);
      world.lock.servers.push_back({.name = "one",
                                    .identity = config.identity(),
                                    .implementation = "",
                                    .protocol_version = "",
                                    .cpp_name = "",
                                    .tools = {},
                                    .claims = {},
                                    .entry = config.entry()});
      change(config);
      std::optional<Error> failure;
      world.upstreams->on_failed([&](const std::string&, const Error& error) { failure = error; });
      world.upstreams->start(config);
      world.until_started();
      REQUIRE(failure.has_value());
      CHECK(failure->id == ErrorId::kLockDrift);
      CHECK_MESSAGE(failure->what.ends_with(": " + said), failure->what);
      CHECK(failure->to_text().find("sk-secret") == std::string::npos);
      CHECK(failure->fix.find("mcpac lock accept one") != std::string::npos);
      CHECK_FALSE(std::filesystem::exists(mark));
    }
  }

  TEST_CASE("a call waits for a server that starts, and one that is there has it at once") {
    World world;
    world.until([&] { return world.upstreams->starts("one") == 1; });
    const Call early(*world.upstreams, "echo", kHello);
    world.until(early);
    CHECK(early.text() == R"({"apple":"hello"})");
    CHECK(world.ended("echo", kHello) == R"({"apple":"hello"})");
    CHECK(world.ended("rpc_error").contains("-32602"));
  }

  TEST_CASE("a call that waits for a starting server is not overtaken by a later one") {
    World world;
    world.until([&] { return world.upstreams->starts("one") == 1; });
    std::string order;
    const auto call = [&](const std::string& name) {
      world.upstreams->forward(Permission::parse("one.echo").value(), kHello, nullptr,
                               [&order, name](const Result<Json>&) { order += name; });
    };
    world.upstreams->on_settled([&] { call("late;"); });
    call("early;");
    call("second;");
    world.until([&] { return order.size() >= 18; });
    CHECK(order == "early;second;late;");
  }

  TEST_CASE("a call that is taken back ends once, and its server hears of it") {
    World world;
    world.until_started();
    const Call call(*world.upstreams, "hang");
    world.upstreams->cancel(call.token);
    world.upstreams->cancel(call.token);
    CHECK_FALSE(call.has_ended());
    world.until(call);
    CHECK(call.error() == ErrorId::kServerCancelled);
    world.upstreams->cancel(call.token);
    CHECK(world.ended("cancelled").contains(R"("reason":"cancelled")"));
  }

  TEST_CASE("a server that dies is started again by the next call, and that call waits") {
    World world;
    world.until_started();
    const Call other(*world.upstreams, "hang");
    const Call last(*world.upstreams, "die");
    world.until([&] { return other.has_ended() && last.has_ended(); });
    CHECK(other.error() == ErrorId::kServerDied);
    CHECK(last.error() == ErrorId::kServerDied);
    CHECK(world.ended("echo", kHello) == R"({"apple":"hello"})");
    CHECK(world.upstreams->restarts() == 1);
  }

  TEST_CASE("a process that rests is no failure, hides its secrets, and serves when it is woken") {
    ::setenv("MCPAC_TEST_RESTING", "never to be read", 1);
    mcp::ServerConfig config = fixture();
    config.environment["TOKEN"] = "${env:MCPAC_TEST_RESTING}";
    World world(config);
    Upstreams& upstreams = *world.upstreams;
    upstreams.start_again_what_ends();
    // Calls of nobody go to the one that has the server's own name.
    upstreams.start_own({"one", "a", config});
    upstreams.start_own({"one#2", "b", config});
    world.until([&] { return upstreams.is_settled("one") && upstreams.is_settled("one#2"); });
    CHECK(world.ended("echo", kHello).contains("hello"));
    // Woken on its way out: it is started once, and calls that came before and after wait for that.
    std::optional<Call> early;
    std::optional<Call> late;
    upstreams.rest("one");
    asio::post(world.loop, [&] {
      early.emplace(upstreams, "echo", kHello);
      asio::post(world.loop, [&] {
        upstreams.start_own({"one", "a", config});
        late.emplace(upstreams, "slow", Json{{"ms", 50}});
      });
    });
    world.until([&] { return early && late && early->has_ended() && late->has_ended(); });
    CHECK(early->text().contains("hello"));
    CHECK(late->text() == "slept");
    CHECK(upstreams.starts("one") == 2);
    // At rest, with another one of the same secrets, and without.
    const auto hidden = [&] {
      Json redacted;
      const auto secrecy = upstreams.redact(Permission::parse("one.echo").value(),
                                            {{"text", "never to be read"}}, redacted);
      CHECK(secrecy == gate::Upstream::Secrecy::kRedacted);
      return redacted.at("text") == "${env:MCPAC_TEST_RESTING}";
    };
    for (const char* name : {"one", "one#2"}) {
      CHECK(hidden());
      upstreams.rest(name);
      const Call refused(upstreams, "echo", kHello);
      world.until(refused);
      CHECK(refused.error() == ErrorId::kServerDied);
    }
    CHECK(hidden());
    CHECK(upstreams.all_well());
    REQUIRE(upstreams.capabilities("one") != nullptr);
    CHECK(upstreams.capabilities("one")->contains("tools"));
    upstreams.start_own({"one", "a", config});
    CHECK(world.ended("env", {{"name", "TOKEN"}}) == "${env:MCPAC_TEST_RESTING}");
    CHECK(hidden());
    CHECK(upstreams.starts("one") == 3);
  }

  TEST_CASE("the callback at the end of a call may make the next call, and take one back") {
    World world;
    world.until_started();
    const Call hanging(*world.upstreams, "hang");
    std::optional<Call> next;
    world.upstreams->forward(Permission::parse("one.echo").value(), kHello, nullptr,
                             [&](const Result<Json>& result) {
                               CHECK(result.has_value());
                               next.emplace(*world.upstreams, "echo", kHello);
                               world.upstreams->cancel(hanging.token);
                             });
    world.until([&] { return next && next->has_ended() && hanging.has_ended(); });
    CHECK(next->text() == R"({"apple":"hello"})");
    CHECK(hanging.error() == ErrorId::kServerCancelled);
  }

  TEST_CASE("calls without an answer are told when the servers are closed") {
    World world;
    world.until_started();
    const Call one(*world.upstreams, "hang");
    const Call other(*world.upstreams, "hang");
    world.close();
    CHECK(one.error() == ErrorId::kServerDied);
    CHECK(other.error() == ErrorId::kServerDied);
  }

  TEST_CASE(
      "a list that is refused twice after a stream was cut is asked for again, and compared") {
    WebWorld one;
    one.lock({"echo", "headers"});
    one.start();
    CHECK(one.world.ended("echo", kHello).contains("hello"));
    one.cut(refused(2), true);
    one.world.until([&] { return one.early && one.early->has_ended(); });
    CHECK(one.early->error() == ErrorId::kLockDrift);  // it has waited, and was not sent
    CHECK(one.asked() == asked_for({{1, "list"}, {2, "call"}, {3, "list"}}));
    CHECK(one.failures.empty());
    CHECK(one.world.ended("headers").contains("mcp-session-id"));
  }

  TEST_CASE("a tool that was another one for a moment stays refused, whatever came of that list") {
    WebWorld one;
    one.lock({"echo"});
    one.start();
    one.cut({"other", "503", "503"});
    one.world.until([&] { return one.early && one.early->has_ended(); });
    CHECK(one.early->error() == ErrorId::kLockDrift);
    CHECK(one.failures.empty());
  }

  TEST_CASE("a server that is busy has its calls refused until its tools are compared") {
    WebWorld one;
    one.start();
    one.cut(refused(9));
    one.until_failed(1);
    const Call call(*one.world.upstreams, "echo", kHello);
    one.world.until(call);
    for (const Call& told : {*one.early, call}) {
      CHECK(told.error() == ErrorId::kServerBusy);
      CHECK(told.text().contains("not called before they were compared"));
      CHECK(told.text().contains("HTTP status 503"));
    }
    CHECK_FALSE(one.world.upstreams->all_well());
    one.world.until([&] { return one.heard.size() >= 2; });
    CHECK(one.heard.back() == "a server lists its tools again: they are compared");
    CHECK(one.world.ended("echo", kHello).contains("hello"));
    CHECK(one.asked() == asked_for({{1, "list"}, {1, "call"}, {10, "list"}, {1, "call"}}));
    CHECK(one.failures.size() == 1);
    CHECK(one.world.upstreams->all_well());
  }

  TEST_CASE("a busy server whose tools may have changed once more is not asked twice for that") {
    WebWorld one;
    one.start();
    auto lists = refused(4, {"503 cut"});
    lists.resize(64, "503");  // until its streams stand again
    one.cut(lists);
    one.world.until([&] { return one.heard.size() >= 2; });
    CHECK(one.heard.back() == "a server lists its tools again: they are compared");
    CHECK(one.failures.size() == 1);
    CHECK(one.world.upstreams->all_well());
  }

  TEST_CASE("a busy server that ends, or answers with an error, is not asked on") {
    for (const std::string then : {"404", "error"}) {
      CAPTURE(then);
      WebWorld one;
      one.start();
      one.cut(refused(5, {then}));
      one.until_failed(2);
      one.pass(50ms);
      const ErrorId last = then == "404" ? ErrorId::kServerHttp : ErrorId::kServerError;
      CHECK(one.failures == std::vector{ErrorId::kServerHttp, last});
      const Call call(*one.world.upstreams, "echo", kHello);
      one.world.until(call);
      CHECK(call.error() == last);
      CHECK_FALSE(call.text().contains("were compared"));
      CHECK(one.asked() == asked_for({{1, "list"}, {1, "call"}, {6, "list"}}));
    }
  }

  TEST_CASE("a server that has failed for good stays so, also where it is busy later") {
    WebWorld one;
    one.start();
    one.cut({"error cut", "503", "503", "503", "503"});
    one.until_failed(2);
    one.pass(50ms);
    CHECK(one.asked() == asked_for({{1, "list"}, {1, "call"}, {5, "list"}}));
    const Call call(*one.world.upstreams, "echo", kHello);
    one.world.until(call);
    CHECK_FALSE(call.text().contains("were compared"));
  }

  TEST_CASE("where servers are started again, a busy one is by the next call and not asked on") {
    WebWorld one;
    one.world.upstreams->start_again_what_ends();
    one.start();
    one.cut(refused(4));
    one.until_failed(1);
    one.pass(50ms);
    CHECK(one.asked() == asked_for({{1, "list"}, {1, "call"}, {4, "list"}}));
    CHECK(one.world.ended("echo", kHello).contains("hello"));
    CHECK(one.world.upstreams->restarts() == 1);
  }

  TEST_CASE("a start that took longer than the pause behind it is tried again by the next call") {
    const auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-up");
    REQUIRE(folder.has_value());
    const auto file = folder->path() / "state";
    const auto is_now = [&](const std::string& state) {
      REQUIRE(write_file_atomic(file, state).has_value());
    };
    is_now("down");
    auto config = fixture();
    config.arguments = {"-c", "case $(cat " + file.string() +
                                  ") in mute) exec sed -n '';; up) exec node " +
                                  config.arguments[0] + " plain;; *) exit 1;; esac"};
    config.command = "sh";
    config.era = mcp::Era::kInitialize;
    config.timeout = 600ms;
    World world(config);
    world.upstreams->start_again_what_ends();
    world.upstreams->start(world.config);
    world.until_started();
    is_now("mute");
    const std::string mute = world.ended("echo", kHello);
    CHECK(mute.contains("could not be started; the call was not sent, and the next call tries it"));
    is_now("up");
    CHECK(world.ended("echo", kHello) == R"({"apple":"hello"})");
    CHECK(world.upstreams->restarts() == 1);
  }

  TEST_CASE("a session that a server forgot is opened again within the call that meets it") {
    for (const int status : {404, 400, 401}) {
      CAPTURE(status);
      WebWorld one;
      one.lock({"echo"});
      one.start();
      const Call slow(*one.world.upstreams, "slow", {{"ms", 300}});
      CHECK(one.world.ended("forget", {{"status", status}}) == "forgotten");
      CHECK(one.world.ended("echo", kHello).contains("hello"));
      CHECK(one.world.ended("echo", kHello).contains("hello"));
      one.world.until(slow);
      CHECK(slow.text() == "slept");  // what the server had in work goes on
      // The refused one is the third call; its tools are listed again before it is made.
      CHECK(one.asked() == asked_for({{1, "list"}, {3, "call"}, {1, "list"}, {2, "call"}}));
      CHECK(one.failures.empty());
      CHECK(one.heard == Texts{kRenewed});
    }
  }

  TEST_CASE("a server that forgets each session is not given one for each call") {
    for (const int status : {404, 401}) {
      CAPTURE(status);
      WebWorld one;
      one.start();
      CHECK(one.world.ended("forget", {{"status", status}, {"calls", 1'000}}) == "forgotten");
      for (int i = 0; i < 20; ++i) {
        const Call call(*one.world.upstreams, "echo", kHello);
        one.world.until(call);
        CHECK(call.error() == ErrorId::kServerHttp);
        if (i > 0) CHECK(call.text().contains("forgets each session before it answers a call"));
        if (i > 0) CHECK(call.text().contains("it is not called again before"));
      }
      CHECK(std::ranges::count(one.heard, kRenewed) == 1);
      CHECK(std::ranges::count(one.asked(), "call") == 3);  // one of them is "forget"
    }
  }

  TEST_CASE("a server that answers in its sessions is given a new one as often as it forgets") {
    WebWorld one;
    one.start();
    for (int i = 0; i < 5; ++i) {
      CHECK(one.world.ended("forget", {{"status", 404}}) == "forgotten");
      CHECK(one.world.ended("echo", kHello).contains("hello"));
    }
    CHECK(std::ranges::count(one.heard, kRenewed) == 5);
    CHECK(one.failures.empty());
  }

  TEST_CASE("a call that met a forgotten session is not made where its tool is another one now") {
    WebWorld one;
    one.lock({"echo", "headers"});
    one.start();
    const Json how{{"status", 404}, {"changes", true}, {"cuts", true}};
    CHECK(one.world.ended("forget", how) == "forgotten");
    const Call call(*one.world.upstreams, "echo", kHello);
    one.world.until(call);
    CHECK(call.error() == ErrorId::kLockDrift);
    CHECK(one.world.ended("headers").contains("mcp-session-id"));
    CHECK(std::ranges::count(one.heard, "a server that had ended was started again") == 0);
  }

  TEST_CASE("a server without a stream of announcements keeps its session, however it says so") {
    WebWorld one;
    one.world.config.url.replace(one.world.config.url.rfind("/sse"), 4, "/no-stream");
    one.start();
    one.pass(50ms);
    CHECK(one.world.ended("echo", kHello).contains("hello"));
    CHECK(one.asked() == asked_for({{1, "list"}, {1, "call"}}));
    CHECK(one.heard.empty());
  }

  TEST_CASE("a failed call is answered whatever becomes of its explanation, which has no secret") {
    constexpr std::size_t kMost = 16'384;
    const std::string secret = "0123456789876543210123456789";
    ::setenv("MCPAC_TEST_UPSTREAMS", secret.c_str(), 1);
    const auto confiner = std::make_shared<FailingConfiner>();
    WebWorld one;
    one.world.config.headers["X-Key"] = "${env:MCPAC_TEST_UPSTREAMS}";
    one.world.config.sandbox.emplace();
    one.world.config.confiner = confiner;
    one.start();
    std::string many;
    for (int i = 0; i < 300; ++i) many += secret + '/';
    for (const std::string& before : {std::string(), many}) {
      for (std::size_t at = kMost - 30; at < kMost + 31; at += 5) {
        CAPTURE(before.size());
        CAPTURE(at);
        const std::string text =
            before + std::string(at - before.size(), '.') + secret + std::string(100'000, ',');
        confiner->heard.clear();
        CHECK(one.world.ended("fail", {{"text", text}}).size() >= 100'000);
        REQUIRE(confiner->heard.size() == 1);
        const std::string& heard = confiner->heard.front();
        CHECK(heard.size() <= kMost);
        CHECK(heard.size() > kMost / 4);
        CHECK(heard.find_first_of("0123456789") == std::string::npos);
      }
    }
    const Call first(*one.world.upstreams, "fail", {{"text", "no"}});
    const Call echo(*one.world.upstreams, "echo", kHello);
    one.world.until(first);
    one.world.until(echo);
    CHECK(first.text() == "no");
    CHECK(confiner->heard.back() == "no\n");
    CHECK(confiner->heard.size() == 2);
    CHECK(one.failures.empty());
  }

  TEST_CASE("servers are closed also while one is asked for its tools again") {
    WebWorld one;
    one.world.upstreams->compare_after({.first = 100ms, .longest = 1h});  // it waits when it ends
    one.start();
    one.cut(refused(100));
    one.until_failed(1);
    one.world.close();
    one.world.loop.restart();
    one.world.loop.run();  // nothing is left to wait for
    CHECK(one.failures.size() == 1);
  }

  TEST_CASE("where the loop ends first, nobody is told, and nothing of a call is left") {
    std::shared_ptr<std::optional<Result<Json>>> result;
    {
      World world;
      world.until_started();
      result = Call(*world.upstreams, "hang").result;
      world.upstreams.reset();
    }
    CHECK(result.use_count() == 1);
  }
}
