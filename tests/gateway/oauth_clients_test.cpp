// Who comes by access tokens: how many of one subject, and what happens when one of them is ended.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gateway/oauth/principal_counter.h"
#include "gateway/support_http.h"
#include "gateway/support_jwt.h"
#include "gateway/support_serving.h"
#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;
using e2e::Workspace;

namespace {

// `mcpac serve` before the plain fixture, with an issuer whose key the test has and scopes s0 to
// s4.
struct Issued {
  Issued() {
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    workspace.write("echo.policy", "allow fixture.echo\n");
    workspace.write("keys.json", Json{{"keys", Json::array({key.jwk()})}}.dump());
    std::vector<std::string> options{"--oauth-issuer", kIssuer,        "--oauth-audience",
                                     kAudience,        "--oauth-jwks", "keys.json"};
    for (int i = 0; i < 5; ++i) {
      options.emplace_back("--scope");
      options.push_back(fmt::format("s{}=echo.policy", i));
    }
    serving.emplace(workspace, options);
  }
  HttpAnswer list(const std::string& subject, const std::string& scopes) {
    Json claims = claims_of(scopes);
    claims["sub"] = subject;
    return post(serving->port(), {.token = key.sign(claims),
                                  .more = stateless_headers("tools/list"),
                                  .body = request(1, "tools/list", stateless()).dump()});
  }
  // What a request with such a token is answered with.
  int status(const std::string& subject, const std::string& scopes) {
    return list(subject, scopes).status;
  }

  const Workspace workspace{Workspace::fixture("plain")};
  const TestKey key{"ES256", "one"};
  std::optional<Serving> serving;
};

// The scopes whose bits are set.
std::string scopes_of(unsigned bits) {
  std::string scopes;
  for (unsigned i = 0; i < 5; ++i) {
    if ((bits & (1U << i)) != 0) scopes += fmt::format("s{} ", i);
  }
  return scopes;
}

}  // namespace

TEST_SUITE("gateway/oauth clients") {
  TEST_CASE("a subject has a share of the room, and who is there stays") {
    oauth::PrincipalCounter principals({.all = 3, .of_subject = 2});
    principals.add("alice 1", "alice");
    principals.add("alice 2", "alice");
    CHECK_FALSE(principals.has_room_for("alice 3", "alice"));
    CHECK(principals.has_room_for("alice 2", "alice"));
    CHECK(principals.has_room_for("bob", "bob"));
    principals.add("bob", "bob");
    CHECK_FALSE(principals.has_room_for("carol", "carol"));
    principals.clear();
    CHECK(principals.has_room_for("carol", "carol"));
  }

  TEST_CASE("SIGHUP while the issuer's keys cannot be read lets in whom they let in before") {
    Issued issued;
    CHECK(issued.status("alice", "s0") == 200);
    std::filesystem::remove(issued.workspace.folder() / "keys.json");
    issued.workspace.write("echo.policy", "deny fixture.echo\n");
    REQUIRE(::kill(issued.serving->pid(), SIGHUP) == 0);
    // The rules are the new ones: by then it has read all again.
    const auto lists_echo = [&] {
      return issued.list("alice", "s0").body.find("fixture.echo") != std::string::npos;
    };
    for (int i = 0; i < 500 && lists_echo(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK_FALSE(lists_echo());
    CHECK(issued.status("alice", "s0") == 200);
    CHECK(issued.status("bob", "s0") == 200);
    CHECK(issued.serving->end() == 0);
  }

  TEST_CASE("many sets of scopes are no way to keep others out") {
    Issued issued;
    int let_in = 0;
    for (unsigned bits = 1; bits < 32; ++bits)
      let_in += issued.status("alice", scopes_of(bits)) == 200 ? 1 : 0;
    CHECK(let_in == 16);
    CHECK(issued.status("alice", scopes_of(1)) == 200);
    CHECK(issued.status("bob", scopes_of(1)) == 200);
    CHECK(issued.serving->end() == 0);
  }

  TEST_CASE("a client that its user ended does not come back under other scopes") {
    Issued issued;
    CHECK(issued.status("alice", "s0") == 200);
    CHECK(issued.status("alice", "s1") == 200);
    CHECK(issued.status("bob", "s0") == 200);
    const auto started = events(issued.workspace, "RunStarted");
    REQUIRE(started.size() == 3);
    const std::string run = started.front().at("run_id");
    REQUIRE(issued.workspace.mcpac({"runs", "kill", run}).exit_code == 0);
    for (const std::string scopes : {"s0", "s1", "s0 s1", "s2"})
      CHECK(issued.status("alice", scopes) == 403);
    CHECK(issued.status("bob", "s0") == 200);
    CHECK(issued.status("bob", "s1") == 200);
    CHECK(events(issued.workspace, "RunEnded").size() == 2);
  }

  TEST_CASE("a client that lost everything does not get it back under other scopes") {
    Issued issued;
    CHECK(issued.status("alice", "s0") == 200);
    const std::string run = events(issued.workspace, "RunStarted").front().at("run_id");
    REQUIRE(issued.workspace.mcpac({"runs", "revoke", run}).exit_code == 0);
    CHECK(issued.status("alice", "s0") == 200);  // and hears that it lost it
    CHECK(issued.status("alice", "s0 s1") == 403);
    CHECK(issued.status("bob", "s0 s1") == 200);
  }
}
