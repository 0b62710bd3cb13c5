#include "gate/agent_door.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <set>
#include <string>
#include <thread>

#include "gate/support_wire.h"

using namespace mcpac;
using namespace mcpac::gate;
using namespace mcpac::gate::testing;

namespace {

Json notification(std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string anomaly(const Wire& wire, std::size_t index) {
  const auto all = wire.world.audit.of("Anomaly");
  REQUIRE(index < all.size());
  return all[index].at("what");
}

}  // namespace

TEST_SUITE("gate/door") {
  TEST_CASE("a call goes out and its result comes back under its own id") {
    Wire wire;
    wire.answer_everything();
    wire.send(tool_call(7, "git.commit"));
    CHECK(wire.read() == Json{{"jsonrpc", "2.0"}, {"id", 7}, {"result", text_result("done")}});
    wire.send(tool_call("seven", "git.commit"));
    CHECK(wire.read().at("id") == "seven");
    wire.send(tool_call(-9223372036854775807LL - 1, "git.commit"));
    CHECK(wire.read().at("id") == -9223372036854775807LL - 1);
  }

  TEST_CASE("answers come in any order, each under the id of its request") {
    Wire wire;
    for (int id = 0; id < 3; ++id)
      wire.send(tool_call(id, "fs.read", {{"path", "/" + std::to_string(id)}}));
    wire.until([&] { return wire.world.upstream.calls.size() == 3; });
    for (const std::size_t index : {2U, 0U, 1U}) {
      wire.world.upstream.answer(index, text_result(std::to_string(index)));
      const Json answer = wire.read();
      CHECK(answer.at("id") == index);
      CHECK(answer.at("result") == text_result(std::to_string(index)));
    }
    CHECK(wire.door->calls_in_flight() == 0);
  }

  TEST_CASE("a denied call is answered with code, kind, permission, reason and declaration") {
    Wire wire;
    wire.send(tool_call(1, "fs.write", {{"path", "/a"}, {"text", "x"}}));
    const Json error = wire.read().at("error");
    CHECK(error.at("code") == -32001);
    CHECK(error.at("data").at("kind") == "denied");
    CHECK(error.at("data").at("required") == "fs.write");
    CHECK(error.at("data").at("declared") == Json({"fs.read", "fs.write", "git.commit"}));
    CHECK(wire.world.upstream.calls.empty());
  }

  TEST_CASE("absent arguments mean an empty object, null arguments are an error") {
    Wire wire;
    wire.answer_everything();
    wire.write(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"git.commit"}})"
               "\n");
    CHECK(wire.read().contains("result"));
    CHECK(wire.world.upstream.calls.at(0).arguments == Json::object());
    wire.send(tool_call(2, "git.commit", nullptr));
    CHECK(wire.read().at("error").at("data").at("kind") == "invalid_arguments");
  }

  TEST_CASE("ping is answered, every other method is unknown") {
    Wire wire;
    wire.send({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}});
    CHECK(wire.read().at("result") == Json::object());
    for (const char* method :
         {"tools/list", "initialize", "resources/read", "Tools/call", "tools/call ", ""}) {
      wire.send({{"jsonrpc", "2.0"}, {"id", 2}, {"method", method}, {"params", Json::object()}});
      CHECK(wire.read().at("error").at("code") == -32601);
    }
  }

  TEST_CASE("a program is told what its run was given, each time that it asks, and only then") {
    Wire wire;
    const Json question{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "mcpac/arguments"}};
    wire.send(question);
    CHECK(wire.read().at("result") == Json{{"arguments", Json::object()}});
    wire.given = {{"path", "a"}, {"deep", {1, {{"x", nullptr}}}}};
    for (int i = 0; i < 2; ++i) {
      wire.send(question);
      CHECK(wire.read().at("result") == Json{{"arguments", wire.given}});
    }
    wire.send({{"jsonrpc", "2.0"}, {"method", "mcpac/arguments"}});  // nobody to answer
    wire.settle();
    CHECK(wire.world.audit.of("Anomaly").size() == 1);
    CHECK(wire.door->calls_in_flight() == 0);
  }

  TEST_CASE("arguments that a program asks for and does not read fill no memory") {
    constexpr int kAsked = 40;
    Wire wire;  // it reads no further request above 4 MiB that wait
    wire.given = {{"text", std::string(std::size_t{1} << 20U, 'x')}};
    for (int id = 0; id < kAsked; ++id)
      wire.send({{"jsonrpc", "2.0"}, {"id", id}, {"method", "mcpac/arguments"}});
    for (int idle = 0; idle < 20; ++idle) {
      wire.loop.restart();
      if (wire.loop.poll() > 0) idle = 0;
    }
    CHECK(wire.told > 0);
    CHECK(wire.told < 10);
    for (int id = 0; id < kAsked; ++id) CHECK(wire.read().at("id") == id);
    CHECK(wire.told == kAsked);
    CHECK(wire.closed == 0);
  }

  TEST_CASE("a call without a usable name is invalid") {
    Wire wire;
    for (const Json& params : {Json::object(), Json{{"name", 7}}, Json{{"name", nullptr}},
                               Json{{"Name", "git.commit"}}}) {
      wire.send({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", params}});
      CHECK(wire.read().at("error").at("code") == -32602);
    }
    wire.write("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}\n");
    CHECK(wire.read().at("error").at("code") == -32602);
    CHECK(wire.world.upstream.calls.empty());
  }

  TEST_CASE("log messages reach the user, bounded each and together") {
    Wire wire({}, {.max_log_line = 10, .max_log_total = 40});
    wire.send(notification("notifications/message", {{"level", "warning"}, {"data", "careful"}}));
    wire.send(notification("notifications/message", {{"level", "info"}, {"data", {{"a", 1}}}}));
    wire.send(
        notification("notifications/message", {{"level", "info"}, {"data", "0123456789abc"}}));
    wire.settle();
    CHECK(wire.logs ==
          std::vector<std::string>{"warning: careful", "info: {\"a\":1}", "info: 0123456789…"});
    for (int i = 0; i < 9; ++i) {
      wire.send(notification("notifications/message", {{"level", "info"}, {"data", "0123456789"}}));
    }
    wire.settle();
    CHECK(wire.logs.size() == 4);
    CHECK(wire.world.audit.of("Anomaly").size() == 1);
    // What is no log message is never one.
    wire.send(notification("notifications/message", {{"level", "root"}, {"data", "x"}}));
    wire.send(notification("notifications/message", {{"level", "info"}}));
    wire.settle();
    CHECK(wire.logs.size() == 4);
  }

  TEST_CASE("a program's result is handed on once") {
    Wire wire;
    wire.send(notification("notifications/mcpac/result", {{"value", {{"n", 1}}}}));
    wire.send(notification("notifications/mcpac/result", {{"value", 2}}));
    wire.send(notification("notifications/mcpac/result", Json::object()));
    wire.settle();
    REQUIRE(wire.results.size() == 1);
    CHECK(wire.results[0] == Json{{"n", 1}});
    CHECK(wire.world.audit.of("Anomaly").size() == 2);
  }

  TEST_CASE("what a program did not catch is handed on once, cut, and decides nothing") {
    Wire wire;
    const std::string method = "notifications/mcpac/uncaught";
    wire.send(notification(method, {{"kind", "tool"},
                                    {"permission", "fs.read"},
                                    {"message", std::string(5'000, 'x')},
                                    {"id", 7}}));
    wire.send(notification(method, {{"kind", "tool"}}));
    wire.send(notification(method, Json::array()));
    wire.settle();
    REQUIRE(wire.uncaught.size() == 1);
    CHECK(wire.uncaught[0].kind == "tool");
    CHECK(wire.uncaught[0].permission == "fs.read");
    CHECK(wire.uncaught[0].message.size() < 1'100);
    CHECK(wire.uncaught[0].id.empty());
    CHECK(wire.world.audit.of("Anomaly").size() == 2);
    wire.answer_everything();
    wire.send(tool_call(1, "git.commit"));
    CHECK(wire.read().contains("result"));
  }

  TEST_CASE("a cancelled call is answered once and stops at the server") {
    Wire wire;
    wire.send(tool_call(1, "git.commit"));
    wire.send(notification("notifications/cancelled", {{"requestId", 1}}));
    const Json answer = wire.read();
    CHECK(answer.at("id") == 1);
    CHECK(answer.at("error").at("code") == -32002);
    CHECK(answer.at("error").at("data").at("cancelled") == true);
    CHECK(wire.world.upstream.cancelled.size() == 1);
    wire.world.upstream.answer(0, text_result("late"));
    wire.send(notification("notifications/cancelled", {{"requestId", 1}}));
    wire.settle();  // would fail on a second answer that is no settled ping
    CHECK(wire.door->calls_in_flight() == 0);
  }

  TEST_CASE("a revoked authority shows in answers to calls in flight and to later ones") {
    Wire wire;
    wire.send(tool_call(1, "git.commit"));
    wire.until([&] { return wire.door->calls_in_flight() == 1; });
    wire.world.gate->revoke_all();
    CHECK(wire.read().at("error").at("code") == -32005);
    wire.send(tool_call(2, "git.commit"));
    CHECK(wire.read().at("error").at("data").at("kind") == "revoked");
  }

  TEST_CASE("more calls in flight than the limit are answered, not made") {
    Wire wire({}, {.max_calls_in_flight = 2});
    for (int id = 0; id < 3; ++id) wire.send(tool_call(id, "git.commit"));
    const Json answer = wire.read();
    CHECK(answer.at("id") == 2);
    CHECK(answer.at("error").at("code") == -32004);
    CHECK(answer.at("error").at("data").at("kind") == "budget");
    CHECK(wire.world.audit.of("Anomaly").size() == 1);
    wire.world.upstream.answer(0, text_result("ok"));
    CHECK(wire.read().at("id") == 0);
    wire.send(tool_call(3, "git.commit"));
    wire.until([&] { return wire.world.upstream.calls.size() == 3; });
  }

  TEST_CASE("more bytes in flight than the limit are answered, not made; one large call is fine") {
    Wire wire({}, {.max_bytes_in_flight = 1000});
    wire.send(tool_call(1, "fs.read", {{"path", std::string(5000, 'x')}}));
    wire.send(tool_call(2, "git.commit"));
    const Json refused = wire.read();
    CHECK(refused.at("id") == 2);
    CHECK(refused.at("error").at("code") == -32004);
    CHECK(wire.world.upstream.calls.size() == 1);
    CHECK(wire.world.audit.of("Anomaly").size() == 1);
    // What is answered no longer counts.
    wire.world.upstream.answer(0, text_result("ok"));
    CHECK(wire.read().at("id") == 1);
    wire.send(tool_call(3, "git.commit"));
    wire.send(tool_call(4, "git.commit"));
    wire.until([&] { return wire.world.upstream.calls.size() == 3; });
  }

  TEST_CASE("what was read of a request counts where it takes more than its text") {
    Wire wire({}, {.max_bytes_in_flight = 100'000});
    wire.send(tool_call(1, "git.commit"));
    wire.send(tool_call(2, "git.commit", {{"list", std::vector<Json>(2'000, Json::object())}}));
    const Json refused = wire.read();
    CHECK(refused.at("id") == 2);
    CHECK(refused.at("error").at("code") == -32004);
    // As much text in one value is no more than that.
    wire.send(tool_call(3, "git.commit", {{"text", std::string(6'000, 'x')}}));
    wire.until([&] { return wire.world.upstream.calls.size() == 2; });
    wire.world.upstream.answer(0, text_result("ok"));
    CHECK(wire.read().at("id") == 1);
  }

  TEST_CASE(
      "a program that asks and does not read is not read from, and gets every answer when it "
      "does") {
    Wire wire({}, {.pause_above_queued = 1 << 16, .max_queued = std::size_t{64} << 20U});
    // Writes as a program would that never reads: until neither socket nor door takes any more.
    std::string ping;
    for (int id = 0; id < 100; ++id) {
      ping += R"({"jsonrpc":"2.0","id":"x","method":"nonsense-)" + std::string(200, 'm') + "\"}\n";
    }
    std::size_t requests = 0;
    std::string rest;
    for (int idle = 0; idle < 20;) {
      if (rest.empty()) {
        rest = ping;
        requests += 100;
      }
      const ssize_t n = ::send(wire.fd(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n > 0) rest.erase(0, static_cast<std::size_t>(n));
      idle = n > 0 ? 0 : idle + 1;
      wire.loop.restart();
      wire.loop.poll();
      REQUIRE(requests < 1'000'000);  // it never stopped reading
    }
    std::thread writer([&] {
      while (!rest.empty()) {
        const ssize_t n = ::send(wire.fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
        if (n <= 0) return;
        rest.erase(0, static_cast<std::size_t>(n));
      }
    });
    for (std::size_t i = 0; i < requests; ++i) CHECK(wire.read().at("error").at("code") == -32601);
    writer.join();
    CHECK(wire.closed == 0);
  }

  TEST_CASE("results that nobody reads are replaced by an error when they fill the queue") {
    Wire wire({}, {.pause_above_queued = 100, .max_queued = 1 << 20});
    for (int id = 0; id < 5; ++id) wire.send(tool_call(id, "git.commit"));
    wire.until([&] { return wire.world.upstream.calls.size() == 5; });
    for (std::size_t i = 0; i < 5; ++i) {
      wire.world.upstream.answer(i, text_result(std::string(700'000, 'r')));
    }
    std::set<int> ids;
    int results = 0;
    int dropped = 0;
    for (int i = 0; i < 5; ++i) {
      const Json answer = wire.read();
      ids.insert(answer.at("id").get<int>());
      if (answer.contains("result"))
        ++results;
      else if (answer.at("error").at("code") == -32004)
        ++dropped;
    }
    CHECK(ids.size() == 5);
    CHECK(results >= 1);
    CHECK(dropped >= 1);
    CHECK(results + dropped == 5);
  }

  TEST_CASE("the end of the connection is the end of the authority") {
    Wire wire;
    wire.send(tool_call(1, "git.commit"));
    wire.until([&] { return wire.world.upstream.calls.size() == 1; });
    wire.peer.reset();
    wire.until([&] { return wire.closed == 1; });
    CHECK(wire.world.upstream.cancelled.size() == 1);
    CHECK(wire.world.gate->in_flight() == 0);
    CHECK(wire.world.call("git.commit")->error().kind == ErrorKind::kRevoked);
    CHECK(wire.world.upstream.calls.size() == 1);
  }

  TEST_CASE("a door that is closed or dropped cancels its calls and calls nobody back") {
    Wire wire;
    wire.send(tool_call(1, "git.commit"));
    wire.until([&] { return wire.world.upstream.calls.size() == 1; });
    SUBCASE("closed") {
      wire.door->close();
    }
    SUBCASE("dropped") {
      wire.door.reset();
    }
    CHECK(wire.world.upstream.cancelled.size() == 1);
    CHECK(wire.read_to_end().empty());
    CHECK(wire.closed == 0);
  }

  TEST_CASE("anomalies are recorded up to a bound, and the rest is counted") {
    Wire wire;
    for (int i = 0; i < 200; ++i) wire.send(notification("notifications/strange", Json::object()));
    wire.settle();
    wire.door->close();
    const auto anomalies = wire.world.audit.of("Anomaly");
    CHECK(anomalies.size() == 65);
    CHECK(anomalies.back().at("count") == 136);
    CHECK(anomaly(wire, 0) == "a notification that means nothing here, never a call");
  }
}
