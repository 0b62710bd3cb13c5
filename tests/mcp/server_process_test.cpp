// Servers as processes: how they end, how they are ended, and what they are given.
#include <doctest/doctest.h>
#include <signal.h>

#include <cstdlib>

#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "core/file.h"
#include "mcp/support_connected.h"

using namespace mcpac;
using namespace std::chrono_literals;
using test::Connected;
using test::fixture;
using test::kPatience;
namespace asio = boost::asio;
using test::args;
using test::id_of;
using test::text_of;

TEST_SUITE("mcp/server process") {
  TEST_CASE("a server that dies in a call fails it with exit status and last words") {
    Connected server(fixture("plain"));
    auto result = server.call("die", args(R"({"status":5,"say":"disk on fire"})"));
    CHECK(id_of(result) == ErrorId::kServerDied);
    CHECK(result.error().what.find("exit status 5") != std::string::npos);
    CHECK(result.error().why.find("disk on fire") != std::string::npos);
    CHECK(id_of(server.call("echo")) == ErrorId::kServerDied);
  }

  TEST_CASE("an answer written right before the end still counts") {
    Connected server(fixture("plain"));
    CHECK(text_of(server.call("last_words")) == "bye");
  }

  TEST_CASE("a server that always exits is an error with what it said") {
    Connected server(fixture("always-exits"));
    REQUIRE_FALSE(server.client.has_value());
    CHECK(server.client.error().id == ErrorId::kServerDied);
    CHECK(server.client.error().what.find("exit status 7") != std::string::npos);
    CHECK(server.client.error().why.find("cannot find my database") != std::string::npos);
  }

  TEST_CASE("a program that does not exist is an error that names it") {
    auto config = fixture("plain");
    config.command = "no-such-program-here";
    Connected missing(config);
    REQUIRE_FALSE(missing.client.has_value());
    CHECK(missing.client.error().id == ErrorId::kServerStart);
    CHECK(missing.client.error().what.find("no-such-program-here") != std::string::npos);
    config.command = "/etc/hostname";
    Connected no_program(config);
    REQUIRE_FALSE(no_program.client.has_value());
    CHECK(no_program.client.error().id == ErrorId::kServerStart);
    config = fixture("plain");
    config.working_directory = "/no/such/folder";
    Connected no_folder(config);
    REQUIRE_FALSE(no_folder.client.has_value());
    CHECK(no_folder.client.error().id == ErrorId::kServerStart);
  }

  TEST_CASE("servers that ignore the end of input, or SIGTERM as well, are ended nevertheless") {
    for (const std::string mode : {"ignores-eof", "ignores-term"}) {
      auto config = fixture(mode);
      config.shutdown_grace = 100ms;
      Connected server(config);
      REQUIRE(server.client.has_value());
      REQUIRE(test::children().size() == 1);
      test::run(server.loop, (*server).close());
      CHECK(test::children().empty());
      test::run(server.loop, (*server).close());  // idempotent
    }
  }

  TEST_CASE("what a server started is ended with it") {
    int grandchild = 0;
    {
      Connected server(fixture("grandchild"));
      REQUIRE(server.client.has_value());
      server.until([&] {
        for (const auto& line : server.stderr_lines) {
          if (line.starts_with("grandchild ")) grandchild = std::stoi(line.substr(11));
        }
        return grandchild != 0;
      });
      REQUIRE(test::is_running(grandchild));
    }
    CHECK(test::ends(grandchild));
  }

  TEST_CASE("dropping the client kills and reaps the server") {
    Connected server(fixture("ignores-term"));
    REQUIRE(test::children().size() == 1);
    server.client = nullptr;
    CHECK(test::children().empty());
  }

  TEST_CASE("dropping the client in the middle of a call ends the call") {
    Connected server(fixture("plain"));
    std::optional<Result<Json>> result;
    asio::co_spawn(
        server.loop,
        [&]() -> asio::awaitable<void> {
          result = co_await (*server).call_tool("hang", Json::object(), kPatience);
        },
        asio::detached);
    asio::steady_timer timer(server.loop, 20ms);
    timer.async_wait([&](auto) { server.client = nullptr; });
    server.until([&] { return result.has_value(); });
    CHECK(id_of(*result) == ErrorId::kServerDied);
  }

  TEST_CASE("a server gets the few variables that any program needs, and what its entry names") {
    ::setenv("MCPAC_TEST_PRIVATE", "not for servers", 1);
    auto config = fixture("plain");
    config.environment = {{"GIVEN", "yes"}};
    Connected server(config);
    auto seen = parse_json(text_of(server.call("env")));
    REQUIRE(seen.has_value());
    CHECK((*seen)["GIVEN"] == "yes");
    CHECK(seen->contains("PATH"));
    CHECK_FALSE(seen->contains("MCPAC_TEST_PRIVATE"));
  }

  TEST_CASE("a secret reaches the server and comes back as its reference only") {
    ::setenv("MCPAC_TEST_TOKEN", "s3cr3t-t0ken", 1);
    auto config = fixture("plain");
    config.environment = {{"TOKEN", "${env:MCPAC_TEST_TOKEN}"}, {"LENGTH", "12"}};
    Connected server(config);
    CHECK(text_of(server.call("env", args(R"({"name":"TOKEN"})"))) == "${env:MCPAC_TEST_TOKEN}");
    auto died = server.call("die", args(R"({"status":1,"say":"token s3cr3t-t0ken refused"})"));
    CHECK(id_of(died) == ErrorId::kServerDied);
    CHECK(died.error().why.find("token ${env:MCPAC_TEST_TOKEN} refused") != std::string::npos);
    for (const auto& line : server.stderr_lines) CHECK(line.find("s3cr3t") == std::string::npos);
  }

  TEST_CASE("a missing secret is an error before anything starts") {
    auto config = fixture("plain");
    config.environment = {{"TOKEN", "${env:MCPAC_TEST_NOT_SET}"}};
    Connected server(config);
    REQUIRE_FALSE(server.client.has_value());
    CHECK(server.client.error().id == ErrorId::kSecretMissing);
  }

  TEST_CASE("a server that ends is told with what it wrote where only messages belong") {
    const std::string secret(1'500, 's');  // more than is shown
    ::setenv("MCPAC_TEST_SECRET", secret.c_str(), 1);
    mcp::ServerConfig config;
    config.name = "wordy";
    config.command = "sh";
    config.arguments = {"-c",
                        "echo Welcome; printf 'no module \\033[2J%s\\n' \"$TOKEN\"; echo boom >&2"};
    config.environment = {{"TOKEN", "${env:MCPAC_TEST_SECRET}"}};
    Connected server(config);
    REQUIRE_FALSE(server.client.has_value());
    const Error& error = server.client.error();
    CHECK(error.id == ErrorId::kServerDied);
    CHECK(error.why ==
          "it last wrote:\n    boom\n"
          "where only messages belong it wrote: no module ${env:MCPAC_TEST_SECRET}");
  }

  TEST_CASE("a server inherits no descriptor of ours") {
    asio::io_context loop;
    const int leaked = ::dup(0);  // without close-on-exec, as a careless library would open it
    auto config = fixture("plain");
    config.command = "sh";
    config.arguments = {"-c", "ls /proc/self/fd | tr '\\n' ' ' >&2"};
    std::string seen;
    mcp::Events events;
    events.server_stderr = [&seen](std::string_view line) { seen = line; };
    auto client = test::run(loop, mcp::Client::connect(loop.get_executor(), config, events));
    ::close(leaked);
    CHECK_FALSE(client.has_value());
    CHECK(seen == "0 1 2 3");  // 3 is the folder that ls reads
  }
}
