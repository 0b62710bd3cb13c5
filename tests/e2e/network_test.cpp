// A program in the sandbox that talks to a server on this machine, as far as it was granted.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "e2e/workspace.h"

using e2e::has;
using e2e::Workspace;

namespace {

// Takes one connection after the other, reads each to its end and says it back.
class EchoServer {
 public:
  EchoServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener_, 8) == 0);
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~EchoServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;
  [[nodiscard]] std::string port() const { return std::to_string(port_); }
  [[nodiscard]] std::string place() const { return "127.0.0.1:" + port(); }

 private:
  void serve() const {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      char bytes[4096];
      for (auto n = ::read(fd, bytes, sizeof bytes); n > 0; n = ::read(fd, bytes, sizeof bytes))
        ::send(fd, bytes, static_cast<std::size_t>(n), MSG_NOSIGNAL);
      ::close(fd);
    }
  }
  int listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

std::string talker(const std::string& call, const std::string& port) {
  return R"(#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcpac::network> rt) {
  auto made = rt.network.)" +
         call + "(\"127.0.0.1\", " + port + R"();
  if (!made) {
    std::println("{}: {}", to_string(made.error().kind()), made.error().message());
    return 0;
  }
  made->write("hello");
  made->shut_down_writing();
  std::println("{}", made->read_all(1000));
  return 0;
}
)";
}

}  // namespace

TEST_SUITE("e2e/network") {
  TEST_CASE("a program talks to what it declared and was granted, and the record says so") {
    const EchoServer server;
    auto& workspace = Workspace::shared();
    const auto run = workspace.execute(talker("try_connect_plain", server.port()), "",
                                       {"--network", server.place()});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.out == "hello\n");
    const auto log = workspace.mcpac({"audit", "list", "--kind", "ConnectionEnded", "--json"});
    INFO(log.out, log.err);
    REQUIRE(log.exit_code == 0);
    const auto events = log.json();
    REQUIRE_FALSE(events.empty());
    const std::string id = events.back()["run_id"];
    const auto replayed = workspace.mcpac({"audit", "replay", id, "--json"});
    INFO(replayed.out, replayed.err);
    CHECK(replayed.exit_code == 0);
    CHECK(replayed.json()[0]["recomputed"] == 2);  // by name, and by address
    const auto query = [&](std::vector<std::string> words) {
      words.insert(words.begin(), {"audit", "query"});
      words.insert(words.end(), {"--run", id, "--json"});
      return workspace.mcpac(words).json();
    };
    CHECK(query({"first-use", "mcpac.network"})[0]["target"] == server.place());
    CHECK(query({"connected", server.place()}).size() == 2);  // it could, and it did
    CHECK(query({"connected", "127.0.0.1:1"}).empty());
    CHECK(query({"unused"}).empty());
  }

  TEST_CASE("without a grant it is refused before anything runs, with the option to add") {
    const EchoServer server;
    const auto run = Workspace::shared().execute(talker("try_connect_plain", server.port()), "");
    CHECK(run.exit_code == 77);
    CHECK(has(run.err, "MCPAC-E0704"));
    CHECK(has(run.err, "--network HOST:PORT"));
  }

  TEST_CASE("another port than the granted one is denied, and the user hears what would admit it") {
    const EchoServer server;
    const auto run = Workspace::shared().execute(talker("try_connect_plain", server.port()), "",
                                                 {"--network", "127.0.0.1:1"});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(has(run.out, "denied"));
    CHECK_FALSE(has(run.out, "--network"));
    CHECK(has(run.err, "--network " + server.place()));
  }

  TEST_CASE("a server without TLS is an error of TLS, not a plain connection") {
    const EchoServer server;
    const auto run = Workspace::shared().execute(talker("try_connect", server.port()), "",
                                                 {"--network", server.place()});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(has(run.out, "no trusted connection"));
  }
}
