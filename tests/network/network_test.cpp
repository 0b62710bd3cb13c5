// The host's dialer and relay, against real servers on 127.0.0.1.
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <atomic>

#include "network/own_addresses.h"
#include "network/support_network.h"

using namespace mcpac;
using namespace mcpac::network;
using namespace mcpac::network::testing;
using gate::ConnectionEnd;
using gate::Tls;

namespace {

// Says back what was said, in capitals, once the other side is done.
void echo(Peer& peer) {
  std::string all = peer.read_all();
  for (char& c : all) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  peer.write(all);
  peer.finish();
}

ErrorId error_of(const Dialling& dialling) {
  REQUIRE(dialling.result.has_value());
  REQUIRE_FALSE(dialling.result->has_value());
  return dialling.result->error().id;
}

// A port on which nobody listens.
std::uint16_t silent_port() {
  Server server([](Peer&) {});
  return server.port();
}

}  // namespace

TEST_SUITE("execute/network") {
  TEST_CASE("bytes go both ways, and the end of one way leaves the other open") {
    Server server(echo);
    Dialling dialling;
    dialling.connect("127.0.0.1", server.port());
    dialling.write("hello");
    dialling.finish_writing();
    CHECK(dialling.read_all() == "HELLO");
    dialling.until([&] { return dialling.ended.has_value(); });
    CHECK(*dialling.ended == ConnectionEnd::kEnded);
    CHECK(dialling.traffic.bytes_in == 5);
    CHECK(dialling.traffic.bytes_out == 5);
    CHECK(dialling.dialer->open() == 0);
  }

  TEST_CASE("the host speaks TLS for the program, with half ends as well") {
    for (const char* subject : {"IP:127.0.0.1", "DNS:localhost"}) {
      const Certificate certificate(subject);
      Server server(echo, &certificate);
      Dialling dialling(nullptr, certificate.trusted());
      const bool by_name = std::string_view(subject).starts_with("DNS");
      dialling.may_dial = [](const policy::IpAddress& address) { return address.v4; };
      dialling.connect(by_name ? "localhost" : "127.0.0.1", server.port(), Tls::kYes);
      REQUIRE(dialling.result->has_value());
      dialling.write("hello");
      dialling.finish_writing();
      CHECK(dialling.read_all() == "HELLO");
      dialling.until([&] { return dialling.ended.has_value(); });
      CHECK(*dialling.ended == ConnectionEnd::kEnded);
    }
  }

  TEST_CASE("a certificate for another name, or from nobody that is trusted, is refused") {
    const Certificate other("DNS:other.example");
    const Certificate self("IP:127.0.0.1");
    for (const bool is_trusted : {true, false}) {
      Server server(echo, is_trusted ? &other : &self);
      Dialling dialling(nullptr, other.trusted());
      dialling.connect("127.0.0.1", server.port(), Tls::kYes);
      CHECK(error_of(dialling) == ErrorId::kNetworkTls);
    }
  }

  TEST_CASE("a server that speaks no TLS is an error of TLS") {
    Server server([](Peer& peer) { peer.write("220 hello\r\n"); });
    Dialling dialling(nullptr, Certificate("IP:127.0.0.1").trusted());
    dialling.connect("127.0.0.1", server.port(), Tls::kYes);
    CHECK(error_of(dialling) == ErrorId::kNetworkTls);
  }

  TEST_CASE("a TLS stream that is cut off is broken, not ended") {
    const Certificate certificate("IP:127.0.0.1");
    Server server([](Peer& peer) { peer.write("half"); }, &certificate);
    Dialling dialling(nullptr, certificate.trusted());
    dialling.connect("127.0.0.1", server.port(), Tls::kYes);
    CHECK(dialling.read_all() == "half");
    dialling.until([&] { return dialling.ended.has_value(); });
    CHECK(*dialling.ended == ConnectionEnd::kBroken);
  }

  TEST_CASE("nobody there, and no such name, are errors of their own") {
    Dialling refused;
    refused.connect("127.0.0.1", silent_port());
    CHECK(error_of(refused) == ErrorId::kNetworkConnect);
    Dialling unknown;
    // Too long for any question: no name server is asked.
    unknown.connect(std::string(300, 'a'), 1);
    CHECK(error_of(unknown) == ErrorId::kNetworkName);
  }

  TEST_CASE("the machine knows its own addresses") {
    CHECK(is_own_address(*policy::parse_ipv4("127.0.0.1")));
    CHECK_FALSE(is_own_address(*policy::parse_ipv4("192.0.2.77")));
    CHECK_FALSE(is_own_address(*policy::parse_ipv6("2001:db8::77")));
  }

  TEST_CASE("an address that may not be dialled is not dialled, the next one is") {
    Server server(echo);
    Dialling dialling(std::make_shared<ScriptedResolver>(
        std::vector<std::vector<std::string>>{{"127.0.0.2", "127.0.0.1"}}));
    dialling.may_dial = [](const policy::IpAddress& address) { return address.bytes[3] == 1; };
    dialling.connect("a.example", server.port());
    REQUIRE(dialling.result->has_value());
    CHECK((*dialling.result)->address == "127.0.0.1");
    CHECK(dialling.asked_about == std::vector<std::string>{"127.0.0.2", "127.0.0.1"});
    Dialling none(
        std::make_shared<ScriptedResolver>(std::vector<std::vector<std::string>>{{"127.0.0.2"}}));
    none.may_dial = [](const policy::IpAddress&) { return false; };
    none.connect("a.example", server.port());
    CHECK(error_of(none) == ErrorId::kCallDenied);
  }

  TEST_CASE(
      "a name that leads elsewhere the second time gains nothing: the address decided is dialled") {
    Server server(echo);
    auto resolver = std::make_shared<ScriptedResolver>(
        std::vector<std::vector<std::string>>{{"127.0.0.1"}, {"127.0.0.2"}});
    Dialling dialling(resolver);
    dialling.connect("a.example", server.port());
    REQUIRE(dialling.result->has_value());
    CHECK(resolver->asked == 1);
    CHECK((*dialling.result)->address == "127.0.0.1");
    // And when it is asked again, its new address is decided anew.
    dialling.result.reset();
    dialling.may_dial = [](const policy::IpAddress& address) { return address.bytes[3] == 1; };
    dialling.connect("a.example", server.port());
    CHECK(error_of(dialling) == ErrorId::kCallDenied);
  }

  TEST_CASE("a program that does not read stops the server, and loses nothing") {
    constexpr std::size_t kMuch = std::size_t{24} << 20U;
    std::atomic<std::size_t> sent = 0;
    Server server([&](Peer& peer) {
      const std::string piece(std::size_t{1} << 16U, 'x');
      while (sent < kMuch && peer.write(piece)) sent += piece.size();
      peer.finish();
    });
    Dialling dialling;
    dialling.connect("127.0.0.1", server.port());
    // Turned until nothing moves any more: all buffers on the way are full.
    std::size_t before = 1;
    while (before != sent) {
      before = sent;
      dialling.loop.restart();
      dialling.loop.run_for(std::chrono::milliseconds(200));
    }
    CHECK(sent < kMuch);
    CHECK(dialling.read_all().size() == kMuch);
  }

  TEST_CASE("a program that writes much is relayed whole") {
    std::atomic<std::size_t> received = 0;
    Server server([&](Peer& peer) { received = peer.read_all().size(); });
    Dialling dialling;
    dialling.connect("127.0.0.1", server.port());
    dialling.write(std::string(std::size_t{8} << 20U, 'y'));
    dialling.finish_writing();
    dialling.until([&] { return received == std::size_t{8} << 20U; });
  }

  TEST_CASE("a reset ends the program's connection") {
    // Only after a word of the program: a reset that comes sooner is a connection that was never
    // made.
    Server server([](Peer& peer) {
      peer.read();
      peer.abort();
    });
    Dialling dialling;
    dialling.connect("127.0.0.1", server.port());
    REQUIRE(dialling.result->has_value());
    dialling.write("x");
    CHECK(dialling.read_all().empty());
    dialling.until([&] { return dialling.ended.has_value(); });
    CHECK(*dialling.ended == ConnectionEnd::kBroken);
  }

  TEST_CASE("a program that closes its end ends the server's") {
    std::atomic<bool> done = false;
    Server server([&](Peer& peer) {
      peer.read_all();
      done = true;
    });
    Dialling dialling;
    dialling.connect("127.0.0.1", server.port());
    dialling.program.reset();
    dialling.until([&] { return done && dialling.ended; });
    CHECK(*dialling.ended == ConnectionEnd::kEnded);
  }

  TEST_CASE("closing ends both sides at once and nobody is called any more") {
    std::atomic<bool> done = false;
    Server server([&](Peer& peer) {
      peer.write("some");
      peer.read_all();
      done = true;
    });
    Dialling dialling;
    dialling.connect("127.0.0.1", server.port());
    CHECK(dialling.read() == "some");
    CHECK(dialling.dialer->close(dialling.token).bytes_in == 4);
    CHECK(dialling.read().empty());
    dialling.until([&] { return done.load(); });
    CHECK_FALSE(dialling.ended.has_value());
    CHECK(dialling.dialer->open() == 0);
  }

  TEST_CASE("one that is being dialled can be closed, and a dialer can go with all it has") {
    Server server([](Peer& peer) { peer.read_all(); });
    Dialling dialling;
    dialling.dial("127.0.0.1", server.port(), Tls::kNo);
    dialling.dialer->close(dialling.token);
    dialling.connect("127.0.0.1", server.port());
    dialling.dialer.reset();
    CHECK(dialling.read().empty());
    CHECK_FALSE(dialling.ended.has_value());
  }

  TEST_CASE("a server that never answers TLS is given up") {
    Server server([](Peer& peer) { peer.read_all(); });
    Dialling dialling(nullptr, Certificate("IP:127.0.0.1").trusted(),
                      {.connect = std::chrono::milliseconds(50),
                       .one_address = std::chrono::milliseconds(50),
                       .idle = std::chrono::seconds(60),
                       .bytes = 1000});
    dialling.connect("127.0.0.1", server.port(), Tls::kYes);
    CHECK(error_of(dialling) == ErrorId::kNetworkTimeout);
  }

  TEST_CASE("a connection that nobody uses ends, and so does one over the bytes of the run") {
    Server silent([](Peer& peer) { peer.read_all(); });
    Dialling idle(nullptr, nullptr,
                  {.connect = std::chrono::seconds(60),
                   .one_address = std::chrono::seconds(60),
                   .idle = std::chrono::milliseconds(50),
                   .bytes = 1000});
    idle.connect("127.0.0.1", silent.port());
    idle.until([&] { return idle.ended.has_value(); });
    CHECK(*idle.ended == ConnectionEnd::kIdle);
    Server talkative([](Peer& peer) {
      while (peer.write("0123456789")) {
      }
    });
    Dialling limited(nullptr, nullptr,
                     {.connect = std::chrono::seconds(60),
                      .one_address = std::chrono::seconds(60),
                      .idle = std::chrono::seconds(60),
                      .bytes = 1000});
    limited.connect("127.0.0.1", talkative.port());
    CHECK(limited.read_all().size() <= 1000);
    limited.until([&] { return limited.ended.has_value(); });
    CHECK(*limited.ended == ConnectionEnd::kLimit);
  }
}
