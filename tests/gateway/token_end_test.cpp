// What a token opened ends when the token does.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "gate/support_gate.h"
#include "gateway/support_http.h"
#include "gateway/support_serving.h"
#include "gateway/support_session.h"
#include "gateway/token_watch.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;
using namespace std::chrono_literals;
using e2e::Workspace;

namespace {

std::string get_text(std::uint16_t port, const std::string& session) {
  return fmt::format(
      "GET /mcp HTTP/1.1\r\nHost: localhost:{}\r\nAccept: text/event-stream\r\n"
      "Authorization: Bearer token-a\r\nMcp-Session-Id: {}\r\n\r\n",
      port, session);
}

std::string listen_text(std::uint16_t port, const std::string& token = "token-a") {
  const Json params = stateless({{"notifications", {{"toolsListChanged", true}}}});
  return post_text(port, {.token = token,
                          .more = stateless_headers("subscriptions/listen"),
                          .body = request("l", "subscriptions/listen", params).dump()});
}

std::string read_call_text(std::uint16_t port) {
  return post_text(
      port, {.more = stateless_headers("tools/call", "git.commit"),
             .body = request(1, "tools/call",
                             stateless({{"name", "git.commit"}, {"arguments", Json::object()}}))
                         .dump()});
}

// Tokens that stand until the test says otherwise, and some time longer where that is granted. Kept
// by connections, too.
struct Standing {
  std::atomic<bool> stands = true;
  std::atomic<bool> in_time = true;
};
std::shared_ptr<Standing> stand_in(Hall& hall) {
  auto token = std::make_shared<Standing>();
  hall.on_loop([&] {
    hall.stands = [token](std::chrono::milliseconds grace) {
      return token->stands.load() || (grace > 0ms && token->in_time.load());
    };
  });
  return token;
}

// While it is there no file can be opened.
class NoDescriptor {
 public:
  NoDescriptor() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    rlimit none = before_;
    none.rlim_cur = 0;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoDescriptor() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptor(const NoDescriptor&) = delete;
  NoDescriptor& operator=(const NoDescriptor&) = delete;

 private:
  rlimit before_{};
};

// A store of its own, with a clock that the test moves, and what a watch of it heard.
struct Store {
  Store() : folder(make_folder()), tokens(folder.path() / "tokens.json", clock) { clock.stop(); }
  static TemporaryFolder make_folder() {
    auto made = TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-tokens-");
    REQUIRE(made.has_value());
    return std::move(*made);
  }
  Token make(const std::string& name,
             std::optional<std::chrono::system_clock::time_point> expires = std::nullopt) {
    auto text = tokens.create(name, "/a.policy", expires);
    REQUIRE(text.has_value());
    return tokens.find(*text).value().value();
  }

  TemporaryFolder folder;
  gate::testing::WorldClock clock;
  TokenStore tokens;
  boost::asio::io_context loop;
  std::vector<std::string> over;
  std::vector<std::string> unknown;
  std::shared_ptr<TokenWatch> watch = std::make_shared<TokenWatch>(
      loop.get_executor(), tokens,
      TokenWatch::Heard{.over = [this](const std::string& client) { over.push_back(client); },
                        .unknown = [this](const std::string& client,
                                          const Error&) { unknown.push_back(client); }},
      10ms);
};

}  // namespace

