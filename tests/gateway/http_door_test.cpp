#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gateway/support_http.h"
#include "gateway/support_session.h"
#include "ipc/support_connections.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;
using namespace std::chrono_literals;

namespace {

std::string call_body(int id, std::string_view tool, Json arguments = Json::object()) {
  return request(id, "tools/call", {{"name", tool}, {"arguments", std::move(arguments)}}).dump();
}

std::string stateless_call(int id, std::string_view tool, Json arguments = Json::object()) {
  return request(id, "tools/call", stateless({{"name", tool}, {"arguments", std::move(arguments)}}))
      .dump();
}

std::string text_of(const Json& message) {
  return message.at("result").at("content").at(0).at("text");
}

}  // namespace

TEST_SUITE("gateway/http") {
  TEST_CASE("a session begins with initialize, calls, and ends with DELETE") {
    Hall hall;
    const std::string session = begin_session(hall.port());
    const auto called = post(hall.port(), {.session = session,
                                           .more = "MCP-Protocol-Version: 2025-11-25\r\n",
                                           .body = call_body(1, "git.commit")});
    CHECK(called.status == 200);
    CHECK(text_of(called.messages().at(0)) == "done: git.commit");
    RawClient client(hall.port());
    client.send(
        fmt::format("DELETE /mcp HTTP/1.1\r\nHost: localhost:{}\r\nAuthorization: Bearer "
                    "token-a\r\nMcp-Session-Id: {}\r\n\r\n",
                    hall.port(), session));
    CHECK(client.read().status == 204);
    CHECK(post(hall.port(), {.session = session, .body = call_body(2, "git.commit")}).status ==
          404);
  }

  TEST_CASE("a request of 2026-07-28 needs no session, and one connection carries many") {
    Hall hall;
    RawClient client(hall.port());
    for (int id = 1; id <= 3; ++id) {
      client.send(post_text(hall.port(), {.more = stateless_headers("tools/call", "git.commit"),
                                          .body = stateless_call(id, "git.commit")}));
      const auto answer = client.read();
      CHECK(answer.status == 200);
      CHECK(answer.header("mcp-session-id").empty());
      CHECK(answer.json().at("id") == id);
      CHECK(answer.json().at("result").at("resultType") == "complete");
    }
    CHECK(hall.on_loop([&] { return hall.door->sessions(); }) == 0);
  }

  TEST_CASE("a client that is gone without a word is noticed") {
    Hall hall;
    RawClient client(hall.port());
    client.send(post_text(hall.port(), {.more = stateless_headers("tools/call", "git.commit"),
                                        .body = stateless_call(1, "git.commit")}));
    CHECK(client.read().status == 200);
    const auto connections = test::connections_of_port(test::End::kOurs, hall.port());
    REQUIRE(connections.size() == 1);
    test::check_notices_dead_peer(connections.front());
  }

  TEST_CASE("nobody comes in without a token, and a token is taken from one place alone") {
    Hall hall;
    const std::string body = stateless_call(1, "git.commit");
    const std::string more = stateless_headers("tools/call", "git.commit");
    for (const std::string token : {"", "token-c", "TOKEN-A", "token-a token-a"}) {
      const auto answer = post(hall.port(), {.token = token, .more = more, .body = body});
      CHECK(answer.status == 401);
      CHECK(answer.header("www-authenticate").starts_with("Bearer"));
    }
    RawClient in_address(hall.port());
    std::string text = post_text(hall.port(), {.token = "", .more = more, .body = body});
    text.replace(text.find("/mcp"), 4, "/mcp?access_token=token-a");
    in_address.send(text);
    CHECK(in_address.read().status == 401);
    CHECK(post(hall.port(), {.more = "Authorization: Bearer token-b\r\n" + more, .body = body})
              .status == 400);
  }

  TEST_CASE("a name that was bent to this machine, and a page of another origin, are refused") {
    Hall hall;
    const std::string body = stateless_call(1, "git.commit");
    const std::string more = stateless_headers("tools/call", "git.commit");
    for (const std::string& host :
         {std::string("evil.example"), fmt::format("evil.example:{}", hall.port()),
          std::string("127.0.0.1"), std::string("127.0.0.1:1"),
          fmt::format("127.0.0.1:{}.evil.example", hall.port()),
          fmt::format("localhost.evil.example:{}", hall.port())}) {
      CAPTURE(host);
      CHECK(post(hall.port(), {.more = more, .host = host, .body = body}).status == 403);
    }
    for (const std::string origin : {"http://evil.example", "null", "https://localhost",
                                     "http://localhost", "http://127.0.0.1:1", "file://"}) {
      CAPTURE(origin);
      CHECK(post(hall.port(), {.more = more + "Origin: " + origin + "\r\n", .body = body}).status ==
            403);
    }
    const std::string own = fmt::format("Origin: http://localhost:{}\r\n", hall.port());
    CHECK(post(hall.port(), {.more = more + own, .body = body}).status == 200);
    CHECK(post(hall.port(), {.more = more + "Host: 127.0.0.1\r\n", .body = body}).status == 400);
  }

  TEST_CASE("a public URL admits the Host and Origin of its own clients, and no other") {
    Hall hall({}, "127.0.0.1", nullptr,
              {{.tls = true, .host = "mcp.example", .port = 443},
               {.tls = true, .host = "mcp.example", .port = 8443}});
    const std::string body = stateless_call(1, "git.commit");
    const std::string more = stateless_headers("tools/call", "git.commit");
    const auto of_host = [&](const std::string& host) {
      return post(hall.port(), {.more = more, .host = host, .body = body}).status;
    };
    const auto of_origin = [&](const std::string& origin) {
      return post(hall.port(), {.more = more + "Origin: " + origin + "\r\n", .body = body}).status;
    };
    for (const char* host : {"mcp.example", "MCP.example:443", "mcp.example:8443"})
      CHECK_MESSAGE(of_host(host) == 200, host);
    for (const std::string& host :
         {fmt::format("mcp.example:{}", hall.port()), std::string("mcp.example:"),
          std::string("mcp.example.evil.example"), std::string("mcp.example:443.evil.example"),
          std::string("evil.example"), std::string("127.0.0.1")})
      CHECK_MESSAGE(of_host(host) == 403, host);
    for (const char* origin : {"https://mcp.example", "https://mcp.example:8443"})
      CHECK_MESSAGE(of_origin(origin) == 200, origin);
    for (const char* origin :
         {"http://mcp.example", "https://mcp.example:1", "https://mcp.example.evil",
          "https://evil.mcp.example", "null", "https://mcp.example/"})
      CHECK_MESSAGE(of_origin(origin) == 403, origin);
  }

  TEST_CASE("a refusal of a name says the header, and the option that would let it in") {
    Hall hall;
    const auto said = [&](const std::string& host, const std::string& more) {
      const auto answer = post(hall.port(), {.more = more, .host = host, .body = "{}"});
      CHECK(answer.status == 403);
      return answer.json().at("error").at("message").get<std::string>();
    };
    CHECK(said("mcp.example:8443", "") ==
          "the header Host says mcp.example:8443, and this door has no such name. If it is yours: "
          "mcpac "
          "serve --host mcp.example, or --public-url https://mcp.example:8443, where a proxy "
          "before it "
          "is reached by that");
    CHECK(
        said("localhost", "") ==
        fmt::format("the header Host says localhost, and this door listens on port {}: mcpac serve "
                    "--public-url https://localhost, where a proxy before it is reached by that",
                    hall.port()));
    CHECK(said("a b;$(x)", "").find("--host NAME") != std::string::npos);
    CHECK(
        said("", "Origin: https://mcp.example\r\n") ==
        "the header Origin says https://mcp.example: pages of other origins may not speak to this "
        "server. If it is yours: mcpac serve --public-url https://mcp.example");
    CHECK(said("", "Origin: vscode-webview://x\r\n").find("no option of mcpac serve") !=
          std::string::npos);
  }

  TEST_CASE("HTTP/1.0 is spoken, as proxies do: no chunks, and the connection ends") {
    Hall hall({.json_within = 50ms});
    const auto old = [&](Post post) {
      std::string text = post_text(hall.port(), post);
      text.replace(text.find("HTTP/1.1"), 8, "HTTP/1.0");
      RawClient client(hall.port());
      client.send(text);
      return client.read_all();
    };
    const std::string more = stateless_headers("tools/call", "git.commit");
    const std::string quick =
        old({.more = more + "Connection: keep-alive\r\n", .body = stateless_call(1, "git.commit")});
    CHECK(quick.starts_with("HTTP/1.1 200"));
    CHECK(quick.find("done: git.commit") != std::string::npos);
    hall.upstream_does = [&](auto& call) {
      call.caller->progress({{"progress", 1}});
      call.done(gate::testing::text_result("late"));
    };
    Json params = stateless({{"name", "git.commit"}});
    params["_meta"]["progressToken"] = 5;
    const std::string late = old({.more = more, .body = request(1, "tools/call", params).dump()});
    CHECK(late.find("Content-Type: text/event-stream\r\n") != std::string::npos);
    CHECK(late.find("X-Accel-Buffering: no\r\n") != std::string::npos);
    CHECK(late.find("Transfer-Encoding") == std::string::npos);
    CHECK(late.find("\r\n\r\nevent: message\ndata: {") != std::string::npos);
    CHECK(late.ends_with("}\n\n"));
    CHECK(old({.more = more + "Transfer-Encoding: chunked\r\n"}).starts_with("HTTP/1.1 400"));
    CHECK(old({.host = "evil.example"}).starts_with("HTTP/1.1 403"));
    CHECK(old({.token = "", .more = "Expect: 100-continue\r\n"}).starts_with("HTTP/1.1 401"));
  }

  TEST_CASE("the endpoint may have a slash at its end, and Accept is read as clients send it") {
    Hall hall({.json_within = 50ms});
    bool is_late = false;
    hall.upstream_does = [&](auto& call) {
      if (is_late) call.caller->progress({{"progress", 1}});
      call.done(gate::testing::text_result("there"));
    };
    Json params = stateless({{"name", "git.commit"}});
    params["_meta"]["progressToken"] = 5;
    const std::string body = request(1, "tools/call", params).dump();
    const auto answer = [&](const std::string& accept, const std::string& path = "/mcp") {
      std::string text = post_text(
          hall.port(), {.more = stateless_headers("tools/call", "git.commit"), .body = body});
      constexpr std::string_view kUsual = "Accept: application/json, text/event-stream\r\n";
      text.replace(text.find(kUsual), kUsual.size(), accept);
      text.replace(text.find("/mcp"), 4, path);
      RawClient client(hall.port());
      client.send(text);
      return client.read();
    };
    CHECK(answer("", "/mcp/").status == 200);
    for (const char* path : {"/mcp//", "/mcp/x", "//mcp", "/"})
      CHECK_MESSAGE(answer("", path).status == 404, path);
    struct Case {
      const char* accept;
      const char* quick;  // the type of an answer that comes at once
      const char* late;   // and of one with something before it
    };
    constexpr const char* kJson = "application/json";
    constexpr const char* kEvents = "text/event-stream";
    for (const Case& one :
         {Case{"", kJson, kEvents}, Case{"Accept: */*\r\n", kJson, kEvents},
          Case{"Accept:\r\n", kJson, kEvents},
          Case{"Accept: text/*;q=0.5, application/*;q=0.9\r\n", kJson, kEvents},
          Case{"Accept: Application/JSON; q=1.0,text/event-stream;q=0.001\r\n", kJson, kEvents},
          Case{"Accept: application/json\r\nAccept: text/event-stream\r\n", kJson, kEvents},
          Case{"Accept: application/json\r\n", kJson, kJson},
          Case{"Accept: */*, text/event-stream;q=0\r\n", kJson, kJson},
          Case{"Accept: text/event-stream\r\n", kEvents, kEvents},
          Case{"Accept: application/json;q=0.0, */*\r\n", kEvents, kEvents}}) {
      CAPTURE(one.accept);
      is_late = false;
      const auto quick = answer(one.accept);
      CHECK(quick.header("content-type") == one.quick);
      CHECK(text_of(quick.messages().back()) == "there");
      is_late = true;
      const auto late = answer(one.accept);
      CHECK(late.header("content-type") == one.late);
      CHECK(text_of(late.messages().back()) == "there");
    }
    for (const char* none : {"Accept: text/html\r\n", "Accept: */*;q=0\r\n"}) {
      CAPTURE(none);
      CHECK(answer(none).status == 406);
    }
  }

  TEST_CASE("a session is nobody's but the guest's who began it") {
    Hall hall;
    const std::string session = begin_session(hall.port(), "token-a");
    const std::string body = call_body(1, "git.commit");
    CHECK(post(hall.port(), {.token = "token-b", .session = session, .body = body}).status == 404);
    CHECK(post(hall.port(), {.session = std::string(32, '0'), .body = body}).status == 404);
    CHECK(post(hall.port(), {.body = body}).status == 400);
    for (const std::string verb : {"GET", "DELETE"}) {
      RawClient client(hall.port());
      client.send(
          fmt::format("{} /mcp HTTP/1.1\r\nHost: localhost:{}\r\nAccept: text/event-stream"
                      "\r\nAuthorization: Bearer token-b\r\nMcp-Session-Id: {}\r\n\r\n",
                      verb, hall.port(), session));
      CHECK(client.read().status == 404);
    }
    CHECK(post(hall.port(), {.session = session, .body = body}).status == 200);
    CHECK(begin_session(hall.port()) != session);
  }

  TEST_CASE("headers that say another thing than the body are refused") {
    Hall hall;
    const std::string body = stateless_call(7, "git.commit");
    const std::string version = "MCP-Protocol-Version: 2026-07-28\r\n";
    const std::vector<std::string> wrong{
        version + "Mcp-Method: tools/list\r\nMcp-Name: git.commit\r\n",
        version + "Mcp-Method: tools/call\r\nMcp-Name: fs.read\r\n",
        version + "Mcp-Method: tools/call\r\n",
        version + "Mcp-Name: git.commit\r\n",
        "Mcp-Method: tools/call\r\nMcp-Name: git.commit\r\n",
        "MCP-Protocol-Version: 2025-11-25\r\nMcp-Method: tools/call\r\nMcp-Name: git.commit\r\n",
        version + "Mcp-Method: tools/call\r\nMcp-Name: =?base64?Z&=?=\r\n"};
    for (const std::string& more : wrong) {
      CAPTURE(more);
      const auto answer = post(hall.port(), {.more = more, .body = body});
      CHECK(answer.status == 400);
      CHECK(answer.json().at("error").at("code") == -32020);
      CHECK(answer.json().at("id") == 7);
    }
    CHECK(post(hall.port(), {.more = version + "Mcp-Method: tools/call\r\nMcp-Name: a\r\n" +
                                     "Mcp-Name: git.commit\r\n",
                             .body = body})
              .status == 400);
    // "git.commit"
    CHECK(post(hall.port(), {.more = stateless_headers("tools/call", "=?base64?Z2l0LmNvbW1pdA==?="),
                             .body = body})
              .status == 200);
    const std::string session = begin_session(hall.port());
    CHECK(post(hall.port(), {.session = session,
                             .more = "MCP-Protocol-Version: 2024-11-05\r\n",
                             .body = call_body(1, "git.commit")})
              .status == 400);
  }

  TEST_CASE("where a body ends is said in one way, or the connection ends") {
    Hall hall;
    const std::string head = fmt::format(
        "POST /mcp HTTP/1.1\r\nHost: localhost:{}\r\nAuthorization: Bearer token-a\r\n"
        "Content-Type: application/json\r\nAccept: */*\r\n",
        hall.port());
    const std::string hidden = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const std::vector<std::string> attacks{
        head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
        head + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + hidden,
        head + "Content-Length: 5\r\nContent-Length: 50\r\n\r\n12345" + hidden,
        head + "Content-Length: 5, 50\r\n\r\n12345" + hidden,
        head + "Content-Length: +5\r\n\r\n12345" + hidden,
        head + "Content-Length: 5, 5\r\n\r\n12345" + hidden,
        head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + hidden,
        head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden,
        head + "Content-Length: 5\r\nTransfer-Encoding:\r\n\r\n12345" + hidden,
        head + "Transfer-Encoding: \r\nContent-Length: 5\r\n\r\n12345" + hidden,
        head + "Transfer-Encoding:\r\n\r\n0\r\n\r\n" + hidden,
        head + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + hidden,
        "GET /mcp HTTP/0.9\r\n\r\n",
        "\r\n\r\n\x16\x03\x01",
        head + "X: a\r\n b\r\nContent-Length: -1\r\n\r\n"};
    for (const std::string& bytes : attacks) {
      CAPTURE(bytes);
      RawClient client(hall.port());
      client.send(bytes);
      const auto answer = client.read();
      CHECK((answer.status >= 400 && answer.status < 600));
      CHECK(client.is_closed());  // what was hidden behind it is no request
    }
  }

  TEST_CASE("a head that others may read in another way is refused, and says why") {
    Hall hall;
    const std::string whole =
        post_text(hall.port(), {.more = stateless_headers("tools/call", "git.commit"),
                                .body = stateless_call(1, "git.commit")});
    const auto with = [&](std::string_view line) {
      std::string bytes = whole;
      bytes.insert(bytes.find("\r\n") + 2, line);
      return bytes;
    };
    const std::vector<std::string> heads{
        with("X-A: one\r\n two\r\n"),   with("X-A: one\r\n\ttwo\r\n"),
        with("X-A:\r\n two\r\n"),       with("X-A: one\r\n \r\n"),
        with(" X-A: one\r\n"),          with("\tX-A: one\r\n"),
        with("X-A: o\rne\r\n"),         with("X-A: one\r\r\n"),
        with("X-A: one\nX-B: two\r\n"), with(std::string_view("X-A: o\0ne\r\n", 12)),
        with("X-A : one\r\n"),          with("X-\x01: one\r\n"),
        with("Host: localhost\r\n"),    with("Content-Length: 5\r\n")};
    for (const std::string& bytes : heads) {
      CAPTURE(bytes);
      RawClient client(hall.port());
      client.send(bytes);
      CHECK(client.read().status == 400);
      CHECK(client.is_closed());
    }
    // Folded, and a byte at a time: no piece has the line and the blank in it.
    RawClient slowly(hall.port());
    const std::string folded = with("X-A: one\r\n two\r\n");
    for (const char byte : folded.substr(0, folded.find(" two") + 1)) slowly.send({&byte, 1});
    const auto answer = slowly.read();
    CHECK(answer.status == 400);
    CHECK(answer.json().at("error").at("message") ==
          "a header line begins with a blank: send each header in one line");
    // A body may begin with a blank, and an empty value is one.
    RawClient honest(hall.port());
    std::string blank = with("X-A:\r\n");
    const auto length = fmt::format("Content-Length: {}", stateless_call(1, "git.commit").size());
    const auto more = fmt::format("Content-Length: {}", stateless_call(1, "git.commit").size() + 4);
    REQUIRE(blank.find(length) != std::string::npos);
    blank.replace(blank.find(length), length.size(), more);
    blank.insert(blank.find("\r\n\r\n") + 4, "\r\n \t");
    honest.send(blank);
    CHECK(honest.read().status == 200);
  }

  TEST_CASE("while one client's long bodies are read, another's calls are answered") {
    Hall hall;
    // A quarter of a million values: more work than any text of that size.
    std::string values = "[0";
    while (values.size() < (std::size_t{1} << 19U)) values += ",0";
    std::string longer = stateless_call(1, "git.commit");
    const std::string none = "\"arguments\":{}";
    longer.replace(longer.find(none), none.size(), "\"arguments\":{\"list\":" + values + "]}");
    const Post sent{
        .token = "token-a", .more = stateless_headers("tools/call", "git.commit"), .body = longer};
    std::vector<std::unique_ptr<RawClient>> senders;
    for (int i = 0; i < 8; ++i) {
      senders.push_back(std::make_unique<RawClient>(hall.port()));
      senders.back()->send(post_text(hall.port(), sent));
    }
    // As many as are answered until all of those were: read one after the other on the loop, each
    // would have let one of these through.
    std::size_t answered = 0;
    std::size_t left = senders.size();
    RawClient other(hall.port());
    const std::string small =
        post_text(hall.port(), {.token = "token-b",
                                .more = stateless_headers("tools/call", "git.commit"),
                                .body = stateless_call(1, "git.commit")});
    while (left > 0) {
      other.send(small);
      REQUIRE(other.read().status == 200);
      ++answered;
      left = static_cast<std::size_t>(
          std::ranges::count_if(senders, [](const auto& sender) { return !sender->has_more(); }));
    }
    MESSAGE("answered meanwhile: ", answered);
    CHECK(answered > 4 * senders.size());
    for (const auto& sender : senders) CHECK(sender->read().status != 0);
  }

  TEST_CASE("what needs no token ends the connection, and takes no body") {
    Hall hall;
    const std::string head =
        fmt::format("GET /healthz HTTP/1.1\r\nHost: localhost:{}\r\n", hall.port());
    const std::string next = head + "\r\n";
    const std::vector<std::pair<std::string, int>> requests{
        {head + "\r\n", 200},
        {head + "Content-Length: 0\r\n\r\n", 200},
        {head + fmt::format("Content-Length: {}\r\n\r\n", next.size()), 400},
        {head + "Transfer-Encoding: chunked\r\n\r\n", 400}};
    for (const auto& [bytes, status] : requests) {
      CAPTURE(bytes);
      RawClient client(hall.port());
      client.send(bytes + next);
      CHECK(client.read().status == status);
      CHECK(client.is_closed());
    }
  }

  TEST_CASE("bodies and heads over their limits are refused before they are read") {
    Hall hall({.max_head = 4'096, .max_body = 1'000});
    CHECK(post(hall.port(), {.body = std::string(2'000, ' ')}).status == 413);
    CHECK(post(hall.port(), {.more = "X-Long: " + std::string(8'000, 'x') + "\r\n"}).status == 431);
    RawClient chunked(hall.port());
    std::string text = post_text(hall.port(), {});
    text.replace(text.find("Content-Length: 0"), 17, "Transfer-Encoding: chunked");
    chunked.send(text + "fff\r\n" + std::string(4'095, ' ') + "\r\n");
    CHECK(chunked.read().status == 413);
  }

  TEST_CASE("a client that is too slow with a head or a body is cut off") {
    Hall hall({.head_time = 300ms, .body_time = 300ms});
    RawClient silent(hall.port());
    CHECK(silent.is_closed());
    RawClient dripping(hall.port());
    const std::string head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
    bool cut = false;
    for (std::size_t i = 0; i < head.size() && !cut; ++i) {
      dripping.send(head.substr(i, 1));
      std::this_thread::sleep_for(20ms);
      cut = hall.on_loop([&] { return hall.door->connections(); }) == 0;
    }
    CHECK(cut);
    // Nor does it rest that has begun its next request.
    RawClient known(hall.port());
    known.send(post_text(hall.port(), {.more = stateless_headers("tools/call", "git.commit"),
                                       .body = stateless_call(1, "git.commit")}));
    CHECK(known.read().status == 200);
    known.send("POST /mcp HTTP/1.1\r\nHos");
    CHECK(known.is_closed());
    RawClient half(hall.port());
    half.send(post_text(hall.port(), {.body = stateless_call(1, "git.commit")}).substr(0, 250));
    CHECK(half.is_closed());
  }

  TEST_CASE("thousands of connections that say nothing keep nobody out") {
    Hall hall({.max_connections = 50});
    std::vector<std::unique_ptr<RawClient>> idle;
    for (int i = 0; i < 500; ++i) idle.push_back(std::make_unique<RawClient>(hall.port()));
    CHECK(post(hall.port(), {.more = stateless_headers("tools/call", "git.commit"),
                             .body = stateless_call(1, "git.commit")})
              .status == 200);
    CHECK(hall.on_loop([&] { return hall.door->connections(); }) <= 50);
  }

  TEST_CASE("a late answer comes over a stream, with what was reported before it") {
    Hall hall({.json_within = 100ms});
    hall.upstream_does = [&](auto& call) {
      call.caller->progress({{"progress", 1}});
      std::thread([&hall, &call] {
        std::this_thread::sleep_for(300ms);
        hall.on_loop([&] { call.done(gate::testing::text_result("late")); });
      }).detach();
    };
    Json params = stateless({{"name", "git.commit"}});
    params["_meta"]["progressToken"] = 5;
    const auto answer = post(hall.port(), {.more = stateless_headers("tools/call", "git.commit"),
                                           .body = request(1, "tools/call", params).dump()});
    CHECK(answer.header("content-type") == "text/event-stream");
    const auto messages = answer.messages();
    REQUIRE(messages.size() == 2);
    CHECK(messages[0].at("params") == Json{{"progress", 1}, {"progressToken", 5}});
    CHECK(text_of(messages[1]) == "late");
  }

  TEST_CASE("a stateless client that goes takes its call back; one with a session may come back") {
    Hall hall({.json_within = 50ms});
    std::vector<gate::testing::FakeUpstream::Call*> waiting;
    hall.upstream_does = [&](auto& call) { waiting.push_back(&call); };
    {
      RawClient client(hall.port());
      client.send(post_text(hall.port(), {.more = stateless_headers("tools/call", "git.commit"),
                                          .body = stateless_call(1, "git.commit")}));
      CHECK(becomes_true(hall, [&] { return waiting.size() == 1; }));
    }
    CHECK(becomes_true(hall, [&] { return hall.runs.at("a")->calls_in_flight() == 0; }));

    const std::string session = begin_session(hall.port());
    std::string seen;
    {
      RawClient client(hall.port());
      Json params{{"name", "git.commit"}, {"_meta", {{"progressToken", 1}}}};
      client.send(post_text(hall.port(),
                            {.session = session, .body = request(2, "tools/call", params).dump()}));
      CHECK(becomes_true(hall, [&] { return waiting.size() == 2; }));
      hall.on_loop([&] { waiting[1]->caller->progress({{"progress", 1}}); });
      const std::string begun = client.read_until("\n\n");
      CHECK(begun.find("\"progress\":1") != std::string::npos);
      const auto at = begun.find("id: ");
      REQUIRE(at != std::string::npos);
      seen = begun.substr(at + 4, begun.find('\n', at) - at - 4);
    }
    hall.on_loop([&] { waiting[1]->done(gate::testing::text_result("kept")); });
    const auto resume = [&](const std::string& token, const std::string& last) {
      RawClient again(hall.port());
      again.send(
          fmt::format("GET /mcp HTTP/1.1\r\nHost: localhost:{}\r\nAccept: text/event-stream"
                      "\r\nAuthorization: Bearer {}\r\nMcp-Session-Id: {}\r\nLast-Event-ID: "
                      "{}\r\n\r\n",
                      hall.port(), token, session, last));
      return again.read();
    };
    CHECK(resume("token-b", seen).status == 404);
    CHECK(resume("token-a", "99-0").status == 400);
    CHECK(resume("token-a", "made up").status == 400);
    const auto answer = resume("token-a", seen);
    REQUIRE(answer.messages().size() == 1);
    CHECK(text_of(answer.messages()[0]) == "kept");
  }

  TEST_CASE("a server that reports without end fills no memory, and its answer arrives") {
    Hall hall({.json_within = 50ms});
    const std::string report(100'000, 'x');
    gate::testing::FakeUpstream::Call* waiting = nullptr;
    hall.upstream_does = [&](auto& call) {
      for (int i = 0; i < 1'000; ++i) call.caller->progress({{"message", report}});
      waiting = &call;
    };
    Json params = stateless({{"name", "git.commit"}});
    params["_meta"]["progressToken"] = 1;
    RawClient client(hall.port());
    client.send(post_text(hall.port(), {.more = stateless_headers("tools/call", "git.commit"),
                                        .body = request(1, "tools/call", params).dump()}));
    CHECK(becomes_true(hall, [&] { return waiting != nullptr; }));
    hall.on_loop([&] { waiting->done(gate::testing::text_result("at last")); });
    const auto messages = client.read().messages();
    CHECK(messages.size() < 20);
    CHECK(text_of(messages.back()) == "at last");
  }

  TEST_CASE("answers that nobody takes do not keep a session from working") {
    Hall hall;
    std::vector<gate::testing::FakeUpstream::Call*> waiting;
    const std::string session = begin_session(hall.port());
    hall.upstream_does = [&](auto& call) { waiting.push_back(&call); };
    for (std::size_t id = 1; id <= 200; ++id) {
      RawClient client(hall.port());
      client.send(post_text(hall.port(), {.session = session,
                                          .body = call_body(static_cast<int>(id), "git.commit")}));
      CHECK(becomes_true(hall, [&] { return waiting.size() == id; }));
    }
    hall.upstream_does = [](auto& call) { call.done(gate::testing::text_result("done")); };
    hall.on_loop([&] {
      for (auto* call : waiting) call->done(gate::testing::text_result(std::string(400'000, 'x')));
    });
    CHECK(post(hall.port(), {.session = session, .body = call_body(500, "git.commit")}).status ==
          200);
  }

  TEST_CASE("what the client takes back ends its stream without an answer") {
    Hall hall({.json_within = 50ms});
    hall.upstream_does = [](auto&) {};
    const std::string session = begin_session(hall.port());
    RawClient client(hall.port());
    client.send(post_text(hall.port(), {.session = session, .body = call_body(1, "git.commit")}));
    CHECK(becomes_true(hall, [&] { return hall.runs.at("a")->calls_in_flight() == 1; }));
    const Json cancel{
        {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 1}}}};
    CHECK(post(hall.port(), {.session = session, .body = cancel.dump()}).status == 202);
    CHECK(client.read().messages().empty());
  }

  TEST_CASE("what concerns no request is heard on the GET stream") {
    Hall hall;
    const std::string session = begin_session(hall.port());
    RawClient client(hall.port());
    const std::string get = fmt::format(
        "GET /mcp HTTP/1.1\r\nHost: localhost:{}\r\nAccept: text/event-stream\r\n"
        "Authorization: Bearer token-a\r\nMcp-Session-Id: {}\r\n\r\n",
        hall.port(), session);
    client.send(get);
    client.read_until("\r\n\r\n");
    hall.on_loop([&] { hall.runs.at("a")->heard_of_drift("changed", "git.commit"); });
    CHECK(client.read_until("\n\n").find("notifications/tools/list_changed") != std::string::npos);
  }

  TEST_CASE("who listens anew hears on, though the connection before was never seen to end") {
    Hall hall;
    const std::string session = begin_session(hall.port());
    const std::string get = fmt::format(
        "GET /mcp HTTP/1.1\r\nHost: localhost:{}\r\nAccept: text/event-stream\r\n"
        "Authorization: Bearer token-a\r\nMcp-Session-Id: {}\r\n\r\n",
        hall.port(), session);
    RawClient before(hall.port());
    before.send(get);
    before.read_until("\r\n\r\n");
    RawClient after(hall.port());
    after.send(get);
    CHECK(after.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
    hall.on_loop([&] { hall.runs.at("a")->heard_of_drift("changed", "git.commit"); });
    CHECK(after.read_until("\n\n").find("notifications/tools/list_changed") != std::string::npos);
    CHECK(before.is_closed());
  }

  TEST_CASE("a run that is ended ends its streams, and the door that closes all of them") {
    Hall hall;
    hall.upstream_does = [](auto&) {};
    RawClient client(hall.port());
    client.send(post_text(hall.port(), {.more = stateless_headers("tools/call", "git.commit"),
                                        .body = stateless_call(1, "git.commit")}));
    CHECK(becomes_true(hall, [&] { return hall.runs.at("a")->calls_in_flight() == 1; }));
    hall.on_loop([&] { hall.runs.at("a")->end("killed-by-user"); });
    CHECK(client.read().messages().empty());
    RawClient other(hall.port());
    hall.on_loop([&] { hall.door->close(); });
    CHECK(other.is_closed());
  }

  TEST_CASE("other paths, methods and media are told what is wrong") {
    Hall hall;
    const auto send = [&](const std::string& line, const std::string& more) {
      RawClient client(hall.port());
      client.send(
          fmt::format("{} HTTP/1.1\r\nHost: localhost:{}\r\nAuthorization: Bearer token-a"
                      "\r\n{}\r\n",
                      line, hall.port(), more));
      return client.read().status;
    };
    CHECK(send("GET /", "") == 404);
    CHECK(send("GET /mcp?x=1", "Accept: text/event-stream\r\n") == 404);
    CHECK(send("GET /mcp", "Accept: application/json\r\n") == 406);
    CHECK(send("GET /mcp", "Accept: text/event-stream\r\n") == 405);
    CHECK(send("PUT /mcp", "Content-Length: 0\r\n") == 405);
    CHECK(send("DELETE /mcp", "") == 405);
    CHECK(send("GET /healthz", "") == 200);
    CHECK(post(hall.port(), {.more = "Content-Encoding: gzip\r\n"}).status == 415);
    CHECK(post(hall.port(), {.body = "{"}).status == 400);
    CHECK(post(hall.port(), {.body = "[]"}).status == 400);
    const std::string long_id(300, 'x');
    for (const std::string& id : {std::string("7"), "\"" + long_id + "\""}) {
      const auto unread = post(
          hall.port(),
          {.body = R"({"jsonrpc":"2.0","method":"ping","params":{"a":"\ud800"},"id":)" + id + "}"});
      CHECK(unread.status == 400);
      CHECK(unread.json().at("error").at("code") == -32700);
      CHECK(unread.json().at("id") == (id == "7" ? Json(7) : Json()));
    }
    const auto unknown =
        post(hall.port(), {.more = stateless_headers("tools/nothing"),
                           .body = request(1, "tools/nothing", stateless()).dump()});
    CHECK(unknown.status == 404);
    CHECK(unknown.json().at("error").at("code") == -32601);
  }
}
