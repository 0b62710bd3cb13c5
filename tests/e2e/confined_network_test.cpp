// The network of confined servers: what their entries name, and nothing else.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "e2e/support_confined.h"

using e2e::Confined;
using e2e::Gateway;
using e2e::has;
using e2e::server;
using e2e::WebServer;
using mcpac::Json;

namespace {

// An address of this machine, as rules name it.
std::string address_of(const char* name) {
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  REQUIRE(::getaddrinfo(name, nullptr, &wanted, &found) == 0);
  char text[NI_MAXHOST] = "";
  const int failed = ::getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, nullptr, 0,
                                   NI_NUMERICHOST);
  ::freeaddrinfo(found);
  REQUIRE(failed == 0);
  return text;
}

}  // namespace

TEST_SUITE("e2e/confined") {
  TEST_CASE("a confined server reaches what its entry names, whether or not it knows proxies") {
    const WebServer web;
    // The one name that every machine knows without a name server.
    char name[256] = "";
    REQUIRE(::gethostname(name, sizeof name - 1) == 0);
    const std::string config = fmt::format(
        R"({{"mcpServers": {{"attempts": {{"command": "/usr/bin/python3", "args": ["{0}"],
          "era": "initialize", "sandbox": {{"network":
          ["127.0.0.2:{1}", "{2}:{1}", "{3}:{1}", "*.example.org:443"]}}}}}}}})",
        server("attempts.py"), web.port, name, address_of(name));
    for (const bool ordinary : {false, true}) {
      if (ordinary && ::geteuid() != 0) continue;
      CAPTURE(ordinary);
      const Confined confined(ordinary, config);
      confined.generate();
      const auto shell = [&](const std::string& line) { return confined.attempt("shell", line); };
      const std::string place = fmt::format("127.0.0.2:{}", web.port);
      // Through the proxy: by variables, as CONNECT, and by SOCKS with a name.
      CHECK(confined.attempt("fetch", "http://" + place + "/urllib") == "\"host saw /urllib\"");
      CHECK(shell("curl -sSp http://" + place + "/connect 2>&1") == "\"host saw /connect\"");
      CHECK(shell(fmt::format("curl -sS --noproxy '' -x socks5h://127.0.0.1:880 "
                              "http://{}:{}/socks 2>&1",
                              name, web.port)) == "\"host saw /socks\"");
      // Directly: by address and by name, in python, node and curl.
      CHECK(confined.attempt("ask", place) == "\"host saw /direct\"");
      CHECK(confined.attempt("ask", fmt::format("{}:{}", name, web.port)) ==
            "\"host saw /direct\"");
      CHECK(shell(fmt::format("node -e 'fetch(\"http://{}:{}/node\").then(r => r.text())"
                              ".then(t => console.log(t), e => console.log(e.cause.code))' 2>&1",
                              name, web.port)) == "\"host saw /node\\n\"");
      CHECK(shell("curl -sS --noproxy '*' http://" + place + "/curl 2>&1") == "\"host saw /curl\"");
      // Nothing else: not by another name or port, not what the proxy hears of.
      CHECK(confined.attempt("ask", fmt::format("127.0.0.3:{}", web.port)) == "ECONNRESET");
      CHECK(confined.attempt("ask", "127.0.0.2:81") == "ECONNREFUSED");
      CHECK(confined.attempt("ask", fmt::format("evil.example.net:{}", web.port)) == "gaierror");
      CHECK(has(confined.attempt("fetch", "http://192.0.2.1:443/"), "HTTPError"));
      const auto audit = confined.mcpac({"audit", "list", "--json", "--kind", "NetworkCheck"});
      INFO(audit.out);
      CHECK(has(audit.out, "\"address\": \"127.0.0.2\""));
      CHECK(has(audit.out, "\"server\": \"attempts\""));
      CHECK(has(audit.out, "evil.example.net"));
      const auto refused =
          confined.mcpac({"tools", "call", "attempts.attempt",
                          R"({"what": "fetch", "on": "http://192.0.2.1:443/"})", "--grant", "*.*"});
      CHECK(has(refused.err, "add \"192.0.2.1:443\" to sandbox.network of server attempts in "));
      // A server that clients share has a record of its own, to be read while it runs.
      Gateway gateway(confined);
      CHECK(has(gateway.attempt("ask", place), "host saw /direct"));
      CHECK(has(gateway.attempt("ask", fmt::format("127.0.0.3:{}", web.port)), "ECONNRESET"));
      const auto started = confined.mcpac({"audit", "list", "--json", "--kind", "RunStarted"});
      std::string own;
      for (const Json& event : started.json()) {
        if (event.at("payload").at("program") == "server attempts") own = event.at("run_id");
      }
      REQUIRE_FALSE(own.empty());
      CHECK(has(confined.mcpac({"audit", "verify", own}).out, own + "  running"));
      const auto shown = confined.mcpac({"runs", "show", own});
      CHECK(shown.exit_code == 66);
      CHECK(has(shown.err, "what a confined server connected to"));
      CHECK(has(confined.mcpac({"audit", "list", "--run", own}).out, "127.0.0.3"));
      gateway.end(0);
      CHECK(has(confined.mcpac({"audit", "verify", own}).out, own + "  proven"));
      const auto replayed = confined.mcpac({"audit", "replay", own});
      INFO(replayed.out << replayed.err);
      CHECK(replayed.exit_code == 0);
      CHECK(has(replayed.out, own + "  3 decisions, 3 recomputed, 0 not"));
      // Beside it no question about runs fails.
      CHECK(confined.mcpac({"audit", "query", "touched", "/"}).exit_code == 0);
      CHECK(confined.mcpac({"audit", "replay"}).exit_code == 0);
      CHECK(confined.mcpac({"audit", "verify"}).exit_code == 0);
    }
  }
}
