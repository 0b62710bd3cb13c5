// Calls over a real socket pair: what goes out, what comes back, in any order and from many
// threads.
#include <doctest/doctest.h>

#include <atomic>
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
