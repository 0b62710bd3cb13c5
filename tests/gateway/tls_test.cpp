// The HTTP door behind TLS.
#include "gateway/http/tls.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gateway/support_http.h"
#include "gateway/support_serving.h"
#include "gateway/support_session.h"
#include "gateway/support_tls.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;
using namespace std::chrono_literals;
using e2e::Workspace;

namespace {

TemporaryFolder folder() {
  auto made = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-tls-");
  REQUIRE(made.has_value());
  return std::move(*made);
}

std::shared_ptr<boost::asio::ssl::context> context_of(const CertificateFiles& files) {
  auto made = http::make_server_tls({files.certificate, files.key});
  REQUIRE(made.has_value());
  return std::move(*made);
}

std::string call_text(std::uint16_t port, const std::string& more = "") {
  return post_text(port,
                   {.more = stateless_headers("tools/call", "git.commit") + more,
                    .body = request(1, "tools/call", stateless({{"name", "git.commit"}})).dump()});
}

}  // namespace

TEST_SUITE("gateway/tls") {
  TEST_CASE("TLS 1.2 and 1.3 are spoken, older ones and weak ciphers are not") {
    const auto place = folder();
    Hall hall({}, "127.0.0.1", context_of(make_certificate(place.path(), "one")));
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      TlsClient client(hall.port(), {.newest = version, .oldest = version});
      REQUIRE(client.is_open());
      CHECK(client.version() == version);
      client.send(call_text(hall.port()));
      CHECK(client.read_until("done: git.commit").starts_with("HTTP/1.1 200"));
      client.send(call_text(hall.port()));  // the connection is kept
      CHECK(client.read_until("done: git.commit").starts_with("HTTP/1.1 200"));
    }
    CHECK_FALSE(TlsClient(hall.port(), {.newest = TLS1_1_VERSION}).is_open());
    for (const std::string ciphers : {"AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA", "AES256-SHA"})
      CHECK_FALSE(TlsClient(hall.port(), {.newest = TLS1_2_VERSION, .ciphers = ciphers}).is_open());
    CHECK(TlsClient(hall.port(), {.protocol = "http/1.1"}).protocol() == "http/1.1");
    CHECK_FALSE(TlsClient(hall.port(), {.protocol = "h2"}).is_open());
  }

  TEST_CASE("where TLS is spoken a plain request gets nothing, and pages are https") {
    const auto place = folder();
    Hall hall({}, "127.0.0.1", context_of(make_certificate(place.path(), "one")));
    RawClient plain(hall.port());
    plain.send(call_text(hall.port()));
    const std::string said = plain.read_all();
    CHECK(said.find("HTTP") == std::string::npos);
    const auto status = [&](const std::string& origin) {
      TlsClient client(hall.port());
      client.send(call_text(hall.port(), "Origin: " + origin + "\r\n"));
      return client.read_until("\r\n\r\n").substr(9, 3);
    };
    CHECK(status(fmt::format("https://localhost:{}", hall.port())) == "200");
    CHECK(status(fmt::format("http://localhost:{}", hall.port())) == "403");
  }

  TEST_CASE("a handshake that is begun and not ended is under the time of a head") {
    const auto place = folder();
    Hall hall({.head_time = 300ms}, "127.0.0.1", context_of(make_certificate(place.path(), "one")));
    RawClient silent(hall.port());
    RawClient half(hall.port());
    half.send(std::string("\x16\x03\x01\x02\x00\x01", 6));
    CHECK(silent.is_closed());
    CHECK(half.is_closed());
    CHECK(TlsClient(hall.port()).is_open());
  }

  TEST_CASE("a client that goes within TLS takes its call back") {
    const auto place = folder();
    Hall hall({.json_within = 50ms}, "127.0.0.1",
              context_of(make_certificate(place.path(), "one")));
    hall.upstream_does = [](auto&) {};
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      TlsClient client(hall.port(), {.newest = version});
      client.send(call_text(hall.port()));
      CHECK(becomes_true(hall, [&] { return hall.runs.at("a")->calls_in_flight() == 1; }));
      client.leave();
      CHECK(becomes_true(hall, [&] { return hall.runs.at("a")->calls_in_flight() == 0; }));
    }
  }

  TEST_CASE("a key that others may read, and files that are not what they should be, are refused") {
    const auto place = folder();
    const auto files = make_certificate(place.path(), "one");
    const auto other = make_certificate(place.path(), "two");
    const auto over = make_certificate(place.path(), "over", 1, -1);
    const auto refused = [](const std::filesystem::path& certificate,
                            const std::filesystem::path& key) {
      auto made = http::make_server_tls({certificate, key});
      return made ? std::string() : made.error().why + made.error().what;
    };
    CHECK(refused(files.certificate, files.key).empty());
    CHECK(refused(files.certificate, other.key).find("mismatch") != std::string::npos);
    CHECK(refused(over.certificate, over.key).find("it is over") != std::string::npos);
    CHECK_FALSE(refused(files.key, files.key).empty());
    CHECK_FALSE(refused(files.certificate, files.certificate).empty());
    CHECK_FALSE(refused(files.certificate, place.path()).empty());
    CHECK_FALSE(refused(files.certificate, place.path() / "none").empty());
    for (const mode_t mode : {0644U, 0604U, 0660U, 0602U}) {
      REQUIRE(::chmod(files.key.c_str(), mode) == 0);
      CHECK(refused(files.certificate, files.key).find("others may read or change") !=
            std::string::npos);
    }
    REQUIRE(::chmod(files.key.c_str(), 0640) == 0);  // of a group for such keys
    CHECK(refused(files.certificate, files.key).empty());
  }

  TEST_CASE("mcpac serve speaks TLS, and takes a new certificate and new rules on SIGHUP") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    workspace.write("client.policy", "allow fixture.echo\n");
    const auto files = make_certificate(workspace.folder(), "own", 7);
    Serving serving(workspace,
                    {"--policy", "client.policy", "--tls-cert", "own.crt", "--tls-key", "own.key"});
    CHECK(serving.url().starts_with("https://127.0.0.1:"));
    const auto tools = [&] {
      TlsClient client(serving.port());
      client.send(
          post_text(serving.port(), {.token = serving.token(),
                                     .more = stateless_headers("tools/list"),
                                     .body = request(1, "tools/list", stateless()).dump()}));
      return client.read_until("ttlMs");
    };
    CHECK(tools().find("fixture.echo") != std::string::npos);
    CHECK(TlsClient(serving.port()).serial() == 7);
    TlsClient old(serving.port());
    const std::filesystem::path was = workspace.folder() / "was.crt";
    std::filesystem::rename(files.certificate, was);
    workspace.write("client.policy", "allow fixture.slow\n");
    // What cannot be used changes nothing.
    ::kill(serving.pid(), SIGHUP);
    std::this_thread::sleep_for(200ms);
    CHECK(TlsClient(serving.port()).serial() == 7);
    CHECK(tools().find("fixture.echo") != std::string::npos);
    std::ignore = make_certificate(workspace.folder(), "own", 8);
    bool is_new = false;
    for (int i = 0; i < 500 && !is_new; ++i) {
      // Also while it is at it: one more is no order to end.
      ::kill(serving.pid(), SIGHUP);
      is_new = TlsClient(serving.port()).serial() == 8;
      if (!is_new) std::this_thread::sleep_for(10ms);
    }
    CHECK(is_new);
    CHECK(tools().find("fixture.slow") != std::string::npos);
    CHECK(tools().find("fixture.echo") == std::string::npos);
    CHECK(serving.end() == 0);
  }

  TEST_CASE("a name that no client could send is refused at the start, with what was meant") {
    const Workspace& workspace = Workspace::shared();
    const auto refused = [&](const char* option, const std::string& value) {
      const auto run =
          workspace.mcpac({"serve", "--http", "127.0.0.1:0", option, value}, {.input = ""});
      CAPTURE(value);
      CHECK(run.exit_code == 64);
      return run.err;
    };
    const auto has = [](const std::string& text, const char* part) {
      return text.find(part) != std::string::npos;
    };
    CHECK(has(refused("--host", "mcp.example:8443"),
              "fix: --host mcp.example, or --public-url https://mcp.example:8443"));
    CHECK(has(refused("--host", "https://mcp.example/mcp"),
              "fix: --public-url https://mcp.example/mcp"));
    CHECK(has(refused("--host", "*.example"), "there are no patterns"));
    CHECK(has(refused("--host", "m\u00fcller.example"), "xn--"));
    CHECK(has(refused("--public-url", "mcp.example"), "fix: --public-url https://NAME"));
    CHECK(has(refused("--public-url", "http://mcp.example"), "tokens would travel unencrypted"));
    CHECK(has(refused("--public-url", "https://mcp.example/?a=1"), "a query is no part of it"));
    CHECK(workspace.mcpac({"serve", "--public-url", "https://mcp.example"}, {.input = ""})
              .exit_code == 64);
  }

  TEST_CASE("other addresses than loopback want TLS, tokens of their own, and a name") {
    const Workspace& workspace = Workspace::shared();
    std::ignore = make_certificate(workspace.folder(), "own");
    const auto code = [&](std::vector<std::string> options) {
      options.insert(options.begin(), {"serve", "--http", "0.0.0.0:0"});
      return workspace.mcpac(options, {.input = ""}).exit_code;
    };
    const std::vector<std::string> tls{"--tls-cert", "own.crt", "--tls-key", "own.key"};
    const auto with_tls = [&](std::vector<std::string> options) {
      options.insert(options.end(), tls.begin(), tls.end());
      return code(options);
    };
    CHECK(code({"--tokens", "--host", "localhost"}) == 64);
    CHECK(with_tls({"--host", "localhost"}) == 64);
    CHECK(with_tls({"--tokens"}) == 64);
    CHECK(code({"--tokens", "--tls-cert", "own.crt"}) == 64);
  }
}
