// Calls over a real socket pair: what goes out, what comes back, in any order and from many
// threads.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "templates/support_peer.h"

using mcpac::Json;
using namespace mcp;
using Reads = mcpac::Requires<filesystem::read_text_file>;

namespace {

// Answers every call with its path, until the end.
void echo_paths(HostEnd& host) {
  for (Json request = host.read(); !request.is_null(); request = host.read()) {
    if (!request.contains("id")) continue;  // a log line
    host.answer(request, request["params"]["arguments"]["path"]);
  }
}

}  // namespace

TEST_SUITE("templates/calls") {
  TEST_CASE("a call is MCP's tools/call with the original names, and its answer is the result") {
    Json seen;
    Peer peer([&seen](HostEnd& host) {
      seen = host.read();
      host.answer(seen, "one\r\ntwo\n");
    });
    auto rt = peer.capability<Reads>();
    const auto result = rt.filesystem.read_text_file({.path = "a.txt", .head = 5});
    peer.finish();
    CHECK(seen == Json{{"jsonrpc", "2.0"},
                       {"id", 1},
                       {"method", "tools/call"},
                       {"params",
                        {{"name", "filesystem.read_text_file"},
                         {"arguments", {{"path", "a.txt"}, {"head", 5.0}}}}}});
    CHECK(result.text() == "one\r\ntwo\n");
    CHECK(result.lines() == std::vector<std::string>{"one", "two"});
  }

  TEST_CASE("answers in reverse order reach the calls they belong to") {
    Peer peer([](HostEnd& host) {
      std::vector<Json> requests;
      for (int i = 0; i < 50; ++i) requests.push_back(host.read());
      for (auto it = requests.rbegin(); it != requests.rend(); ++it) {
        host.answer(*it, (*it)["params"]["arguments"]["path"]);
      }
    });
    auto rt = peer.capability<Reads>();
    std::vector<mcpac::Future<filesystem::read_text_file::Result>> futures;
    for (int i = 0; i < 50; ++i) {
      futures.push_back(rt.filesystem.read_text_file.async({.path = std::to_string(i)}));
    }
    for (int i = 0; i < 50; ++i) {
      CHECK(futures[static_cast<std::size_t>(i)].get().text() == std::to_string(i));
    }
  }

  TEST_CASE("many threads call at once and each gets its own answers") {
    Peer peer(echo_paths);
    auto rt = peer.capability<Reads>();
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t) {
      threads.emplace_back([rt, t, &right] {
        for (int i = 0; i < 50; ++i) {
          const std::string path = std::to_string(t) + "/" + std::to_string(i);
          if (rt.filesystem.read_text_file({.path = path}).text() == path) ++right;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    CHECK(right == 300);
  }

  TEST_CASE(
      "large calls in flight do not block each other when the host answers before it reads on") {
    // Both directions carry more than a socket holds: a writer that did not read would hang here.
    Peer peer(echo_paths);
    auto rt = peer.capability<Reads>();
    const std::string path(300'000, 'x');
    std::vector<mcpac::Future<filesystem::read_text_file::Result>> futures;
    for (int i = 0; i < 8; ++i)
      futures.push_back(rt.filesystem.read_text_file.async({.path = path}));
    for (auto& future : futures) CHECK(future.get().text() == path);
  }

  TEST_CASE("a future that is dropped unread disturbs nobody") {
    Peer peer(echo_paths);
    auto rt = peer.capability<Reads>();
    { auto dropped = rt.filesystem.read_text_file.async({.path = "dropped"}); }
    CHECK(rt.filesystem.read_text_file({.path = "kept"}).text() == "kept");
  }

  TEST_CASE("a future becomes ready without anybody waiting, and is read once") {
    Peer peer(echo_paths);
    auto rt = peer.capability<Reads>();
    auto future = rt.filesystem.read_text_file.async({.path = "x"});
    while (!future.ready()) std::this_thread::yield();
    CHECK(future.get().text() == "x");
    CHECK_FALSE(future.valid());
    CHECK_THROWS_AS((void)future.get(), std::logic_error);
  }

  TEST_CASE("a future is waited for at most so long, from several threads") {
    using std::chrono::milliseconds;
    std::atomic<bool> go_on = false;
    Peer peer([&go_on](HostEnd& host) {
      const Json slow = host.read();
      const Json quick = host.read();
      host.answer(quick, "quick");
      while (!go_on) std::this_thread::yield();
      host.answer(slow, "slow");
    });
    auto rt = peer.capability<Reads>();
    auto slow = rt.filesystem.read_text_file.async({.path = "slow"});
    CHECK(slow.wait_for(milliseconds(0)) == std::future_status::timeout);
    auto quick = rt.filesystem.read_text_file.async({.path = "quick"});
    CHECK(quick.wait_for(std::chrono::hours(1)) == std::future_status::ready);
    CHECK(quick.wait_until(std::chrono::system_clock::time_point()) == std::future_status::ready);
    CHECK(slow.wait_until(std::chrono::system_clock::now()) == std::future_status::timeout);
    CHECK(slow.wait_for(std::chrono::duration<double>(-1)) == std::future_status::timeout);
    std::thread other(
        [&] { CHECK(slow.wait_for(milliseconds(20)) == std::future_status::timeout); });
    CHECK(slow.wait_for(milliseconds(10)) == std::future_status::timeout);
    other.join();
    go_on = true;
    std::thread late([&slow] { slow.wait(); });
    CHECK(slow.wait_for(std::chrono::years(1000)) == std::future_status::ready);
    late.join();
    CHECK(slow.ready());
    CHECK(slow.get().text() == "slow");
    CHECK_THROWS_AS((void)slow.wait_for(milliseconds(1)), std::logic_error);
  }

  TEST_CASE("an answer in many pieces and two answers in one piece are both understood") {
    Peer peer([](HostEnd& host) {
      const Json first = host.read();
      const Json second = host.read();
      const Json block = {{"type", "text"}, {"text", "ä"}};
      const Json result = {{"content", Json::array({block})},
                           {"structuredContent", {{"content", "ä"}}}};
      const std::string a = Json{{"id", first["id"]}, {"result", result}}.dump() + "\n";
      const std::string b = Json{{"id", second["id"]}, {"result", result}}.dump() + "\n";
      for (const char c : a.substr(0, a.size() - 3)) host.write_raw(std::string(1, c));
      host.write_raw(a.substr(a.size() - 3) + b);
    });
    auto rt = peer.capability<Reads>();
    auto first = rt.filesystem.read_text_file.async({.path = "1"});
    auto second = rt.filesystem.read_text_file.async({.path = "2"});
    CHECK(second.get().text() == "ä");
    CHECK(first.get().text() == "ä");
  }

  TEST_CASE("notifications and answers to nobody are passed over") {
    Peer peer([](HostEnd& host) {
      const Json request = host.read();
      host.write(
          {{"jsonrpc", "2.0"}, {"method", "notifications/message"}, {"params", Json::object()}});
      host.write({{"jsonrpc", "2.0"}, {"id", 99}, {"result", Json::object()}});
      host.write({{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", {{"code", -32700}}}});
      host.write(Json::array());
      host.answer(request, "right");
    });
    auto rt = peer.capability<Reads>();
    CHECK(rt.filesystem.read_text_file({.path = "x"}).text() == "right");
  }

  TEST_CASE("a free-form call sends its object, and a call without arguments an empty one") {
    std::vector<Json> seen;
    Peer peer([&seen](HostEnd& host) {
      for (int i = 0; i < 3; ++i) {
        seen.push_back(host.read());
        host.answer(seen.back(), "");
      }
    });
    auto rt =
        peer.capability<mcpac::Requires<forms::free_form, filesystem::list_allowed_directories>>();
    rt.forms.free_form({{"a", 1}});
    rt.forms.free_form();
    rt.filesystem.list_allowed_directories();
    peer.finish();
    CHECK(seen[0]["params"]["arguments"] == Json{{"a", 1}});
    CHECK(seen[1]["params"]["arguments"] == Json::object());
    CHECK(seen[2]["params"]["arguments"] == Json::object());
  }

  TEST_CASE("an answer that breaks its output schema is an error that names the place") {
    Peer peer([](HostEnd& host) {
      for (Json message = host.read(); !message.is_null(); message = host.read()) {
        const Json block = {{"type", "text"}, {"text", "still here"}};
        host.write({{"id", message["id"]},
                    {"result",
                     {{"content", Json::array({block})},
                      {"structuredContent", {{"entities", {{{"name", 5}}}}}}}}});
      }
    });
    auto rt = peer.capability<mcpac::Requires<memory::create_entities>>();
    try {
      rt.memory.create_entities({.entities = mcpac::empty});
      FAIL("the call returned");
    } catch (const mcpac::ToolError& error) {
      CHECK(error.message() ==
            "the tool's answer breaks its own output schema: /entities/0/name: expected a string");
      CHECK(error.permission() == "memory.create_entities");
      CHECK(error.data()["pointer"] == "/entities/0/name");
      CHECK(error.data()["structuredContent"]["entities"][0]["name"] == 5);
      CHECK(error.text() == "still here");  // nothing of the answer is lost
    }
    const auto tried = rt.memory.create_entities.try_call({.entities = mcpac::empty});
    REQUIRE_FALSE(tried);
    CHECK(tried.error().kind() == mcpac::ErrorKind::tool);
  }

  TEST_CASE("what the type of a field cannot hold costs that field, and never the answer") {
    const Json structured = Json::parse(R"({
        "text": "there", "count": 18446744073709551615, "state": "archived", "note": null,
        "ratio": 9007199254740993, "totals": {"a/b": 1e30, "c": 2}, "either": "x",
        "owner": 18446744073709551615, "point": [1, 2], "extra": {},
        "steps": [{"status": "failed", "reason": "r"}]})");
    using Result = forms::everything::Result;
    std::string remark;
    const auto result = mcpac::make_result_of<Result>({{"structuredContent", structured}},
                                                      "forms.every/thing", &remark);
    CHECK(result.text_ == "there");  // the rest is there, and all of it as it came
    CHECK(result.totals.at("c") == 2);
    CHECK(result.steps.size() == 1);
    CHECK(result.structured()["count"] == 18446744073709551615U);
    CHECK(result.structured()["state"] == "archived");
    CHECK(remark ==
          "forms.every/thing answered what the type of its field cannot hold: /count, /state, "
          "/ratio, /totals/a~1b and 1 more (read it from .structured())");
    // What stands in those fields is no value: it is none that is known, and none that is sent.
    CHECK(std::isnan(*result.ratio));
    CHECK(result.state != Result::State::open);
    CHECK(result.state != Result::State::closed);
    CHECK(to_string(result.state).empty());
    CHECK_THROWS_AS(mcpac::detail::to_json(result.count), mcpac::InvalidArguments);
    CHECK_THROWS_AS(mcpac::detail::to_json(*result.ratio), mcpac::InvalidArguments);
    CHECK_THROWS_AS(mcpac::detail::to_json(result.state), mcpac::InvalidArguments);
    CHECK_THROWS_AS(mcpac::detail::to_json(result.totals), mcpac::InvalidArguments);
    mcpac::detail::has_marked_integers() = false;  // of this process, which has other tests

    // Who asks for a type by name is told at once, and still has the answer.
    CHECK_THROWS_AS(result.as<Result>(), mcpac::ToolError);
    // What breaks the schema breaks the answer, beside such a field too.
    Json broken = structured;
    broken["note"] = 5;
    CHECK_THROWS_AS(mcpac::make_result_of<Result>({{"structuredContent", broken}}, ""),
                    mcpac::ToolError);
  }

  TEST_CASE("the user of a program hears which field could not hold what came") {
    Json said;
    Peer peer([&said](HostEnd& host) {
      const Json structured = Json::parse(R"({"text": "", "count": 9223372036854775808,
          "state": "open", "note": null, "totals": {}, "either": "", "owner": 1, "point": [1, 2],
          "extra": 0, "steps": []})");
      host.write({{"id", host.read()["id"]}, {"result", {{"structuredContent", structured}}}});
      said = host.read();
    });
    auto rt = peer.capability<mcpac::Requires<forms::everything>>();
    const auto result = rt.forms.everything
                            .async({.path = "p",
                                    .paths = {"a"},
                                    .entities = {{.street = "s"}},
                                    .address = {.street = "t"},
                                    .mode = forms::everything::Args::Mode::plus_1,
                                    .count = 3,
                                    .note = nullptr})
                            .get();
    peer.finish();
    CHECK(result.state == forms::everything::Result::State::open);
    mcpac::detail::has_marked_integers() = false;
    CHECK(said["params"]["level"] == "warning");
    CHECK(said["params"]["data"] ==
          "forms.every/thing answered what the type of its field cannot hold: /count (read it from "
          ".structured())");
  }

  TEST_CASE(
      "as text an answer has its texts, a line for each other block, and what they leave out") {
    const auto text = [](const char* content, const char* structured) {
      return mcpac::ToolResult(Json{{"content", Json::parse(content)},
                                    {"structuredContent", Json::parse(structured)}})
          .text();
    };
    CHECK(text(R"([{"type": "text", "text": "seen"},
                   {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
                   {"type": "audio", "data": "AA=="},
                   {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 1},
                   {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "text/plain", "text": "bb"}},
                   {"type": "resource", "resource": {"uri": "file:///c", "blob": "AAAA"}},
                   {"type": "chart", "x": 1}])",
               "null") ==
          "seen\nimage/png, 8 bytes\naudio, 1 byte\nfile:///a, a, 1 byte\n"
          "file:///b, text/plain, 2 bytes\nbb\nfile:///c, 3 bytes\nchart, 22 bytes of JSON");
    // Structured content alone, or beside a text that says something else.
    CHECK(text("[]", R"({"n": 5})") == R"({"n":5})");
    for (const char* other : {"done", "15 items", "Oslow", "n"}) {
      CAPTURE(other);
      const Json block = {{"type", "text"}, {"text", other}};
      CHECK(text(Json::array({block}).dump().c_str(), R"({"n": 5, "city": "Oslo"})") ==
            std::string(other) + R"(
{"city":"Oslo","n":5})");
    }
    // The same JSON in other spaces, or every value in words: said once.
    for (const char* same :
         {"{\n  \"n\": 5.0,\n  \"city\": \"Oslo\"\n}", "Oslo: 5 degrees", "city=Oslo, n=5"}) {
      CAPTURE(same);
      const Json block = {{"type", "text"}, {"text", same}};
      CHECK(text(Json::array({block}).dump().c_str(), R"({"n": 5, "city": "Oslo"})") == same);
    }
    // JSON is read from what the tool wrote as text, whatever stands beside it.
    const mcpac::ToolResult mixed(
        Json{{"content",
              Json::parse(R"([{"type": "text", "text": "[1]"}, {"type": "image", "data": ""}])")},
             {"structuredContent", {{"more", 2}}}});
    CHECK(mixed.json() == Json::array({1}));
    CHECK(mixed.lines() == std::vector<std::string>{"[1]", "image, 0 bytes", R"({"more":2})"});
  }

  TEST_CASE("an answer of before structured content is read from its text, and the rest is kept") {
    Peer peer([](HostEnd& host) {
      const Json block = {{"type", "text"},
                          {"text", R"({"entities": [], "relations": [], "version": 2})"}};
      host.write({{"id", host.read()["id"]}, {"result", {{"content", Json::array({block})}}}});
    });
    auto rt = peer.capability<mcpac::Requires<memory::read_graph>>();
    const auto graph = rt.memory.read_graph();
    CHECK(graph.entities.empty());
    CHECK(graph.json()["version"] == 2);
  }

  TEST_CASE("a log line is a notification with level and data") {
    Json seen;
    Peer peer([&seen](HostEnd& host) { seen = host.read(); });
    mcpac::detail::log_to(peer.session(), mcpac::LogLevel::warning, "careful");
    peer.finish();
    CHECK(seen == Json{{"jsonrpc", "2.0"},
                       {"method", "notifications/message"},
                       {"params", {{"level", "warning"}, {"data", "careful"}}}});
  }
}
