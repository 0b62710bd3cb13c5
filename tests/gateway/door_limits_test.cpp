// What one client can take of the HTTP door, and what a hostile one can make it do.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/open_files.h"
#include "core/file.h"
#include "gateway/bounded_warnings.h"
#include "gateway/http/event_stream.h"
#include "gateway/support_http.h"
#include "gateway/support_serving.h"
#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;
using namespace std::chrono_literals;
using e2e::Workspace;

namespace {

http::Event answer_of(std::size_t bytes) {
  return {std::string(bytes, 'x'), true, 0};
}

std::string call_of(int id) {
  return request(id, "tools/call", stateless({{"name", "git.commit"}})).dump();
}

HttpAnswer called(std::uint16_t port, const std::string& token, int id = 1) {
  return post(
      port,
      {.token = token, .more = stateless_headers("tools/call", "git.commit"), .body = call_of(id)});
}

// In KiB, of a process; 0 where it is gone.
long memory_of(pid_t pid, const std::string& line) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  for (std::string text; std::getline(file, text);) {
    if (text.starts_with(line)) return std::stol(text.substr(line.size()));
  }
  return 0;
}

}  // namespace

TEST_SUITE("gateway/limits") {
  TEST_CASE("what nobody reads is let go of, the oldest first, whichever session it is of") {
    const auto share =
        std::make_shared<http::ClientShare>(http::ShareLimits{.max_kept = 250, .max_held = 1'000});
    auto first = std::make_unique<http::EventStream>(1, share);
    http::EventStream second(1, share);  // another session's
    first->push(answer_of(100));
    second.push(answer_of(100));
    share->tidy();
    CHECK(share->held() == 200);
    http::EventStream third(2, share);
    third.push(answer_of(100));
    share->tidy();
    CHECK(first->bytes() == 0);
    CHECK(first->is_lost(0));
    CHECK_FALSE(second.is_lost(0));
    CHECK(share->held() == 200);
    // A stream that somebody reads is never cut, and what does not fit beside it is not held.
    const auto ticket = second.attach([] {});
    CHECK_FALSE(share->makes_room_for(950));
    CHECK(third.is_lost(0));
    CHECK_FALSE(second.is_lost(0));
    CHECK(share->makes_room_for(900));
    second.detach(ticket);
    CHECK(share->makes_room_for(950));
    first.reset();
    CHECK(share->held() == 0);
  }

  TEST_CASE("an event that wants room makes nobody look through all streams of a client") {
    const auto share = std::make_shared<http::ClientShare>(
        http::ShareLimits{.max_kept = 1'000, .max_held = 5'000});
    std::vector<std::unique_ptr<http::EventStream>> streams;
    for (std::uint64_t i = 0; i < 1'000; ++i) {
      streams.push_back(std::make_unique<http::EventStream>(i, share));
      streams.back()->push(answer_of(1));
    }
    // Bodies on their way: more is held than may be kept, and nothing is to be let go of.
    REQUIRE(share->take_body(2'500, [] {}));
    http::EventStream busy(1'001, share);
    const auto ticket = busy.attach([] {});
    for (int i = 0; i < 1'000; ++i) {
      CHECK(share->makes_room_for(1));
      busy.push(answer_of(1));
      share->tidy();
    }
    CHECK(share->looks() == 0);
    CHECK(share->kept() == 1'000);
    // As many are looked at as have to go.
    busy.detach(ticket);
    CHECK(share->kept() == 2'000);
    share->tidy();
    CHECK(share->looks() == 1'000);
    CHECK(share->kept() == 1'000);
    CHECK(busy.bytes() == 1'000);
    streams.clear();
    CHECK(share->kept() == 1'000);
    share->resize_body(2'500, 0);
    CHECK(share->held() == 1'000);
  }

  TEST_CASE("bodies wait for room, and are called when there is some") {
    const auto share =
        std::make_shared<http::ClientShare>(http::ShareLimits{.max_kept = 250, .max_held = 1'000});
    int rung = 0;
    {
      REQUIRE(share->take_body(400, [&] { ++rung; }));
      http::BodyRoom room(share, 400);
      CHECK_FALSE(share->take_body(200, [&] { ++rung; }));
      CHECK(rung == 0);
      room.shrink(250);
      CHECK(rung == 1);
      CHECK(share->held() == 250);
      CHECK(share->take_body(200, [] {}));
      share->resize_body(200, 0);
    }
    CHECK(share->held() == 0);
    CHECK(rung == 1);  // once
  }

  TEST_CASE("sessions do not multiply what is kept for a client, and another client has its own") {
    Hall hall({.share = {.max_kept = 1'000'000, .max_held = 4'000'000}});
    std::vector<gate::testing::FakeUpstream::Call*> waiting;
    hall.upstream_does = [&](auto& call) { waiting.push_back(&call); };
    std::vector<std::string> sessions;
    for (std::size_t i = 1; i <= 20; ++i) {
      sessions.push_back(begin_session(hall.port()));
      RawClient client(hall.port());
      client.send(post_text(
          hall.port(),
          {.session = sessions.back(),
           .body = request(1, "tools/call", {{"name", "git.commit"}, {"arguments", Json::object()}})
                       .dump()}));
      CHECK(becomes_true(hall, [&] { return waiting.size() == i; }));
    }
    CHECK(becomes_true(hall, [&] { return hall.door->connections() == 0; }));
    hall.on_loop([&] {
      for (auto* call : waiting) call->done(gate::testing::text_result(std::string(300'000, 'x')));
    });
    CHECK(hall.on_loop([&] { return hall.door->held_for("a"); }) <= 1'000'000);
    hall.upstream_does = [](auto& call) { call.done(gate::testing::text_result("done")); };
    CHECK(called(hall.port(), "token-a").status == 200);
    CHECK(called(hall.port(), "token-b").status == 200);
  }

  TEST_CASE("an answer that there is no room for says so, and the room comes back") {
    Hall hall({.share = {.max_kept = 1'000, .max_held = 100'000}});
    hall.upstream_does = [](auto& call) {
      call.done(gate::testing::text_result(std::string(200'000, 'x')));
    };
    const auto answer = called(hall.port(), "token-a");
    const std::string why = answer.messages().at(0).at("error").at("message");
    CHECK(why.find("the call was made, but its answer is not held") != std::string::npos);
    hall.upstream_does = [](auto& call) {
      call.done(gate::testing::text_result(std::string(50'000, 'x')));
    };
    for (int i = 0; i < 5; ++i)
      CHECK(called(hall.port(), "token-a").messages().at(0).contains("result"));
    CHECK(becomes_true(hall, [&] { return hall.door->held_for("a") == 0; }));
  }

  TEST_CASE("bodies that are begun and not ended take no more than their share") {
    Hall hall({.share = {.max_kept = 1'000, .max_held = 40'000'000}, .body_time = 300ms});
    std::vector<std::unique_ptr<RawClient>> half;
    for (int i = 0; i < 3; ++i) {
      half.push_back(std::make_unique<RawClient>(hall.port()));
      std::string text = post_text(hall.port(), {});
      text.replace(text.find("Content-Length: 0"), 17, "Content-Length: 15000000");
      half.back()->send(text);
    }
    // The first has its room and is too slow; the others wait for it and take their turn.
    for (auto& client : half) CHECK((client->is_closed() || client->read().status == 503));
    CHECK(becomes_true(hall, [&] { return hall.door->held_for("a") == 0; }));
    CHECK(called(hall.port(), "token-a").status == 200);
  }

  TEST_CASE("the time of a head ends with it: waiting for room is not counted") {
    Hall hall(
        {.share = {.max_kept = 1'000, .max_held = 40'000}, .head_time = 100ms, .body_time = 500ms});
    hall.upstream_does = [](auto&) {};  // the first keeps its room
    RawClient first(hall.port());
    first.send(post_text(hall.port(), {.more = stateless_headers("tools/call", "git.commit"),
                                       .body = call_of(1) + std::string(15'000, ' ')}));
    REQUIRE(becomes_true(hall, [&] { return hall.door->held_for("a") > 15'000; }));
    RawClient second(hall.port());
    std::string text = post_text(hall.port(), {});
    text.replace(text.find("Content-Length: 0"), 17, "Content-Length: 15000");
    second.send(text);
    const auto answer = second.read();
    CHECK(answer.status == 503);
    CHECK(answer.body.find("too much in work") != std::string::npos);
  }

  TEST_CASE("the time of a head ends with it: looking a token up is not counted") {
    Hall hall({.head_time = 100ms});
    int calls = 0;
    hall.upstream_does = [&](auto& call) {
      ++calls;
      call.done(gate::testing::text_result("done"));
    };
    RawClient client(hall.port());
    client.send(post_text(hall.port(), {.token = "undecided-token-a",
                                        .more = stateless_headers("tools/call", "git.commit"),
                                        .body = call_of(1)}));
    std::this_thread::sleep_for(300ms);
    hall.on_loop([&] { hall.decision->cancel(); });
    CHECK(client.read().status == 200);
    CHECK(hall.on_loop([&] { return calls; }) == 1);
  }

  TEST_CASE("whoever does not read their answer is cut off, and nothing is held for them") {
    Hall hall({.write_time = 300ms});
    hall.upstream_does = [](auto& call) {
      call.done(gate::testing::text_result(std::string(40'000'000, 'x')));
    };
    RawClient client(hall.port());
    client.send(post_text(
        hall.port(), {.more = stateless_headers("tools/call", "git.commit"), .body = call_of(1)}));
    CHECK(becomes_true(hall, [&] { return hall.door->held_for("a") > 0; }));
    CHECK(becomes_true(hall, [&] { return hall.door->connections() == 0; }));
    CHECK(hall.on_loop([&] { return hall.door->held_for("a"); }) == 0);
  }

  TEST_CASE("a token stands in no file of mcpac's, whatever is done with it") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    workspace.write("echo.policy", "allow fixture.echo\n");
    const auto created =
        workspace.mcpac({"token", "create", "one", "--policy", "echo.policy", "--json"});
    REQUIRE(created.exit_code == 0);
    Serving serving(workspace, {"--tokens", "--grant", "fixture.slow"});
    const std::vector<std::string> tokens{created.json().at("token"), serving.token()};
    for (const std::string& token : tokens) {
      const std::string list = request(1, "tools/list", stateless()).dump();
      CHECK(post(serving.port(),
                 {.token = token, .more = stateless_headers("tools/list"), .body = list})
                .status == 200);
      CHECK(post(serving.port(), {.token = token, .body = "{"}).status == 400);
      CHECK(post(serving.port(), {.token = token + "x", .body = list}).status == 401);
      std::string text = post_text(serving.port(), {.token = "", .body = list});
      text.replace(text.find("/mcp"), 4, "/mcp?access_token=" + token);
      RawClient in_address(serving.port());
      in_address.send(text);
      CHECK(in_address.read().status == 401);
    }
    CHECK(serving.end() == 0);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(workspace.folder())) {
      if (!entry.is_regular_file()) continue;
      const auto content = read_file(entry.path());
      if (!content) continue;
      ++files;
      for (const std::string& token : tokens) {
        CAPTURE(entry.path().string());
        CHECK(content->find(token) == std::string::npos);
      }
    }
    CHECK(files > 3);
  }

  TEST_CASE("one client's connections leave room for another's") {
    Hall hall({.max_connections = 40, .max_client_connections = 20});
    hall.upstream_does = [](auto&) {};
    std::vector<std::unique_ptr<RawClient>> busy;
    for (int i = 0; i < 20; ++i) {
      busy.push_back(std::make_unique<RawClient>(hall.port()));
      busy.back()->send(
          post_text(hall.port(),
                    {.more = stateless_headers("tools/call", "git.commit"), .body = call_of(i)}));
    }
    CHECK(becomes_true(hall, [&] { return hall.runs.at("a")->calls_in_flight() == 20; }));
    CHECK(called(hall.port(), "token-a").status == 503);
    hall.upstream_does = [](auto& call) { call.done(gate::testing::text_result("done")); };
    CHECK(called(hall.port(), "token-b").status == 200);
    busy.clear();
    CHECK(becomes_true(hall, [&] { return hall.runs.at("a")->calls_in_flight() == 0; }));
    CHECK(called(hall.port(), "token-a").status == 200);
  }

  TEST_CASE("another loopback address is called by its own name, and by no other") {
    Hall hall({}, "127.0.0.2");
    const auto status = [&](const std::string& host) {
      RawClient client(hall.port(), "127.0.0.2");
      client.send(post_text(hall.port(), {.more = stateless_headers("tools/call", "git.commit"),
                                          .host = host,
                                          .body = call_of(1)}));
      return client.read().status;
    };
    CHECK(status(fmt::format("127.0.0.2:{}", hall.port())) == 200);
    CHECK(status(fmt::format("127.0.0.1:{}", hall.port())) == 403);
    CHECK(status(fmt::format("localhost:{}", hall.port())) == 403);
  }

  TEST_CASE("a _meta that is no object is a wrong parameter, in either era") {
    Hall hall;
    const std::string session = begin_session(hall.port());
    for (const Json& meta : {Json("x"), Json(1), Json::array(), Json(nullptr)}) {
      const std::string body =
          request(4, "tools/call", {{"name", "git.commit"}, {"_meta", meta}}).dump();
      const std::vector<Post> posts{
          {.more = stateless_headers("tools/call", "git.commit"), .body = body},
          {.session = session, .body = body},
          {.body = body}};
      for (const Post& one : posts) {
        const auto answer = post(hall.port(), one);
        CHECK(answer.status == 400);
        CHECK(answer.json().at("error").at("code") == -32602);
        CHECK(answer.json().at("id") == 4);
      }
    }
  }

  TEST_CASE("what a client makes mcpac say is bounded, and what is left out is counted") {
    gate::testing::WorldClock clock;
    clock.stop();
    clock.pass(1h);
    std::vector<std::string> said;
    BoundedWarnings warn([&](std::string_view text) { said.emplace_back(text); }, clock);
    for (int i = 0; i < 1'000; ++i) warn("the policy does not load");
    CHECK(said.size() == 1);
    for (int i = 0; i < 1'000; ++i) warn(fmt::format("another {}", i));
    CHECK(said.size() == 10);
    clock.pass(1min);
    warn("the policy does not load");
    REQUIRE(said.size() == 12);
    CHECK(said[10] == "1990 warnings like those before were left out");
  }

  TEST_CASE("connections fit the descriptors that there are") {
    CHECK(cli::connections_within(1'024, 1, 2'048) == 384);
    CHECK(cli::connections_within(1'024, 2, 2'048) == 192);
    CHECK(cli::connections_within(1'000'000, 2, 2'048) == 2'048);
    CHECK(cli::connections_within(100, 1, 2'048) == 16);
  }

  TEST_CASE("who waits to hear whether a token is one takes a bounded room, however many come") {
    http::HttpLimits limits;
    limits.max_connections = 4;
    Hall hall(limits);
    std::vector<std::unique_ptr<RawClient>> waiting;
    for (int i = 0; i < 40; ++i) {
      waiting.push_back(std::make_unique<RawClient>(hall.port()));
      waiting.back()->send(post_text(hall.port(), {.token = "undecided", .body = call_of(1)}));
      CHECK(hall.on_loop([&] { return hall.door->connections(); }) <= 8);
    }
    hall.on_loop([&] { hall.decision->cancel(); });
    CHECK(becomes_true(hall, [&] { return hall.door->connections() <= 4; }));
    waiting.clear();
    CHECK(called(hall.port(), "token-a").status == 200);
  }

  TEST_CASE("ten thousand half-open connections keep nobody out, and fill no memory") {
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const rlimit before = limit;
    limit.rlim_cur = limit.rlim_max;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    const std::size_t many = std::min<std::size_t>(10'000, limit.rlim_cur - 200);
    MESSAGE("half-open connections: " << many);
    {
      const Workspace& workspace = Workspace::shared();
      Serving serving(workspace, {"--grant", "everything.echo"});
      const auto works = [&] {
        const auto answer =
            post(serving.port(), {.token = serving.token(),
                                  .more = stateless_headers("tools/call", "everything.echo"),
                                  .body = request(1, "tools/call",
                                                  stateless({{"name", "everything.echo"},
                                                             {"arguments", {{"message", "x"}}}}))
                                              .dump()});
        return answer.status == 200;
      };
      CHECK(works());
      const long calm = memory_of(serving.pid(), "VmRSS:");
      std::vector<std::unique_ptr<RawClient>> half;
      half.reserve(many);
      for (std::size_t i = 0; i < many; ++i) {
        half.push_back(std::make_unique<RawClient>(serving.port()));
        if (i % 2 == 0) half.back()->send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: ");
        if (i % 1'000 == 0) CHECK(works());
      }
      CHECK(works());
      const long most = memory_of(serving.pid(), "VmHWM:");
      MESSAGE("resident before " << calm << " KiB, at most " << most << " KiB");
      CHECK(most - calm < 100L * 1'024);
      CHECK(serving.end() == 0);
    }
    CHECK(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  }
}
