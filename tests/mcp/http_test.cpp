// The client over Streamable HTTP, against tests/servers/http_fixture.mjs.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <future>
#include <optional>
#include <vector>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "core/file.h"
#include "ipc/lookups.h"
#include "ipc/support_connections.h"
#include "mcp/http_connection.h"
#include "mcp/support_http.h"

using namespace mcpac;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using namespace test;

namespace {

bool asked(const Json& log, std::string_view method) {
  return std::ranges::any_of(log, [&](const Json& e) { return e["method"] == method; });
}

}  // namespace

TEST_SUITE("mcp/http") {
  TEST_CASE("a server with sessions is initialized, listed and called, with JSON and with events") {
    HttpFixture web({"initialize"});
    for (const std::string path : {"/json", "/sse"}) {
      ConnectedOverHttp server(web.config(path));
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      CHECK((*server).protocol_version() == "2025-11-25");
      auto listing = server.list();
      REQUIRE_MESSAGE(listing.has_value(), test::shown(listing));
      CHECK(listing->tools.size() == 7);
      CHECK(listing->implementation == "http-fixture 4.5.6");
      CHECK(text_of(server.call("echo", args(R"({"a":1})"))) ==
            R"({"tool":"echo","arguments":{"a":1}})");
    }
  }

  TEST_CASE(
      "session and protocol version travel as headers, and the session is deleted at the end") {
    HttpFixture web({"initialize"});
    {
      ConnectedOverHttp server(web.config("/json"));
      auto headers = parse_json(text_of(server.call("headers")));
      REQUIRE(headers.has_value());
      CHECK((*headers)["mcp-session-id"] == "session-1");
      CHECK((*headers)["mcp-protocol-version"] == "2025-11-25");
      CHECK((*headers)["accept"] == "application/json, text/event-stream");
      CHECK_FALSE(headers->contains("mcp-method"));
    }
    const Json log = web.log();
    CHECK(log[1]["method"] == "initialize");
    CHECK(log[1]["version"].is_null());
    CHECK(log[2]["method"] == "notifications/initialized");
    CHECK(log.back()["method"] == "DELETE");
    CHECK(log.back()["session"] == "session-1");
  }

  TEST_CASE("a stateless server gets its headers and no session") {
    for (const std::string mode : {"stateless", "both"}) {
      HttpFixture web({mode});
      {
        ConnectedOverHttp server(web.config("/sse"));
        REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
        CHECK((*server).protocol_version() == "2026-07-28");
        CHECK(text_of(server.call("echo")) == R"({"tool":"echo","arguments":{}})");
        CHECK(text_of(server.call("naïve näme")).find("naïve") != std::string::npos);
      }
      const Json log = web.log();
      CHECK_FALSE(asked(log, "initialize"));
      CHECK_FALSE(asked(log, "DELETE"));
      CHECK(log[1]["mcpMethod"] == "tools/call");
      CHECK(log[1]["mcpName"] == "echo");
      CHECK(log[2]["mcpName"] == "=?base64?bmHDr3ZlIG7DpG1l?=");
    }
  }

  TEST_CASE("a lost session is an error, for this call and all after it") {
    HttpFixture web({"initialize"});
    ConnectedOverHttp server(web.config("/loses-session"));
    CHECK(server.call("echo").has_value());
    auto lost = server.call("echo");
    CHECK(id_of(lost) == ErrorId::kServerHttp);
    CHECK(lost.error().what.find("session") != std::string::npos);
    CHECK(id_of(server.call("echo")) == ErrorId::kServerHttp);
  }

  TEST_CASE("a stream that breaks before the answer is resumed where it broke") {
    HttpFixture web({"initialize"});
    ConnectedOverHttp server(web.config("/resume"));
    CHECK(text_of(server.call("echo")) == R"({"tool":"echo","arguments":{}})");
    CHECK(web.log().back()["method"] == "GET");
  }

  TEST_CASE(
      "a stream that breaks and cannot be resumed is an error, and the call is not repeated") {
    HttpFixture web({"initialize"});
    ConnectedOverHttp server(web.config("/broken"));
    CHECK(id_of(server.call("echo")) == ErrorId::kServerHttp);
    const Json log = web.log();
    CHECK(std::ranges::count_if(log, [](const Json& e) { return e["method"] == "tools/call"; }) ==
          1);
  }

  TEST_CASE("a redirect to another path of the same origin is followed, with the headers") {
    HttpFixture web({"initialize"});
    for (const auto* path : {"/moves", "/moves-whole"}) {
      auto config = web.config(path);
      config.headers = {{"X-Mine", "there"}};
      ConnectedOverHttp server(config);
      REQUIRE_MESSAGE(server.client.has_value(), shown(server.client));
      auto headers = parse_json(text_of(server.call("headers")));
      REQUIRE(headers.has_value());
      CHECK((*headers)["x-mine"] == "there");
    }
  }

  TEST_CASE("redirects, refusals and web pages are errors that say what to do") {
    HttpFixture web({"initialize"});
    ConnectedOverHttp moved(web.config("/redirect"));
    REQUIRE_FALSE(moved.client.has_value());
    CHECK(moved.client.error().id == ErrorId::kServerHttp);
    CHECK(moved.client.error().fix.find("http://127.0.0.1:1/elsewhere") != std::string::npos);
    ConnectedOverHttp circle(web.config("/circle"));
    REQUIRE_FALSE(circle.client.has_value());
    CHECK(circle.client.error().fix.find(web.config("/circle?").url) != std::string::npos);
    ConnectedOverHttp busy(web.config("/busy"));
    REQUIRE_FALSE(busy.client.has_value());
    CHECK(busy.client.error().fix == "it asks to wait: Retry-After: 7");
    ConnectedOverHttp page(web.config("/html"));
    REQUIRE_FALSE(page.client.has_value());
    CHECK(page.client.error().what.find("text/html") != std::string::npos);
    ConnectedOverHttp unknown(web.config("/unauthorized"));
    REQUIRE_FALSE(unknown.client.has_value());
    CHECK(unknown.client.error().what.find("401") != std::string::npos);
    CHECK(unknown.client.error().fix.find("Authorization") != std::string::npos);
  }

  TEST_CASE("a secret header reaches the server and no error shows it") {
    ::setenv("MCPAC_TEST_BEARER", "b34rer-s3cret", 1);
    HttpFixture web({"initialize"});
    auto config = web.config("/unauthorized");
    config.headers = {{"Authorization", "Bearer ${env:MCPAC_TEST_BEARER}"}};
    ConnectedOverHttp refused(config);
    REQUIRE_FALSE(refused.client.has_value());
    CHECK(refused.client.error().why == "no: Bearer ${env:MCPAC_TEST_BEARER}");
    config.url = web.config("/json").url;
    ConnectedOverHttp server(config);
    auto headers = parse_json(text_of(server.call("headers")));
    REQUIRE(headers.has_value());
    CHECK((*headers)["authorization"] == "Bearer ${env:MCPAC_TEST_BEARER}");
  }

  TEST_CASE("a line break in an expanded header is refused before anything is sent") {
    ::setenv("MCPAC_TEST_BROKEN", "x\r\nX-Injected: yes", 1);
    HttpFixture web({"initialize"});
    auto config = web.config("/json");
    config.headers = {{"Authorization", "${env:MCPAC_TEST_BROKEN}"}};
    ConnectedOverHttp server(config);
    REQUIRE_FALSE(server.client.has_value());
    CHECK(server.client.error().id == ErrorId::kConfigInvalid);
    CHECK(server.client.error().to_text().find("Injected") == std::string::npos);
    CHECK(web.log().empty());
  }

  TEST_CASE("a folded header line of an answer is one line, and a torn one is no answer") {
    const auto answered = [](const std::string& lines) {
      asio::io_context loop;
      asio::ip::tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), 0});
      const auto place =
          mcp::parse_url(fmt::format("http://127.0.0.1:{}/", acceptor.local_endpoint().port()));
      REQUIRE(place.has_value());
      // Accepted by the kernel; the answer is there before the request is.
      const auto connection = mcp::HttpConnection::make(loop.get_executor(), *place, nullptr);
      REQUIRE(test::run(loop, connection->open()).has_value());
      asio::ip::tcp::socket socket = acceptor.accept();
      asio::write(socket,
                  asio::buffer("HTTP/1.1 200 OK\r\n" + lines + "Content-Length: 0\r\n\r\n"));
      mcp::HttpRequest request(boost::beast::http::verb::get, place->target, 11);
      request.set(boost::beast::http::field::host, place->authority());
      auto head = test::run(loop, connection->exchange(std::move(request)));
      connection->close();
      return head;
    };
    // RFC 9112, section 5.2: a user agent replaces the fold by a blank.
    const auto folded = answered("Location: /a\r\n \t/b\r\n");
    REQUIRE(folded.has_value());
    CHECK(folded->location == "/a /b");
    for (const char* lines : {"Location: /a\r/b\r\n", "Location: /a\nX: y\r\n", "Location : /a\r\n",
                              "Content-Length: 5\r\n"}) {
      CAPTURE(lines);
      CHECK_FALSE(answered(lines).has_value());
    }
  }

  TEST_CASE("an event without end is cut off at the limit") {
    HttpFixture web({"initialize"});
    ConnectedOverHttp server(web.config("/endless"));
    CHECK(id_of(server.call("echo")) == ErrorId::kServerLimit);
  }

  TEST_CASE("a JSON answer over the limit is an error") {
    HttpFixture web({"initialize"});
    ConnectedOverHttp server(web.config("/json"));
    CHECK(text_of(server.call("big", args(R"({"bytes":10485760})"))).size() == 10485760);
    CHECK(id_of(server.call("big", args(R"({"bytes":17000000})"))) == ErrorId::kServerLimit);
    CHECK(server.call("echo").has_value());
  }

  TEST_CASE("what frames an answer is bounded like the answer itself") {
    for (const std::string path : {"/long-chunk-line", "/long-trailer"}) {
      CAPTURE(path);
      HttpFixture web({"initialize"});
      ConnectedOverHttp server(web.config(path));
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      CHECK(id_of(server.call("echo")) == ErrorId::kServerLimit);
    }
  }

  TEST_CASE(
      "informational responses are no answers: some are skipped, and none is left to the next "
      "call") {
    HttpFixture web({"initialize"});
    ConnectedOverHttp server(web.config("/informs"));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    const auto echoed = [](const char* given) {
      return fmt::format(R"({{"tool":"echo","arguments":{}}})", given);
    };
    for (const char* given : {R"({"status":103,"times":1})", R"({"status":100,"times":16})"})
      CHECK(text_of(server.call("echo", args(given))) == echoed(given));
    for (const char* given : {R"({"status":103,"times":17})", R"({"status":101,"times":1})"}) {
      CHECK(id_of(server.call("echo", args(given))) == ErrorId::kServerProtocol);
      const char* next = R"({"status":100,"times":0})";
      CHECK(text_of(server.call("echo", args(next))) == echoed(next));
    }
  }

  TEST_CASE("a server that asks on and takes no answers is given up") {
    HttpFixture web({"initialize"});
    ConnectedOverHttp server(web.config("/asks-on"));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    CHECK(server.call("echo", args(R"({"times":60})")).has_value());
    const auto flooded = server.call("echo", args(R"({"times":60})"));
    CHECK(id_of(flooded) == ErrorId::kServerLimit);
    CHECK(flooded.error().what.find("does not take the answers") != std::string::npos);
    CHECK_FALSE((*server).is_alive());
  }

  TEST_CASE("a call whose time is up is cancelled") {
    HttpFixture web({"initialize"});
    ConnectedOverHttp server(web.config("/json"));
    CHECK(id_of(server.call("slow", args(R"({"ms":60000})"), 50ms)) == ErrorId::kServerTimeout);
    CHECK(server.call("echo").has_value());
    CHECK(asked(web.log(), "notifications/cancelled"));
  }

  TEST_CASE("calls that no coroutine waits for end each by itself: answered, late, taken back") {
    HttpFixture web({"stateless"});
    for (const std::string path : {"/json", "/sse"}) {
      CAPTURE(path);
      ConnectedOverHttp server(web.config(path));
      asio::cancellation_signal signal;
      std::vector<std::optional<Result<Json>>> ends(3);
      const auto start = [&](std::size_t which, std::string tool, std::chrono::milliseconds timeout,
                             asio::cancellation_slot slot) {
        (*server).start_call(
            {.tool = std::move(tool),
             .arguments = *parse_json(R"({"ms":300000})"),
             .timeout = timeout},
            [&ends, which](Result<Json> given) { ends[which] = std::move(given); }, slot);
      };
      start(0, "echo", kPatience, {});
      start(1, "slow", 50ms, {});
      start(2, "slow", kPatience, signal.slot());
      server.loop.restart();
      while ((!ends[0] || !ends[1]) && server.loop.run_one() > 0) {
      }
      REQUIRE((ends[0] && ends[1]));
      CHECK(text_of(*ends[0]).contains(R"("tool":"echo")"));
      CHECK(id_of(*ends[1]) == ErrorId::kServerTimeout);
      CHECK_FALSE(ends[2].has_value());
      signal.emit(asio::cancellation_type::terminal);
      while (!ends[2] && server.loop.run_one() > 0) {
      }
      REQUIRE(ends[2].has_value());
      CHECK(id_of(*ends[2]) == ErrorId::kServerCancelled);
    }
  }

  TEST_CASE("progress on the stream starts the timeout anew") {
    HttpFixture web({"initialize"});
    ConnectedOverHttp server(web.config("/sse"));
    CHECK(text_of(server.call("progress", args(R"({"times":60,"every":100})"), 3000ms)) ==
          "arrived");
  }

  TEST_CASE("connections to a server notice that it is gone without a word") {
    HttpFixture web({"stateless"});
    ConnectedOverHttp server(web.config("/json"));
    CHECK(server.call("echo").has_value());
    const auto connections = test::connections_of_port(test::End::kTheirs, web.port());
    CHECK_FALSE(connections.empty());
    for (const int fd : connections) test::check_notices_dead_peer(fd);
  }

  TEST_CASE("nobody listening is an error at once") {
    mcp::ServerConfig config;
    config.name = "web";
    config.url = "http://127.0.0.1:1/mcp";
    ConnectedOverHttp server(config);
    REQUIRE_FALSE(server.client.has_value());
    CHECK(server.client.error().id == ErrorId::kServerHttp);
  }

  TEST_CASE("a name server that does not answer holds up neither a server's start nor the end") {
    // The thread has all of it: it may go on when this test is over.
    std::promise<void> release;
    const std::shared_future<void> held = release.get_future().share();
    asio::io_context loop;
    ipc::replace_system_lookups(
        loop.get_executor(),
        std::make_shared<ipc::Lookups>(loop.get_executor(), [held](const std::string&) {
          held.wait();
          return Result<ipc::Addresses>();
        }));
    mcp::ServerConfig config;
    config.name = "web";
    config.url = "http://server.example/mcp";
    config.era = mcp::Era::kInitialize;
    config.timeout = 50ms;
    const auto client = test::run(loop, mcp::Client::connect(loop.get_executor(), config));
    REQUIRE_FALSE(client.has_value());
    CHECK(client.error().id == ErrorId::kServerTimeout);
    loop.restart();
    loop.run();  // nothing is left to wait for
    release.set_value();
  }

  TEST_CASE("a certificate is verified: against known roots and the host's name") {
    auto folder = TemporaryFolder::create("/tmp", "mcpac-test-");
    REQUIRE(folder.has_value());
    const auto key = (folder->path() / "key.pem").string();
    const auto cert = (folder->path() / "cert.pem").string();
    const auto made = ::system(
        fmt::format(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
            "-subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout {} -out {} "
            "2>/dev/null",
            key, cert)
            .c_str());
    REQUIRE(made == 0);
    HttpFixture web({"initialize", "--key", key, "--cert", cert});
    const auto connect = [&](const std::string& host) {
      mcp::ServerConfig config;
      config.name = "web";
      config.url = fmt::format("https://{}:{}/json", host, web.port());
      return config;
    };
    {
      ConnectedOverHttp unknown_root(connect("localhost"));
      REQUIRE_FALSE(unknown_root.client.has_value());
      CHECK(unknown_root.client.error().id == ErrorId::kServerTls);
    }
    ::setenv("SSL_CERT_FILE", cert.c_str(), 1);
    {
      ConnectedOverHttp trusted(connect("localhost"));
      CHECK_MESSAGE(trusted.client.has_value(), test::shown(trusted.client));
      if (trusted.client) CHECK(trusted.call("echo").has_value());
      ConnectedOverHttp other_name(connect("127.0.0.1"));
      REQUIRE_FALSE(other_name.client.has_value());
      CHECK(other_name.client.error().id == ErrorId::kServerTls);
    }
    ::unsetenv("SSL_CERT_FILE");
  }
}
