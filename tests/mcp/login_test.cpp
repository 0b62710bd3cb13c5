// Logins at tests/servers/oauth_fixture.mjs, through the client: what is sent, kept, and refused.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/file.h"
#include "mcp/oauth/store.h"
#include "mcp/support_visit.h"

using namespace mcpac;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using test::forget_tokens;
using test::is_sent;
using test::oauth;
using test::Person;
using test::server_of;
using test::text_of;
using test::times;
using test::Visit;

TEST_SUITE("mcp/login") {
  TEST_CASE("a server that wants a login gets one, and its own token does not come back") {
    const auto web = oauth();
    Visit visit(server_of(web), Person::kThere);
    CHECK(text_of(visit.call("read")) == "read with Bearer ${login:web}");
    const Json log = web.log();
    CHECK(times(log, "/register") == 1);
    CHECK(is_sent(log, "/register", R"("application_type":"native")"));
    CHECK(is_sent(log, "/authorize", "scope=read"));
    CHECK(is_sent(log, "/authorize", "resource=http%3A%2F%2F127.0.0.1"));
    CHECK(is_sent(log, "/token", "resource=http%3A%2F%2F127.0.0.1"));
    const bool in_url = std::ranges::any_of(
        log, [](const Json& one) { return one["query"].get<std::string>().contains("secret-"); });
    CHECK_FALSE(in_url);
  }

  TEST_CASE("a tool that wants more than the token may gets a second login for both") {
    const auto web = oauth();
    Visit visit(server_of(web), Person::kThere);
    CHECK(text_of(visit.call("write")) == "write with Bearer ${login:web}");
    CHECK(is_sent(web.log(), "/authorize", "scope=read%20offline_access%20write"));
    CHECK(text_of(visit.call("read")) == "read with Bearer ${login:web}");
    CHECK(times(web.log(), "/authorize") == 2);
  }

  TEST_CASE("without a person the error says what to type, and the login later asks for all") {
    const auto web = oauth();
    auto folder = TemporaryFolder::create("/tmp", "mcpac-logins-");
    REQUIRE(folder.has_value());
    {
      Visit away(server_of(web, folder->path()), Person::kAway);
      REQUIRE_FALSE(away.client.has_value());
      CHECK(away.client.error().fix == "mcpac login web");
      CHECK(times(web.log(), "/register") == 0);
    }
    { Visit there(server_of(web, folder->path()), Person::kThere); }
    Visit later(server_of(web, folder->path()), Person::kAway);
    CHECK(text_of(later.call("read")) == "read with Bearer ${login:web}");
    const auto more = later.call("write");
    REQUIRE_FALSE(more.has_value());
    CHECK(more.error().fix == "mcpac login web");
    CHECK(times(web.log(), "/authorize") == 1);
    CHECK(text_of(later.call("read")) == "read with Bearer ${login:web}");
    forget_tokens(server_of(web, folder->path()));  // as `mcpac login` begins
    Visit again(server_of(web, folder->path()), Person::kThere);
    CHECK(is_sent(web.log(), "/authorize", "scope=read%20offline_access%20write"));
    CHECK(times(web.log(), "/register") <= 2);
  }

  TEST_CASE("a token that has ended is renewed without anybody") {
    const auto web = oauth({"stale", "rotate"});
    auto folder = TemporaryFolder::create("/tmp", "mcpac-logins-");
    REQUIRE(folder.has_value());
    { Visit there(server_of(web, folder->path()), Person::kThere); }
    Visit later(server_of(web, folder->path()), Person::kAway);
    CHECK(text_of(later.call("read")) == "read with Bearer ${login:web}");
    CHECK(text_of(later.call("read")) == "read with Bearer ${login:web}");
    CHECK(times(web.log(), "/authorize") == 1);
    CHECK(is_sent(web.log(), "/token", "grant_type=refresh_token"));
  }

  TEST_CASE("a client with credentials of its own needs no person") {
    const auto web = oauth({"basic"});
    auto config = server_of(web);
    config.auth.grant = mcp::oauth::Grant::kClientCredentials;
    config.auth.issuer = test::issuer_of(web);
    config.auth.client_id = "robot";
    config.auth.client_secret = "hush hush";
    Visit visit(config, Person::kAway);
    CHECK(text_of(visit.call("write")) == "write with Bearer ${login:web}");
    CHECK(times(web.log(), "/register") == 0);
    CHECK_FALSE(is_sent(web.log(), "/token", "hush"));
  }

  TEST_CASE("an answer, a document or a server that is not what it should be gets no token") {
    const auto refused = [](const std::string& flag) {
      const auto web = oauth({flag});
      Visit visit(server_of(web), Person::kThere);
      REQUIRE_MESSAGE(!visit.client.has_value(), flag);
      CHECK_MESSAGE(times(web.log(), "/token") == 0, flag);
      const auto text = visit.client.error().to_text();
      CHECK_MESSAGE(!text.contains("secret"), text);
      CHECK_MESSAGE(!text.contains("code-"), text);
      return text;
    };
    CHECK(refused("iss=wrong").contains("https://evil.example"));
    CHECK(refused("iss=missing").contains("not believed"));
    CHECK(refused("issuer=wrong").contains("another issuer"));
    CHECK(refused("resource=wrong").contains("another resource"));
    CHECK(refused("no-pkce").contains("PKCE"));
    CHECK(refused("deny").contains("access_denied"));
    CHECK(refused("moves").contains("302"));
    CHECK(refused("page=asks").contains("no login page that can be used"));
    CHECK(refused("method=key").contains("registers no client"));
  }

  TEST_CASE("a token that comes with more scopes than anybody reads is not kept") {
    const auto web = oauth({"scopes=many"});
    Visit visit(server_of(web), Person::kThere);
    REQUIRE_FALSE(visit.client.has_value());
    CHECK(visit.client.error().to_text().contains("more scopes than anybody reads"));
  }

  TEST_CASE("many calls at once make one login") {
    const auto web = oauth();
    Visit visit(server_of(web), Person::kThere);
    REQUIRE(visit.client.has_value());
    int done = 0;
    for (int i = 0; i < 8; ++i) {
      asio::co_spawn(visit.loop, (*visit.client)->call_tool("write", Json::object(), 60s),
                     [&](std::exception_ptr, Result<Json> result) {
                       CHECK(text_of(result) == "write with Bearer ${login:web}");
                       ++done;
                     });
    }
    visit.loop.restart();
    while (done < 8) visit.loop.run_one();
    CHECK(times(web.log(), "/authorize") == 2);  // to come in, and for the scope "write"
  }

  TEST_CASE("who configured a header Authorization is never sent to a login page") {
    const auto web = oauth();
    auto config = server_of(web);
    config.headers["authorization"] = "Bearer mine";
    Visit visit(config, Person::kThere);
    REQUIRE_FALSE(visit.client.has_value());
    CHECK(times(web.log(), "/register") == 0);
  }
}
