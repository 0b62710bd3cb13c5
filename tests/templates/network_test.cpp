// rt.network against a scripted host: what it asks for, and what becomes of the descriptor.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <mcpac.hpp>

namespace {

std::array<int, 2> make_pair() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  return ends;
}

// The host's end of a channel: reads requests, answers the first `ping` and every connect.
class Host {
 public:
  explicit Host(int fd) : fd_(fd) {}
  ~Host() { ::close(fd_); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // The next request that is no ping.
  mcpac::Json next() {
    for (;;) {
      const auto end = input_.find('\n');
      if (end == std::string::npos) {
        char bytes[4096];
        const auto n = ::read(fd_, bytes, sizeof bytes);
        if (n <= 0) return nullptr;
        input_.append(bytes, static_cast<std::size_t>(n));
        continue;
      }
      const auto request = mcpac::Json::parse(input_.substr(0, end));
      input_.erase(0, end + 1);
      if (request.at("method") != "ping") return request;
      ++pings;
      say({{"jsonrpc", "2.0"}, {"id", request.at("id")}, {"result", mcpac::Json::object()}});
    }
  }
  // `before`: a line that arrives in one piece with it.
  void say(const mcpac::Json& message, int descriptor = -1, const std::string& before = "") const {
    std::string line = before + message.dump() + "\n";
    iovec part{line.data(), line.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (descriptor >= 0) {
      header.msg_control = control.data();
      header.msg_controllen = control.size();
      cmsghdr* rights = CMSG_FIRSTHDR(&header);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    }
    if (::sendmsg(fd_, &header, MSG_NOSIGNAL) < 0) return;
  }
  void connect(const mcpac::Json& request, int descriptor, const std::string& before = "") const {
    say({{"jsonrpc", "2.0"},
         {"id", request.at("id")},
         {"result", {{"connection", 1}, {"descriptor", true}}}},
        descriptor, before);
  }
  int pings = 0;

 private:
  int fd_;
  std::string input_;
};

// A session with `script` at its other end.
struct Run {
  template <class Script>
  explicit Run(Script script) {
    const auto ends = make_pair();
    fd = ends[0];
    thread = std::thread([script, host = ends[1]] {
      Host end(host);
      script(end);
    });
    session = std::make_unique<mcpac::Session>(fd);
  }
  ~Run() {
    ::shutdown(fd, SHUT_RDWR);
    thread.join();
    ::close(fd);
  }
  auto capability() {
    return mcpac::detail::Mint::make<mcpac::Requires<mcpac::network>>(session.get());
  }
  int fd = -1;
  std::thread thread;
  std::unique_ptr<mcpac::Session> session;
};

}  // namespace

TEST_SUITE("templates/network") {
  TEST_CASE("connecting asks with host, port and TLS, and bytes go over what came back") {
    Run run([](Host& host) {
      const auto request = host.next();
      CHECK(request.at("method") == "network/connect");
      CHECK(request.at("params") ==
            mcpac::Json{{"host", "a.example"}, {"port", 443}, {"tls", true}});
      const auto ends = make_pair();
      host.connect(request, ends[0]);
      ::close(ends[0]);
      char bytes[16];
      CHECK(::read(ends[1], bytes, sizeof bytes) == 5);
      CHECK(::read(ends[1], bytes, sizeof bytes) == 0);
      CHECK(::write(ends[1], "world", 5) == 5);
      ::close(ends[1]);
    });
    auto connection = run.capability().network.connect("a.example", 443);
    connection.write("hello");
    connection.shut_down_writing();
    CHECK(connection.read_all(5) == "world");
    CHECK(connection.read_some().empty());
    mcpac::Connection moved = std::move(connection);
    CHECK(moved.is_open());
    moved.close();
    CHECK_THROWS_AS(moved.write("x"), mcpac::TransportError);
  }

  TEST_CASE(
      "each answer has its own descriptor, whatever is answered between, and one ping is enough") {
    Run run([](Host& host) {
      for (const char* text : {"one", "two"}) {
        const auto request = host.next();
        const auto ends = make_pair();
        host.connect(request, ends[0]);
        ::close(ends[0]);
        CHECK(::write(ends[1], text, 3) == 3);
        ::close(ends[1]);
      }
      CHECK(host.pings == 1);
    });
    const auto rt = run.capability();
    auto one = rt.network.connect_plain("a.example", 80);
    auto two = rt.network.connect_plain("a.example", 80);
    CHECK(two.read_all(10) == "two");
    CHECK(one.read_all(10) == "one");
  }

  TEST_CASE("a server whose result says that it brings a descriptor gets none that is another's") {
    Run run([](Host& host) {
      const auto call = host.next();
      const mcpac::Json result{{"jsonrpc", "2.0"},
                               {"id", call.at("id")},
                               {"result", {{"content", "text"}, {"descriptor", true}}}};
      const auto ends = make_pair();
      host.connect(host.next(), ends[0], result.dump() + "\n");
      ::close(ends[0]);
      CHECK(::write(ends[1], "one", 3) == 3);
      ::close(ends[1]);
    });
    const auto call = run.session->start("server.tool", mcpac::Json::object());
    auto connection = run.capability().network.connect("a.example", 443);
    CHECK(connection.read_all(10) == "one");
    CHECK(call->done);
    CHECK(call->descriptor == -1);
  }

  TEST_CASE("more than the limit is an error, and no endless text") {
    Run run([](Host& host) {
      const auto ends = make_pair();
      host.connect(host.next(), ends[0]);
      ::close(ends[0]);
      CHECK(::write(ends[1], "123456", 6) == 6);
      ::close(ends[1]);
    });
    auto connection = run.capability().network.connect("a.example", 443);
    CHECK_THROWS_AS(static_cast<void>(connection.read_all(5)), mcpac::BudgetExceeded);
  }

  TEST_CASE("a refusal is thrown as its class, or is the error of try_connect") {
    Run run([](Host& host) {
      for (int i = 0; i < 2; ++i) {
        const auto request = host.next();
        host.say({{"jsonrpc", "2.0"},
                  {"id", request.at("id")},
                  {"error",
                   {{"code", -32001},
                    {"message", "permission denied"},
                    {"data", {{"kind", "denied"}, {"reason", "no"}}}}}});
      }
    });
    const auto rt = run.capability();
    CHECK_THROWS_AS(static_cast<void>(rt.network.connect("a.example", 443)), mcpac::Denied);
    const auto tried = rt.network.try_connect("a.example", 443);
    REQUIRE_FALSE(tried.has_value());
    CHECK(tried.error().kind() == mcpac::ErrorKind::denied);
    CHECK(tried.error().permission() == "mcpac.network");
  }

  TEST_CASE("an answer that should bring a descriptor, and does not, is an error") {
    Run run([](Host& host) { host.connect(host.next(), -1); });
    CHECK_THROWS_AS(static_cast<void>(run.capability().network.connect("a.example", 443)),
                    mcpac::TransportError);
  }
}