TEST_SUITE("gateway/token end") {
  TEST_CASE("a GET stream ends with its token, and the session waits for another") {
    Hall hall({.look_again = 20ms});
    const auto token = stand_in(hall);
    const std::string session = begin_session(hall.port());
    RawClient client(hall.port());
    client.send(get_text(hall.port(), session));
    client.read_until("\r\n\r\n");
    token->stands = false;
    CHECK(client.read_all().ends_with("0\r\n\r\n"));
    RawClient late(hall.port());
    late.send(get_text(hall.port(), session));
    const auto refused = late.read();
    CHECK(refused.status == 401);
    CHECK(refused.header("www-authenticate").find("error=\"invalid_token\"") != std::string::npos);
    token->stands = true;
    RawClient again(hall.port());
    again.send(get_text(hall.port(), session));
    CHECK(again.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
    hall.on_loop([&] { hall.runs.at("a")->heard_of_drift("changed", "git.commit"); });
    CHECK(again.read_until("\n\n").find("list_changed") != std::string::npos);
  }

  TEST_CASE("an open subscription ends with its token, and nothing is said on it any more") {
    Hall hall({.look_again = 20ms});
    const auto token = stand_in(hall);
    RawClient client(hall.port());
    client.send(listen_text(hall.port()));
    client.read_until("acknowledged");
    token->stands = false;
    CHECK(client.read_all().find("list_changed") == std::string::npos);
    CHECK(becomes_true(hall, [&] { return hall.door->connections() == 0; }));
  }

  TEST_CASE("a call that is in work when its token ends has a while, and is taken back then") {
    Hall hall({.json_within = 20ms, .look_again = 20ms});
    const auto token = stand_in(hall);
    std::function<void()> answer;
    hall.upstream_does = [&](gate::testing::FakeUpstream::Call& call) {
      answer = [&call] { call.done(gate::testing::text_result("done")); };
    };
    RawClient patient(hall.port());
    patient.send(read_call_text(hall.port()));
    patient.read_until("\r\n\r\n");
    CHECK(becomes_true(hall, [&] { return answer != nullptr; }));
    token->stands = false;
    std::this_thread::sleep_for(100ms);
    hall.on_loop([&] { answer(); });
    CHECK(patient.read_until("done").ends_with("done"));

    token->stands = true;
    RawClient late(hall.port());
    late.send(read_call_text(hall.port()));
    late.read_until("\r\n\r\n");
    CHECK(becomes_true(hall, [&] { return hall.runs.at("a")->calls_in_flight() == 1; }));
    token->stands = false;
    token->in_time = false;
    CHECK(late.read_all().find("done") == std::string::npos);
    CHECK(becomes_true(hall, [&] { return hall.runs.at("a")->calls_in_flight() == 0; }));
  }

  TEST_CASE("a token that ends while the body is on its way opens nothing") {
    Hall hall;
    const auto token = stand_in(hall);
    const std::string text = read_call_text(hall.port());
    const auto body = text.find("\r\n\r\n") + 4;
    RawClient client(hall.port());
    client.send(text.substr(0, body + 5));
    CHECK(becomes_true(hall, [&] { return hall.door->held_for("a") > 0; }));
    token->stands = false;
    client.send(text.substr(body + 5));
    CHECK(client.read().status == 401);
    CHECK(hall.runs.at("a")->calls_in_flight() == 0);
  }

  TEST_CASE("a client that was hung up on is told that its session is gone") {
    Hall hall;
    const std::string session = begin_session(hall.port());
    hall.on_loop([&] { hall.runs.at("a")->hang_up(); });
    const auto ping = [&](const std::string& in) {
      return post(hall.port(), {.session = in, .body = request(1, "ping").dump()});
    };
    CHECK(ping(session).status == 404);
    CHECK(ping(begin_session(hall.port())).status == 200);
  }

  TEST_CASE("a token that was revoked or is over is heard of, once") {
    Store here;
    here.watch->watch("stays", here.make("stays"));
    here.watch->watch("revoked", here.make("revoked"));
    here.watch->watch("brief", here.make("brief", here.clock.wall_now() + 10s));
    here.watch->look();
    CHECK(here.over.empty());
    REQUIRE(here.tokens.revoke("revoked").has_value());
    here.watch->look();
    CHECK(here.over == std::vector<std::string>{"revoked"});
    here.clock.pass(11s);
    here.loop.run_for(200ms);  // by its own timer
    CHECK(here.over == std::vector<std::string>{"revoked", "brief"});
    here.watch->look();
    CHECK(here.over.size() == 2);
    CHECK(here.unknown.empty());
  }

  TEST_CASE("where tokens cannot be read nobody's is over, and nobody stays") {
    Store here;
    const Token token = here.make("one");
    here.watch->watch("one", token);
    const auto file = here.folder.path() / "tokens.json";
    const auto kept = read_file(file, 10'000).value();
    REQUIRE(write_file_atomic(file, "nonsense", 0600).has_value());
    here.watch->look();
    CHECK(here.unknown == std::vector<std::string>{"one"});
    CHECK(here.over.empty());
    REQUIRE(write_file_atomic(file, kept, 0600).has_value());
    here.watch->look();
    CHECK(here.unknown.size() == 1);
  }

  TEST_CASE("who is there stays for a while where no descriptor is left to look, and no longer") {
    Store here;
    here.watch->watch("stays", here.make("stays"));
    here.watch->watch("revoked", here.make("revoked"));
    std::vector<std::string> gone;
    const auto brief = std::make_shared<TokenWatch>(
        here.loop.get_executor(), here.tokens,
        TokenWatch::Heard{
            .over = [](const std::string&) {},
            .unknown = [&](const std::string& client, const Error&) { gone.push_back(client); }},
        1h, 20ms);
    brief->watch("brief", here.make("brief"));
    REQUIRE(here.tokens.revoke("revoked").has_value());
    bool lets_in = true;
    std::size_t gone_at_once = 0;
    {
      const NoDescriptor none;
      lets_in = here.tokens.find("mcpac_x").has_value();
      here.watch->look();
      here.watch->look();
      brief->look();
      gone_at_once = gone.size();
      std::this_thread::sleep_for(30ms);
      brief->look();
    }
    CHECK_FALSE(lets_in);
    CHECK(here.unknown.empty());
    CHECK(here.over.empty());
    CHECK(gone_at_once == 0);
    CHECK(gone == std::vector<std::string>{"brief"});
    here.watch->look();
    CHECK(here.over == std::vector<std::string>{"revoked"});
    CHECK(here.unknown.empty());
  }

  TEST_CASE("what a token had opened ends soon after it was revoked, and stands in the record") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    workspace.write("slow.policy", "allow fixture.slow\n");
    const auto created =
        workspace.mcpac({"token", "create", "one", "--policy", "slow.policy", "--json"});
    REQUIRE(created.exit_code == 0);
    const std::string token = created.json().at("token");
    Serving serving(workspace, {"--tokens"});
    RawClient listening(serving.port());
    listening.send(listen_text(serving.port(), token));
    listening.read_until("acknowledged");
    REQUIRE(workspace.mcpac({"token", "revoke", "one"}).exit_code == 0);
    const auto begin = std::chrono::steady_clock::now();
    listening.read_until("\r\n0\r\n\r\n");  // the connection may be kept, for another token
    CHECK(std::chrono::steady_clock::now() - begin < 7s);
    const auto ended = events(workspace, "RunEnded");
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].at("payload").at("verdict") == "token-ended");
    CHECK(serving.end() == 0);
  }
}
