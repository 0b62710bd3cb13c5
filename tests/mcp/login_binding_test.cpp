// What a login is bound to: a secret to its authorization server, a token to its address, one
// renewal at a time to its refresh token.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "core/file.h"
#include "mcp/login_of.h"
#include "mcp/oauth/store.h"
#include "mcp/secrets.h"
#include "mcp/support_visit.h"

using namespace mcpac;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using test::is_sent;
using test::issuer_of;
using test::kept_of;
using test::oauth;
using test::Person;
using test::server_of;
using test::text_of;
using test::times;
using test::Visit;

namespace {

constexpr const char* kSecret = "hush hush, this is the secret";

TemporaryFolder logins() {
  auto folder = TemporaryFolder::create("/tmp", "mcpac-logins-");
  REQUIRE(folder.has_value());
  return std::move(*folder);
}

// A client that somebody registered by hand, at `issuer`.
mcp::ServerConfig with_client(mcp::ServerConfig server, mcp::oauth::Grant grant,
                              const std::string& issuer) {
  server.auth.grant = grant;
  server.auth.issuer = issuer;
  server.auth.client_id = "robot";
  server.auth.client_secret = kSecret;
  return server;
}

// Changes what is kept of a login, as another process or another day would.
template <class Change>
void change_kept(const mcp::ServerConfig& server, Change&& change) {
  mcp::oauth::Store store(server.tokens, server.name, server.url);
  auto kept = kept_of(server);
  change(kept);
  REQUIRE(store.save(kept).has_value());
}

// A token that the server does not know: the next request makes a way to a new one.
void end_token(const mcp::ServerConfig& server) {
  change_kept(server, [](auto& kept) { kept.tokens.access = "a-token-that-has-ended"; });
}

std::string text_of_file(const mcp::ServerConfig& server) {
  for (const auto& entry : std::filesystem::directory_iterator(server.tokens)) {
    if (entry.path().extension() != ".json") continue;
    auto text = read_file(entry.path());
    REQUIRE(text.has_value());
    return *text;
  }
  return {};
}

std::size_t renewals(const Json& log) {
  return static_cast<std::size_t>(std::ranges::count_if(log, [](const Json& one) {
    return one["body"].get<std::string>().contains("grant_type=refresh_token");
  }));
}

// Two clients that connect at the same moment, as two processes would: nothing joins them but the
// folder.
struct Pair {
  asio::io_context loop;
  std::vector<Result<std::unique_ptr<mcp::Client>>> clients;

