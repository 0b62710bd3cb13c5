// The network of a confined server: what its proxy takes, what its names lead to, and what is kept
// of that. Against real servers on 127.0.0.1; the sockets are what a sandbox would have made.
#include "servers/confine/server_network.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "audit/log.h"
#include "audit/verify.h"
#include "core/file.h"
#include "history/records/audit_query.h"
#include "history/records/connection_query.h"
#include "history/records/replay.h"
#include "network/support_network.h"
#include "servers/confine/name_answers.h"

using namespace mcpac;
using namespace mcpac::servers;
using namespace mcpac::history;
using namespace mcpac::network::testing;

namespace {

struct Bound {
  UniqueFd socket;
  std::uint16_t port = 0;
};

Bound bound(int type) {
  Bound made;
  made.socket = UniqueFd(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof own;
  REQUIRE(::bind(made.socket.get(), reinterpret_cast<sockaddr*>(&own), size) == 0);
  if (type == SOCK_STREAM) REQUIRE(::listen(made.socket.get(), 64) == 0);
  REQUIRE(::getsockname(made.socket.get(), reinterpret_cast<sockaddr*>(&own), &size) == 0);
  made.port = ntohs(own.sin_port);
  return made;
}

UniqueFd dialled(std::uint16_t port, int type = SOCK_STREAM) {
  UniqueFd socket(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  const timeval patience{20, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return socket;
}

void say(const UniqueFd& socket, std::string_view bytes) {
  REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(bytes.size()));
}

std::string heard(const UniqueFd& socket, std::size_t at_most = std::size_t{1} << 20U) {
  std::string all;
  char piece[4096];
  while (all.size() < at_most) {
    const ssize_t size =
        ::recv(socket.get(), piece, std::min(sizeof piece, at_most - all.size()), 0);
    if (size <= 0) break;
    all.append(piece, static_cast<std::size_t>(size));
  }
  return all;
}

// A server's network, without the server: its proxy, and a relay for one port.
class Network {
 public:
  explicit Network(std::vector<std::string> places,
                   ServersReach reach = ServersReach::kAsTheirEntries) {
    auto network = network_of_server("fetcher", "/project/mcpac.json", places, reach);
    INFO((network ? std::string() : network.error().to_text()));
    REQUIRE(network.has_value());
    Bound own = bound(SOCK_STREAM);
    Bound asked = bound(SOCK_DGRAM);
    proxy = own.port;
    name_port = asked.port;
    network->proxy_port = own.port;
    std::vector<UniqueFd> sockets;
    sockets.push_back(std::move(own.socket));
    sockets.push_back(std::move(asked.socket));
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    told_ = UniqueFd(ends[0]);
    auto session = connections.serve(std::move(*network), std::move(sockets), UniqueFd(ends[1]));
    REQUIRE(session.has_value());
    session_ = std::move(*session);
  }
  // What a client hears that says all this at once, and no more.
  [[nodiscard]] std::string exchange(std::string_view bytes) const {
    const UniqueFd client = dialled(proxy);
    say(client, bytes);
    ::shutdown(client.get(), SHUT_WR);
    return heard(client);
  }
  // Ends it: what its user was told, and the events of its record.
  std::string told() {
    session_.reset();
    std::string all;
    char piece[4096];
    for (ssize_t size = 0; (size = ::read(told_.get(), piece, sizeof piece)) > 0;)
      all.append(piece, static_cast<std::size_t>(size));
    return all;
  }
  [[nodiscard]] std::vector<audit::Event> events() {
    session_.reset();
    auto read = audit::read_events(folder.path() / "audit", {});
    REQUIRE(read.has_value());
    return std::move(*read);
  }
  void end() { session_.reset(); }

  TemporaryFolder folder =
      std::move(TemporaryFolder::create("/tmp", "mcpac-test-server-network").value());
  std::size_t looked_up = 0;
  ServerConnections connections{folder.path() / "audit", [](const auto&) {
                                  return std::make_shared<ScriptedResolver>(
                                      std::vector<std::vector<std::string>>{{"127.0.0.1"}});
                                }};
  std::uint16_t proxy = 0;
  std::uint16_t name_port = 0;

 private:
  UniqueFd told_;
  std::unique_ptr<ServerConnections::Session> session_;
};

// Says back what was said, in capitals, once the other side is done.
void in_capitals(Peer& peer) {
  std::string all = peer.read_all();
  for (char& c : all) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  peer.write(all);
  peer.finish();
}

// Both the name and the private address that it leads to.
std::vector<std::string> places_of(std::uint16_t port) {
  return {fmt::format("api.example.com:{}", port), fmt::format("127.0.0.1:{}", port)};
}

std::string as_bytes(std::uint16_t port) {
  return {static_cast<char>(port >> 8U), static_cast<char>(port & 0xffU)};
}

std::string field(const Json& payload, const char* name) {
  const Json* found = find_member(payload, name);
  return found == nullptr ? "-" : found->is_string() ? found->get<std::string>() : found->dump();
}

std::string query_for(std::string_view name, char type) {
  std::string query("\x12\x34\x01\0\0\x01\0\0\0\0\0\0", 12);
  while (!name.empty()) {
    const auto dot = std::min(name.find('.'), name.size());
    query += static_cast<char>(dot);
    query += name.substr(0, dot);
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  query += std::string("\0\0", 2) + type + std::string("\0\x01", 2);
  return query;
}

}  // namespace

TEST_SUITE("execute/server network") {
  TEST_CASE("a server reaches what its entry names by CONNECT, HTTP, SOCKS5 and SOCKS4a") {
    struct Way {
      const char* name;
      std::function<std::string(const std::string& host, std::uint16_t port)> ask;
      std::string granted;
    };
    const std::string socks5_granted("\x05\0\x05\0\0\x01\0\0\0\0\0\0", 12);
    const std::vector<Way> ways = {
        {"CONNECT",
         [](const std::string& host, std::uint16_t port) {
           return fmt::format("CONNECT {0}:{1} HTTP/1.1\r\nHost: {0}:{1}\r\n\r\n", host, port);
         },
         "HTTP/1.1 200 Connection established\r\n\r\n"},
        {"SOCKS5, a name",
         [](const std::string& host, std::uint16_t port) {
           return std::string("\x05\x01\0\x05\x01\0\x03", 7) + static_cast<char>(host.size()) +
                  host + as_bytes(port);
         },
         socks5_granted},
        {"SOCKS5, an address",
         [](const std::string&, std::uint16_t port) {
           return std::string("\x05\x02\0\x02\x05\x01\0\x01\x7f\0\0\x01", 12) + as_bytes(port);
         },
         socks5_granted},
        {"SOCKS4a",
         [](const std::string& host, std::uint16_t port) {
           return "\x04\x01" + as_bytes(port) + std::string("\0\0\0\x01me\0", 7) + host +
                  std::string("\0", 1);
         },
         std::string("\0\x5a\0\0\0\0\0\0", 8)}};
    for (const Way& way : ways) {
      CAPTURE(way.name);
      Server server(in_capitals);
      Network network(places_of(server.port()));
      // What comes behind the request is for the other side, and each half ends by itself.
      CHECK(network.exchange(way.ask("API.example.com", server.port()) + "early and late") ==
            way.granted + "EARLY AND LATE");
      const auto events = network.events();
      REQUIRE(events.size() >= 5);
      CHECK(field(events[0].payload, "program") == "server fetcher");
      const Json& dialled_at = events[2].payload;
      CHECK(events[2].kind == "NetworkCheck");
      CHECK(field(dialled_at, "server") == "fetcher");
      CHECK(field(dialled_at, "port") == std::to_string(server.port()));
      CHECK(field(dialled_at, "address") == "127.0.0.1");
      CHECK(field(dialled_at, "allowed") == "true");
      CHECK(events[3].kind == "ConnectionEnded");
      CHECK(field(events[3].payload, "server") == "fetcher");
      CHECK(field(events[3].payload, "bytes_out") == "14");
      CHECK(events[4].kind == "RunEnded");
      CHECK(network.told().empty());
    }
  }

  TEST_CASE("a request is written anew: one, to the host it names, with nothing of the hop") {
    std::string seen;
    Server server([&seen](Peer& peer) {
      while (!seen.ends_with("0\r\n\r\n")) {
        const std::string more = peer.read();
        if (more.empty()) break;
        seen += more;
      }
      peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
      peer.finish();
    });
    Network network(places_of(server.port()));
    const std::string answer = network.exchange(fmt::format(
        "POST http://api.example.com:{}/a?b=c HTTP/1.1\r\nHost: other.example.com\r\n"
        "Proxy-Authorization: Basic c2VjcmV0\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\n"
        "X-Kept: 2\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nTrailer: no\r\n\r\n"
        "GET http://elsewhere.example.com/ HTTP/1.1\r\n\r\n",
        server.port()));
    CHECK(answer.ends_with("\r\n\r\nok"));
    CHECK(seen == fmt::format("POST /a?b=c HTTP/1.1\r\nHost: api.example.com:{}\r\nX-Kept: 2\r\n"
                              "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                              "3\r\nabc\r\n0\r\n\r\n",
                              server.port()));
  }

  TEST_CASE("what its entry does not name is refused, recorded, and told with what to write") {
    Server server(in_capitals);
    const std::uint16_t port = server.port();
    const auto ask = [](const std::string& place) {
      return fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", place);
    };
    // The name alone: what it leads to is private.
    Network network({fmt::format("api.example.com:{}", port), "*.other.example:443"});
    const std::vector<std::string> refused = {
        "evil.example.net:443", "api.example.com:1",
        "127.0.0.1:443",        "[::1]:443",
        "169.254.169.254:80",   "x.other.example:444",
        "2130706433:443",       fmt::format("api.example.com:{}", port)};
    for (const std::string& place : refused) {
      CAPTURE(place);
      CHECK(network.exchange(ask(place)).starts_with("HTTP/1.1 403 Forbidden\r\n"));
      CHECK(network.exchange(ask(place)).starts_with("HTTP/1.1 403 Forbidden\r\n"));
    }
    CHECK(network.exchange(std::string("\x05\x01\0\x05\x01\0\x01\x7f\0\0\x01\0\x50", 13)) ==
          std::string("\x05\0\x05\x02\0\x01\0\0\0\0\0\0", 12));
    const auto events = network.events();
    const auto is_refusal = [](const audit::Event& event) {
      return event.kind == "NetworkCheck" && field(event.payload, "allowed") == "false";
    };
    CHECK(std::ranges::count_if(events, is_refusal) == 17);
    CHECK(std::ranges::none_of(events, [](const audit::Event& event) {
      return event.kind == "NetworkCheck" && field(event.payload, "allowed") == "true" &&
             field(event.payload, "address") != "null";
    }));
    const std::string told = network.told();
    INFO(told);
    CHECK(told.contains("server fetcher was refused a connection to evil.example.net:443: "));
    CHECK(
        told.contains("add \"evil.example.net:443\" to sandbox.network of server fetcher in "
                      "/project/mcpac.json"));
    // Where a name leads inside, no grant is suggested.
    CHECK(told.contains(
        fmt::format("nothing in sandbox.network of server fetcher allows 127.0.0.1:{};"
                    " a name that was granted leads inside",
                    port)));
    CHECK(told.contains("169.254.169.254:80"));
    CHECK_FALSE(told.contains("--network"));
    CHECK(std::ranges::count(told, '\n') == 9);  // each destination once
  }

  TEST_CASE("deny network of the rules refuses every connection, whatever the entry says") {
    Server server(in_capitals);
    Network network(places_of(server.port()), ServersReach::kNothing);
    CHECK(network.exchange(fmt::format("CONNECT 127.0.0.1:{} HTTP/1.1\r\n\r\n", server.port()))
              .starts_with("HTTP/1.1 403 "));
    CHECK(network.told().contains("deny network"));
    const UniqueFd release = dialled(server.port());
  }

  TEST_CASE("a server's own record is proven, and its connections are decided again from it") {
    Server server(in_capitals);
    const std::uint16_t port = server.port();
    for (const auto reach : {ServersReach::kAsTheirEntries, ServersReach::kNothing}) {
      const bool is_open = reach == ServersReach::kAsTheirEntries;
      CAPTURE(is_open);
      Network network(
          {fmt::format("127.0.0.1:{}", port), "api.example.com:443", "*.wide.example:*"}, reach);
      const auto ask = [&](const std::string& place) {
        return network.exchange(fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", place));
      };
      CHECK(ask(fmt::format("127.0.0.1:{}", port)).contains(is_open ? " 200 " : " 403 "));
      // By its name, by an address that a name leads to, and as a name that is asked for.
      CHECK(ask("evil.example.net:443").contains(" 403 "));
      CHECK(ask("api.example.com:443").contains(" 403 "));
      CHECK(ask("[::1]:80").contains(" 403 "));
      const UniqueFd names = dialled(network.name_port, SOCK_DGRAM);
      say(names, query_for("asked.example.net", 1));
      CHECK_FALSE(heard(names, 1).empty());
      auto events = network.events();
      const auto folder = network.folder.path() / "audit";
      const auto keys = audit::own_keys(folder);
      REQUIRE(keys);
      CHECK(audit::verify(folder, *keys, std::nullopt)->standing() == audit::Standing::kProven);

      const auto no_lock = [](const std::string&) -> Result<codegen::Lock> {
        return fail(ErrorId::kAuditUnreadable, "a server has no lock");
      };
      const auto replayed = [&] {
        auto again = replay_run(events, no_lock);
        REQUIRE_MESSAGE(again, (again ? "" : again.error().to_text()));
        return std::move(*again);
      };
      const auto whole = replayed();
      for (const auto& difference : whole.differences) FAIL_CHECK(difference.what);
      CHECK(whole.decisions == (is_open ? 7 : 5));  // of names, and of two addresses
      CHECK(whole.recomputed == whole.decisions);

      const auto could = who_could_connect(events, "api.example.com:443");
      REQUIRE(could);
      CHECK(could->size() == (is_open ? 1 : 0));
      for (const auto& row : *could) CHECK(row.permission == "server fetcher");
      CHECK(who_could_touch(events, "/srv", no_lock)->empty());
      const auto unused = granted_never_used(events);
      REQUIRE(unused.size() == 1);
      CHECK(unused[0].permissions.size() == (is_open ? 0 : 1));
      CHECK(unused[0].rules.size() == (is_open ? 2 : 3));

      // One that somebody changed comes out otherwise, whatever was changed.
      const auto changed = [&](std::string_view kind, const auto& is_meant, const auto& change) {
        const auto found = std::ranges::find_if(events, [&](const audit::Event& event) {
          return event.kind == kind && is_meant(event.payload);
        });
        REQUIRE(found != events.end());
        const Json before = found->payload;
        change(found->payload);
        CHECK_FALSE(replayed().differences.empty());
        found->payload = before;
      };
      const auto any = [](const Json&) { return true; };
      const auto of_evil = [](const Json& payload) {
        return string_member(payload, "host") == "evil.example.net";
      };
      changed("NetworkCheck", of_evil, [](Json& payload) { payload["allowed"] = true; });
      changed("NetworkCheck", any, [](Json& payload) { payload["layer"] = "another"; });
      changed("RunStarted", any, [](Json& payload) {
        payload["policy"]["layers"][0]["places"][0]["statement"] = "network evil.example.net:443";
      });
      if (!is_open) continue;
      changed("NetworkCheck", any, [](Json& payload) { payload["allowed"] = false; });
      changed("ConnectionEnded", any, [](Json& payload) { payload["address"] = "10.0.0.1"; });
    }
  }

  TEST_CASE("what a proxy could read in two ways, or without end, is refused and dials nothing") {
    Server server(in_capitals);
    const std::string host = fmt::format("127.0.0.1:{}", server.port());
    const std::string post = fmt::format("POST http://{}/ HTTP/1.1\r\nHost: {}\r\n", host, host);
    Network network(places_of(server.port()));
    const std::vector<std::string> refused = {
        "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n",
        fmt::format("GET https://{}/ HTTP/1.1\r\nHost: {}\r\n\r\n", host, host),
        fmt::format("GET http://user@{}/ HTTP/1.1\r\n\r\n", host),
        fmt::format("GET http://{}/#part HTTP/1.1\r\n\r\n", host),
        "GET http:///path HTTP/1.1\r\n\r\n",
        "GET http://127.0.0.1:0/ HTTP/1.1\r\n\r\n",
        "GET http://127.0.0.1:99999/ HTTP/1.1\r\n\r\n",
        "CONNECT 127.0.0.1 HTTP/1.1\r\n\r\n",
        "CONNECT /path HTTP/1.1\r\n\r\n",
        "CONNECT " + host + " HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
        post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        post + "Host: again\r\n\r\n",
        post + "X-Folded: a\r\n b\r\n\r\n",
        post + "X-Bare: a\nX: b\r\n\r\n",
        post + "Content-Length : 3\r\n\r\nabc",
        "POST http://127.0.0.1/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET http://" + host + "/ HTTP/9.9\r\n\r\n",
        "GET http://" + host + "/ HTTP/1.1\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n",
        std::string(40'000, 'a'),
        std::string("\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", 11),
        std::string("\x05\0", 2),
        std::string("\x05\x01\x02", 3),
        std::string("\x05\x01\0\x05\x02\0\x01\x7f\0\0\x01\0\x50", 13),
        std::string("\x05\x01\0\x05\x01\0\x09\x7f\0\0\x01\0\x50", 13),
        std::string("\x05\x01\0\x05\x01\0\x03\0\0\x50", 10),
        std::string("\x05\x01\0\x04\x01\0\x01\x7f\0\0\x01\0\x50", 13),
        std::string("\x04\x02\0\x50\x7f\0\0\x01\0", 9),
        "\x04\x01" + as_bytes(server.port()) + std::string("\0\0\0\x01\0", 5) +
            std::string(300, 'a')};
    for (const std::string& bytes : refused) {
      CAPTURE(bytes.substr(0, 80));
      const std::string answer = network.exchange(bytes);
      CAPTURE(answer);
      const bool is_refused = answer.starts_with("HTTP/1.1 4") || answer.empty() ||
                              answer.starts_with("\x05\xff") || answer.ends_with("\0\0\0\0\0\0") ||
                              answer.size() == 2 || answer[0] == '\0';
      CHECK(is_refused);
      CHECK_FALSE(answer.contains("HTTP/1.1 2"));
      CHECK_FALSE(answer.contains(std::string("\0\x5a", 2)));
    }
    for (const audit::Event& event : network.events()) CHECK(event.kind != "ConnectionEnded");
    const UniqueFd release = dialled(server.port());
  }

  TEST_CASE("those who say nothing keep nobody else out, and refusals have a bound") {
    Server server(in_capitals);
    Network network(places_of(server.port()));
    // Fewer than may say nothing at once: the rest is served beside them.
    std::vector<UniqueFd> silent;
    for (int i = 0; i < 30; ++i) silent.push_back(dialled(network.proxy));
    for (int i = 0; i < 20; ++i)
      CHECK(network.exchange("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 "));
    silent.clear();
    // Bounded in the record and for the server's user, however often it asks.
    for (int i = 0; i < 256; ++i)
      std::ignore = network.exchange(fmt::format("CONNECT h{}.example:443 HTTP/1.1\r\n\r\n", i));
    const UniqueFd over = dialled(network.proxy);
    CHECK(std::ranges::count(network.told(), '\n') <= 33);
    const auto events = network.events();
    const auto refused = std::ranges::count(events, "NetworkCheck", &audit::Event::kind);
    CHECK(refused >= 250);
    CHECK(refused <= 300);
    const UniqueFd release = dialled(server.port());
  }

  TEST_CASE("names that the entry admits lead to addresses that stand for them, others nowhere") {
    Network network({"api.example.com:443", "*.wide.example:*", "127.0.0.1:443"});
    const UniqueFd socket = dialled(network.name_port, SOCK_DGRAM);
    const auto ask = [&](const std::string& query) {
      say(socket, query);
      char reply[512];
      const ssize_t size = ::recv(socket.get(), reply, sizeof reply, 0);
      return std::string(reply, size > 0 ? static_cast<std::size_t>(size) : 0);
    };
    const auto code = [](const std::string& reply) { return reply.at(3) & 0xf; };
    const auto answers = [](const std::string& reply) { return int{reply.at(7)}; };
    const std::string first = ask(query_for("API.example.com", 1));
    CHECK(code(first) == 0);
    CHECK(answers(first) == 1);
    CHECK(first.substr(0, 2) == "\x12\x34");
    CHECK(first.substr(first.size() - 4) == std::string("\xc6\x12\0\x01", 4));
    CHECK(ask(query_for("a.wide.example", 1)).ends_with(std::string("\xc6\x12\0\x02", 4)));
    CHECK(ask(query_for("api.example.com", 1)).ends_with(std::string("\xc6\x12\0\x01", 4)));
    // Of another type there is nothing, and that is no refusal of the name.
    const std::string v6 = ask(query_for("api.example.com", 28));
    CHECK(code(v6) == 0);
    CHECK(answers(v6) == 0);
    for (const char* name :
         {"evil.example.net", "example.com", "wide.example.evil", "localhost.evil"})
      CHECK(code(ask(query_for(name, 1))) == 3);
    CHECK(ask(query_for("localhost", 1)).ends_with(std::string("\x7f\0\0\x01", 4)));
    // What is no question is said to be none, or nothing; and the next one is answered.
    std::string broken = query_for("api.example.com", 1);
    broken[5] = 2;
    CHECK(code(ask(broken)) == 1);
    std::string pointing = query_for("api.example.com", 1);
    pointing[12] = static_cast<char>(0xc0);
    CHECK(code(ask(pointing)) == 1);
    std::string update = query_for("api.example.com", 1);
    update[2] = 0x28;
    CHECK(code(ask(update)) == 4);
    std::string answer = query_for("api.example.com", 1);
    answer[2] = static_cast<char>(0x81);
    say(socket, answer);
    say(socket, "short");
    CHECK(code(ask(query_for("api.example.com", 1))) == 0);
    // By that address a proxy reaches the name as well.
    CHECK(network.exchange("CONNECT 198.18.0.1:444 HTTP/1.1\r\n\r\n").contains("403"));
    CHECK(network.exchange("CONNECT 198.18.0.9:443 HTTP/1.1\r\n\r\n").contains("403"));
    const auto events = network.events();
    const auto has = [&](const std::string& host) {
      return std::ranges::count_if(events, [&](const audit::Event& event) {
        return event.kind == "NetworkCheck" && field(event.payload, "host") == host;
      });
    };
    CHECK(has("evil.example.net") == 1);
    CHECK(has("api.example.com") == 1);
    CHECK(has("198.18.0.9") == 1);
    // Of a name alone no port was seen, and none is made up.
    CHECK(network.told().contains("add \"evil.example.net:PORT\" to sandbox.network of server "));
  }

  TEST_CASE("notes of each kind and server have their own number, and past it one note says so") {
    using Note = ServerConnections::Note;
    const TemporaryFolder folder =
        std::move(TemporaryFolder::create("/tmp", "mcpac-test-server-notes").value());
    std::vector<std::string> told;
    {
      ServerConnections connections(folder.path() / "audit");
      const auto note = [&](Note::Kind kind, const std::string& server, const std::string& key) {
        connections.note({.kind = kind,
                          .server = server,
                          .key = key,
                          .text = server + ": " + key,
                          .anomaly = {{"what", "x"}, {"path", key}}});
      };
      // A call that fails in many ways, before somebody hears of it.
      for (std::size_t i = 0; i < 2 * ServerConnections::kMostFailedCalls; ++i)
        note(Note::Kind::kFailedCall, "one", fmt::format("/call/{}", i));
      for (std::size_t i = 0; i < 2 * ServerConnections::kMostUnseen; ++i)
        note(Note::Kind::kUnseen, "one", fmt::format("/closed/{}", i));
      note(Note::Kind::kNewName, "one", "/data/.envrc");
      connections.tell_refusals([&](const std::string& text, bool) { told.push_back(text); });
      note(Note::Kind::kNewName, "one", "/data/.envrc");
      note(Note::Kind::kNewName, "one", "/data/.git/hooks");
      note(Note::Kind::kFailedCall, "two", "/call/0");
      connections.tell_refusals(nullptr);
    }
    const auto count = [&](std::string_view begin) {
      return std::ranges::count_if(
          told, [&](const std::string& text) { return text.starts_with(begin); });
    };
    CHECK(count("one: /call/") == ServerConnections::kMostFailedCalls);
    CHECK(count("one: /closed/") == ServerConnections::kMostUnseen);
    CHECK(count("one: /data/.envrc") == 1);
    CHECK(count("one: /data/.git/hooks") == 1);
    CHECK(count("two: /call/0") == 1);
    CHECK(count("one: why more of its calls failed is not told; `mcpac server confine one --learn "
                "--call …`") == 1);
    CHECK(count("one: more of what it may write cannot be looked through, and is not told") == 1);
    CHECK(told.size() == ServerConnections::kMostFailedCalls + ServerConnections::kMostUnseen + 5);

    // A record a server, each with its own alone, and whole.
    auto events = audit::read_events(folder.path() / "audit", {});
    REQUIRE(events.has_value());
    std::map<std::string, std::string> servers;  // by record
    std::map<std::string, std::size_t> anomalies;
    for (const auto& event : *events) {
      if (event.kind == "RunStarted")
        servers[event.run_id] = field(event.payload, "program");
      else if (event.kind == "Anomaly") {
        CHECK(servers.at(event.run_id) == "server " + field(event.payload, "server"));
        ++anomalies[field(event.payload, "server")];
      }
    }
    CHECK(servers.size() == 2);
    CHECK(anomalies["one"] ==
          ServerConnections::kMostFailedCalls + ServerConnections::kMostUnseen + 4);
    CHECK(anomalies["two"] == 1);
    for (const auto& [record, program] : servers)
      CHECK(std::ranges::count_if(*events, [&](const audit::Event& event) {
              return event.run_id == record && event.kind == "RunEnded";
            }) == 1);
  }

  TEST_CASE("names are answered up to a number, and labels cannot make other names") {
    NameAnswers names([](const std::string& name) { return name.ends_with(".example"); });
    for (int i = 0; i < 4096; ++i) {
      const auto reply = names.answer(query_for(fmt::format("n{}.example", i), 1));
      REQUIRE(reply);
      REQUIRE((reply->at(3) & 0xf) == 0);
    }
    const auto over = names.answer(query_for("more.example", 1));
    REQUIRE(over);
    CHECK((over->at(3) & 0xf) == 2);
    CHECK(names.name_of(boost::asio::ip::make_address_v4("198.18.0.1")) == "n0.example");
    CHECK(names.name_of(boost::asio::ip::make_address_v4("198.18.16.0")) == "n4095.example");
    CHECK_FALSE(names.name_of(boost::asio::ip::make_address_v4("198.18.16.1")));
    CHECK_FALSE(names.name_of(boost::asio::ip::make_address_v4("198.18.0.0")));
    std::string dotted = query_for("aXb.example", 1);
    dotted[dotted.find('X')] = '.';
    CHECK((names.answer(dotted)->at(3) & 0xf) == 1);
  }

  TEST_CASE("an entry's places are those of network rules, and say what is wrong with them") {
    const auto made = [](std::vector<std::string> places) {
      return network_of_server("fetcher", "mcpac.json", places, ServersReach::kAsTheirEntries);
    };
    const auto network = made({"api.example.com:443", "*.example.org:*", "10.1.0.0/16:8443"});
    REQUIRE(network.has_value());
    CHECK(network->ports == std::vector<std::uint16_t>{80, 443, 8443});
    CHECK(made({"any"})->ports == std::vector<std::uint16_t>{80, 443});
    CHECK(made({"[fd00::/8]:880"})->proxy_port == 881);
    std::vector<std::string> many;
    for (int i = 0; i < 14; ++i) many.push_back(fmt::format("a.example.com:{}", 1000 + i));
    CHECK(made(many).error().what.contains("14 ports"));
    for (const char* place :
         {"", "api.example.com", "https://api.example.com/", "*.com:443", "a:b:443", "*:*",
          "api.example.com:443\ndeny network", "api.example.com:443 # and", "10.0.0.0/99:1"}) {
      CAPTURE(place);
      const auto refused = made({place});
      REQUIRE_FALSE(refused.has_value());
      CHECK(refused.error().id == ErrorId::kConfigInvalid);
      CHECK(refused.error().where == "mcpac.json: mcpServers.fetcher.sandbox.network");
      CHECK_FALSE(refused.error().fix.contains("network network"));
    }
    CHECK(made({"https://api.example.com/"}).error().fix == "write \"api.example.com:443\"");
    const auto loopback = made({"localhost:18082"});
    CHECK(loopback.error().fix == "e.g. \"127.0.0.1:18082\", \"[::1]:18082\"");
    CHECK(made({"127.0.0.1:18082", "[::1]:18082"}).has_value());
    // The variables of the entry stay.
    sandbox::Spec spec;
    spec.arguments = {"confined", "server"};
    spec.environment = {"HTTPS_PROXY=http://mine"};
    give_network(*network, spec);
    CHECK(spec.arguments.front() == "confined+6");
    const auto has = [&](const char* variable) {
      return std::ranges::count(spec.environment, variable) == 1;
    };
    CHECK(has("HTTPS_PROXY=http://mine"));
    CHECK_FALSE(has("HTTPS_PROXY=http://127.0.0.1:880"));
    CHECK(has("https_proxy=http://127.0.0.1:880"));
    CHECK(has("NO_PROXY=localhost,127.0.0.1,::1"));
    CHECK(has("NODE_USE_ENV_PROXY=1"));
  }

  TEST_CASE(
      "the end of a server ends its connections, and a run's record has them while it lasts") {
    Server server([](Peer& peer) { std::ignore = peer.read_all(); });
    Network network(places_of(server.port()));
    const SystemClock clock;
    auto log = audit::RunLog::create(network.folder.path() / "run", "run", clock);
    REQUIRE(log.has_value());
    network.connections.record_in(log->get());
    const UniqueFd client = dialled(network.proxy);
    say(client, fmt::format("CONNECT 127.0.0.1:{} HTTP/1.1\r\n\r\n", server.port()));
    CHECK(heard(client, 39) == "HTTP/1.1 200 Connection established\r\n\r\n");
    network.connections.record_in(nullptr);
    CHECK(heard(client).empty());
    REQUIRE((*log)->close());
    const auto events = audit::read_events(network.folder.path() / "run", {});
    REQUIRE(events.has_value());
    std::vector<std::string> kinds;
    for (const auto& event : *events) kinds.push_back(event.kind);
    CHECK(kinds == std::vector<std::string>{"NetworkCheck", "NetworkCheck", "ConnectionEnded",
                                            "Checkpoint"});
    CHECK(field(events->at(2).payload, "outcome") == "run-ended");
    CHECK(network.events().empty());
    // Nothing listens any more.
    UniqueFd late(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(network.proxy);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(::connect(late.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0);
  }
}
