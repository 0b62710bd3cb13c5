// Logins at tests/servers/oauth_fixture.mjs, through the client: what is sent, kept, and refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include "core/file.h"
#include "mcp/oauth/login_page.h"
#include "mcp/oauth/store.h"
#include "mcp/oauth/web.h"
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

  TEST_CASE("an issuer with a slash at its end is the same one in metadata and configuration") {
    const auto web = oauth({"slash"});
    auto config = server_of(web);
    config.auth.issuer = test::issuer_of(web);
    Visit visit(config, Person::kThere);
    CHECK(text_of(visit.call("read")) == "read with Bearer ${login:web}");
  }

  TEST_CASE("what a token is for is what the metadata, or the user, say; or is not said at all") {
    {
      const auto web = oauth({"resource=none"});
      Visit visit(server_of(web), Person::kThere);
      CHECK(text_of(visit.call("read")) == "read with Bearer ${login:web}");
      CHECK(is_sent(web.log(), "/token", "resource=http%3A%2F%2F127.0.0.1"));
    }
    {
      const auto web = oauth({"no-resource"});
      auto config = server_of(web);
      config.auth.names_resource = false;
      Visit visit(config, Person::kThere);
      CHECK(text_of(visit.call("read")) == "read with Bearer ${login:web}");
    }
    const auto web = oauth({"resource=wrong"});  // as behind a proxy that has another name
    auto config = server_of(web);
    config.auth.resource = "https://evil.example/mcp";
    Visit visit(config, Person::kThere);
    CHECK(text_of(visit.call("read")) == "read with Bearer ${login:web}");
    CHECK(is_sent(web.log(), "/token", "resource=https%3A%2F%2Fevil.example%2Fmcp"));
  }

  TEST_CASE("the redirect goes to 127.0.0.1, or to localhost where the server takes that alone") {
    const auto web = oauth({"redirect=localhost"});
    auto folder = TemporaryFolder::create("/tmp", "mcpac-logins-");
    REQUIRE(folder.has_value());
    const auto server = server_of(web, folder->path());
    { Visit there(server, Person::kThere); }
    CHECK(times(web.log(), "/register") == 2);
    CHECK(is_sent(web.log(), "/authorize", "redirect_uri=http%3A%2F%2Flocalhost%3A"));
    forget_tokens(server);
    { Visit again(server, Person::kThere); }
    const Json log = web.log();
    const auto tries = std::ranges::count_if(log, [](const Json& one) {
      return one["path"] == "/register" && one["body"].get<std::string>().contains("127.0.0.1");
    });
    CHECK(tries == 1);  // it is known

    const auto plain = oauth();
    auto config = server_of(plain);
    config.auth.redirect_host = "localhost";
    Visit visit(config, Person::kThere);
    CHECK(text_of(visit.call("read")) == "read with Bearer ${login:web}");
    CHECK(times(plain.log(), "/register") == 1);
    CHECK(is_sent(plain.log(), "/register", "http://localhost:"));
  }

  TEST_CASE("a person whose browser is elsewhere brings the address that it ended at") {
    const auto web = oauth();
    std::vector<std::string> complaints;
    const auto paste = [&](mcp::oauth::LoginPage page) -> asio::awaitable<void> {
      auto http = mcp::oauth::Web::make(co_await asio::this_coro::executor, mcp::Reach::kAnywhere);
      mcp::oauth::WebRequest request;
      request.url = page.url;
      auto answer = co_await http->fetch(request);
      const std::string ended_at = answer->location;
      const auto state = ended_at.find("&state=");
      for (const std::string& wrong : {std::string("code-1"), ended_at.substr(0, state),
                                       ended_at.substr(0, state) + "&state=other"})
        complaints.push_back(page.pasted->hand_in(wrong));
      complaints.push_back(page.pasted->hand_in(" " + ended_at + " \r"));
    };
    asio::io_context loop;
    mcp::Events events;
    events.show_login = [&](const mcp::oauth::LoginPage& page) {
      asio::co_spawn(loop, paste(page), asio::detached);
    };
    auto client =
        test::run(loop, mcp::Client::connect(loop.get_executor(), server_of(web), events));
    REQUIRE_MESSAGE(client.has_value(), test::shown(client));
    test::run(loop, (*client)->close());
    REQUIRE(complaints.size() == 4);
    for (std::size_t i = 0; i < 3; ++i) CHECK(complaints[i].contains("paste the whole address"));
    CHECK(complaints[3].empty());
    client = nullptr;
    loop.restart();
    loop.run();
  }

  TEST_CASE("a code that is typed elsewhere logs in where that is offered and wanted") {
    const auto visit_with = [](const test::HttpFixture& web, mcp::oauth::Grant grant, bool prefers,
                               std::vector<std::string>& codes) {
      auto config = server_of(web);
      config.auth.grant = grant;
      config.auth.prefers_code = prefers;
      asio::io_context loop;
      mcp::Events events;
      const auto browser = test::browser(loop.get_executor());
      events.show_login = [&codes, browser](const mcp::oauth::LoginPage& page) {
        codes.push_back(page.code);
        if (page.code.empty()) browser(page);
      };
      auto client = test::run(loop, mcp::Client::connect(loop.get_executor(), config, events));
      Result<Json> answer = fail(ErrorId::kServerHttp, client ? "" : client.error().to_text());
      if (client) {
        answer = test::run(loop, (*client)->call_tool("read", Json::object(), 60s));
        test::run(loop, (*client)->close());
      }
      client = nullptr;
      loop.restart();
      loop.run();
      return answer;
    };
    using mcp::oauth::Grant;
    const std::string done = "read with Bearer ${login:web}";
    std::vector<std::string> codes;
    {
      const auto web = oauth({"device"});
      CHECK(text_of(visit_with(web, Grant::kDeviceCode, false, codes)) == done);
      CHECK(codes == std::vector<std::string>{"WDJB-MJHT"});
      CHECK(is_sent(web.log(), "/register", "urn:ietf:params:oauth:grant-type:device_code"));
      CHECK(is_sent(web.log(), "/device", "resource=http%3A%2F%2F127.0.0.1"));
      CHECK(times(web.log(), "/authorize") == 0);
      codes.clear();
      CHECK(text_of(visit_with(web, Grant::kPerson, false, codes)) == done);  // a browser is there
      CHECK(codes == std::vector<std::string>{""});
    }
    codes.clear();
    {
      const auto web = oauth({"device=refused"});  // offered, but not to mcpac: by a page then
      CHECK(text_of(visit_with(web, Grant::kPerson, true, codes)) == done);
      CHECK(codes == std::vector<std::string>{""});
    }
    const auto denied = visit_with(oauth({"device=denied"}), Grant::kPerson, true, codes);
    REQUIRE_FALSE(denied.has_value());
    CHECK(denied.error().what.contains("the login was refused"));
    codes.clear();
    {
      const auto web =
          oauth({"device", "no-page"});  // a code is the only way, and was not asked for
      const auto asks = visit_with(web, Grant::kPerson, false, codes);
      REQUIRE_FALSE(asks.has_value());
      CHECK(asks.error().what.contains("has no login page"));
      CHECK(asks.error().what.contains("fix: mcpac login --device web"));
      CHECK(codes.empty());
      CHECK(times(web.log(), "/device") == 0);
      CHECK(text_of(visit_with(web, Grant::kPerson, true, codes)) == done);  // no browser is there
      CHECK(text_of(visit_with(web, Grant::kDeviceCode, false, codes)) == done);
      CHECK(codes == std::vector<std::string>{"WDJB-MJHT", "WDJB-MJHT"});
    }
    const auto none = visit_with(oauth(), Grant::kDeviceCode, true, codes);
    REQUIRE_FALSE(none.has_value());
    CHECK(none.error().what.contains("gives no codes for a login"));
  }

  TEST_CASE(
      "a refresh token that was refused is forgotten, and a client that is not known any more") {
    for (const char* flag : {"refresh=refused", "forgets"}) {
      CAPTURE(flag);
      const auto web = oauth({"stale", flag});
      auto folder = TemporaryFolder::create("/tmp", "mcpac-logins-");
      REQUIRE(folder.has_value());
      const auto server = server_of(web, folder->path());
      {
        Visit there(server, Person::kAway);
        REQUIRE_FALSE(there.client.has_value());
      }
      // Each token is good for one request: what follows must renew it.
      { Visit there(server, Person::kThere); }
      const auto renewals = [&web] {
        const Json log = web.log();
        return std::ranges::count_if(log, [](const Json& one) {
          return one["body"].get<std::string>().contains("grant_type=refresh_token");
        });
      };
      const auto before = renewals();
      for (int i = 0; i < 2; ++i) {
        Visit later(server, Person::kAway);
        REQUIRE_FALSE(later.client.has_value());
        CHECK(later.client.error().fix == "mcpac login web");
      }
      CHECK(renewals() == before + 1);
      CHECK(test::kept_of(server).tokens.refresh.empty());
      CHECK(test::kept_of(server).wanted_scope.contains("read"));
      CHECK(test::kept_of(server).client.id.empty() == (std::string_view(flag) == "forgets"));
    }
  }

  TEST_CASE("what another login would not change is not answered with the advice to log in") {
    for (const char* flag : {"deny", "no-pkce", "iss=wrong", "never"}) {
      CAPTURE(flag);
      const auto web = oauth({flag});
      Visit visit(server_of(web), Person::kThere);
      REQUIRE_FALSE(visit.client.has_value());
      const auto text = visit.client.error().to_text();
      CHECK_MESSAGE(!text.contains("mcpac login"), text);
      if (std::string_view(flag) == "never")
        CHECK_MESSAGE(text.contains("it refuses the token of its own login"), text);
    }
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