  explicit Pair(const mcp::ServerConfig& server) {
    for (int i = 0; i < 2; ++i) {
      asio::co_spawn(loop, mcp::Client::connect(loop.get_executor(), server, mcp::Events()),
                     [this](std::exception_ptr bug, Result<std::unique_ptr<mcp::Client>> client) {
                       if (bug) std::rethrow_exception(bug);
                       clients.push_back(std::move(client));
                     });
    }
    while (clients.size() < 2 && loop.run_one() > 0) {
    }
  }
  ~Pair() {
    for (auto& client : clients) {
      if (client) test::run(loop, (*client)->close());
    }
    clients.clear();
    loop.restart();
    loop.run();
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
};

}  // namespace

TEST_SUITE("mcp/login_binding") {
  TEST_CASE("a secret goes to no authorization server but the one that it was registered at") {
    for (const auto grant : {mcp::oauth::Grant::kClientCredentials, mcp::oauth::Grant::kPerson}) {
      const auto web = oauth({"basic"});
      Visit visit(with_client(server_of(web), grant, "https://login.example"), Person::kThere);
      REQUIRE_FALSE(visit.client.has_value());
      const auto text = visit.client.error().to_text();
      CHECK_MESSAGE(text.contains("another authorization server than \"auth.issuer\""), text);
      CHECK_MESSAGE(text.contains(issuer_of(web)), text);
      CHECK_MESSAGE(text.contains("https://login.example"), text);
      const Json log = web.log();
      CHECK(times(log, "/token") == 0);
      CHECK(times(log, "/authorize") == 0);
      CHECK(times(log, "/.well-known/oauth-authorization-server/as") == 0);
    }
  }

  TEST_CASE("of several authorization servers the user's own is used, and then that of the login") {
    const auto web = oauth({"two", "stale", "rotate"});
    const auto folder = logins();
    auto server = server_of(web, folder.path());
    server.auth.issuer = issuer_of(web);
    {
      Visit there(server, Person::kThere);
      CHECK(text_of(there.call("read")) == "read with Bearer ${login:web}");
    }
    server.auth.issuer.clear();
    Visit later(server, Person::kAway);
    CHECK(text_of(later.call("read")) == "read with Bearer ${login:web}");
    CHECK(kept_of(server).issuer == issuer_of(web));
  }

  TEST_CASE("a secret without the authorization server that it belongs to is not used at all") {
    const auto web = oauth({"basic"});
    const auto grant = mcp::oauth::Grant::kClientCredentials;
    Visit visit(with_client(server_of(web), grant, ""), Person::kThere);
    REQUIRE_FALSE(visit.client.has_value());
    CHECK(visit.client.error().id == ErrorId::kConfigInvalid);
    CHECK(visit.client.error().fix.contains("issuer"));
    CHECK(web.log().empty());
  }

  TEST_CASE("a secret of the configuration is used from there, and written nowhere") {
    const auto web = oauth({"basic", "rotate"});
    const auto folder = logins();
    const auto server =
        with_client(server_of(web, folder.path()), mcp::oauth::Grant::kPerson, issuer_of(web));
    {
      Visit there(server, Person::kThere);
      CHECK(text_of(there.call("read")) == "read with Bearer ${login:web}");
    }
    CHECK(text_of_file(server).contains("robot"));
    CHECK_FALSE(text_of_file(server).contains("hush"));
    end_token(server);
    Visit later(server, Person::kAway);
    CHECK(text_of(later.call("read")) == "read with Bearer ${login:web}");
    CHECK(renewals(web.log()) == 1);
    CHECK_FALSE(text_of_file(server).contains("hush"));
  }

  TEST_CASE("tokens that another client got are not used with the one that is configured now") {
    const auto web = oauth();
    const auto folder = logins();
    auto server = server_of(web, folder.path());
    { Visit there(server, Person::kThere); }
    server.auth.client_id = "robot";
    Visit later(server, Person::kAway);
    REQUIRE_FALSE(later.client.has_value());
    CHECK(later.client.error().fix == "mcpac login web");
    CHECK(renewals(web.log()) == 0);
  }

  TEST_CASE(
      "a server that names another authorization server than at the last login gets nothing") {
    const auto web = oauth();
    const auto folder = logins();
    const auto server = server_of(web, folder.path());
    { Visit there(server, Person::kThere); }
    end_token(server);
    change_kept(server, [](auto& kept) { kept.issuer = "https://before.example"; });
    const auto before = web.log();
    const char* metadata = "/.well-known/oauth-authorization-server/as";
    for (const Person person : {Person::kAway, Person::kThere}) {
      Visit visit(server, person);
      REQUIRE_FALSE(visit.client.has_value());
      const auto text = visit.client.error().to_text();
      CHECK_MESSAGE(text.contains("another authorization server than at the last login"), text);
      CHECK_MESSAGE(text.contains("mcpac logout web && mcpac login web"), text);
      CHECK(visit.page.empty());
    }
    CHECK(times(web.log(), metadata) == times(before, metadata));
    CHECK(times(web.log(), "/token") == times(before, "/token"));
    CHECK(times(web.log(), "/register") == times(before, "/register"));
    // The login that was there is as good as before, should the server come back.
    CHECK(kept_of(server).issuer == "https://before.example");
    CHECK_FALSE(kept_of(server).tokens.refresh.empty());

    CHECK(mcp::oauth::Store(server.tokens, server.name, server.url).forget());
    Visit again(server, Person::kThere);
    CHECK(text_of(again.call("read")) == "read with Bearer ${login:web}");
  }

  TEST_CASE("with another value of a variable in its address a server gets no token of the first") {
    const auto first = oauth();
    const auto second = oauth();
    const auto folder = logins();
    auto server = server_of(first, folder.path());
    server.url = "http://127.0.0.1:${env:MCPAC_TEST_PORT}/mcp";
    ::setenv("MCPAC_TEST_PORT", std::to_string(first.port()).c_str(), 1);
    {
      Visit there(server, Person::kThere);
      REQUIRE_MESSAGE(there.client.has_value(), test::shown(there.client));
    }
    ::setenv("MCPAC_TEST_PORT", std::to_string(second.port()).c_str(), 1);
    Visit away(server, Person::kAway);
    ::unsetenv("MCPAC_TEST_PORT");
    REQUIRE_FALSE(away.client.has_value());
    const Json log = second.log();
    CHECK(times(log, "/mcp") > 0);
    const bool told = std::ranges::any_of(
        log, [](const Json& one) { return !one["authorization"].get<std::string>().empty(); });
    CHECK_FALSE(told);
    CHECK(renewals(log) == 0);
    // Nor is the first login lost.
    CHECK_FALSE(kept_of(server).tokens.access.empty());
  }

  TEST_CASE("of two that renew a login at the same moment one does, and both go on") {
    const auto web = oauth({"family"});
    const auto folder = logins();
    const auto server = server_of(web, folder.path());
    { Visit there(server, Person::kThere); }
    end_token(server);
    Pair both(server);
    REQUIRE(both.clients.size() == 2);
    for (const auto& client : both.clients) CHECK_MESSAGE(client.has_value(), test::shown(client));
    CHECK(renewals(web.log()) == 1);
    // What is kept renews itself the next time, too.
    end_token(server);
    Visit later(server, Person::kAway);
    CHECK(text_of(later.call("read")) == "read with Bearer ${login:web}");
  }

  TEST_CASE("who logs out while the login is renewed stays logged out") {
    const auto web = oauth({"family"});
    const auto folder = logins();
    const auto server = server_of(web, folder.path());
    { Visit there(server, Person::kThere); }
    end_token(server);
    asio::io_context loop;
    asio::steady_timer poll(loop);
    bool forgotten = false;
    std::function<void()> look = [&] {  // once the fixture has the request, which it answers late
      if (renewals(web.log()) > 0) {
        forgotten = mcp::oauth::Store(server.tokens, server.name, server.url).forget();
        return;
      }
      poll.expires_after(20ms);
      poll.async_wait([&](const boost::system::error_code& error) {
        if (!error) look();
      });
    };
    look();
    auto client = test::run(loop, mcp::Client::connect(loop.get_executor(), server, mcp::Events()));
    CHECK(forgotten);
    REQUIRE_FALSE(client.has_value());
    CHECK(client.error().fix == "mcpac login web");
    CHECK(kept_of(server).tokens.access.empty());
    CHECK(kept_of(server).tokens.refresh.empty());
  }

  TEST_CASE("who logs out waits so long for a renewal, and hears which process has the turn") {
    const auto web = oauth();
    const auto folder = logins();
    const auto server = server_of(web, folder.path() / "logins");
    { Visit visit(server, Person::kThere); }
    mcp::oauth::Store store(server.tokens, server.name, server.url);
    auto turn = store.try_turn();
    REQUIRE(turn.has_value());
    REQUIRE(turn->has_value());
    asio::io_context loop;
    const auto secrets = std::make_shared<mcp::SecretValues>();
    const auto made = mcp::make_authorizer(loop.get_executor(), server, secrets, nullptr);
    REQUIRE(made.has_value());
    REQUIRE(*made);
    const auto given_up = test::run(loop, (*made)->give_up(50ms));
    REQUIRE_FALSE(given_up.has_value());
    const auto text = given_up.error().to_text();
    CHECK_MESSAGE(text.contains(fmt::format("(process {}) renews this login", ::getpid())), text);
    CHECK(kept_of(server).tokens.access.empty());
  }

  TEST_CASE("a server that wants one login after the other has only so many pages opened") {
    const auto web = oauth({"greedy"});
    Visit visit(server_of(web), Person::kThere);
    for (int i = 0; i < 8; ++i) CHECK_FALSE(visit.call("read").has_value());
    CHECK(times(web.log(), "/authorize") == 5);
  }
}
