// Connections at the gate: what is decided, recorded and answered. Only the dialer is the test's
// own; it is the one interface behind which the network lies.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <deque>
#include <optional>

#include "gate/network_gate.h"
#include "gate/support_wire.h"
#include "policy/match/ip_network.h"

using namespace mcpac;
using namespace mcpac::gate;
using namespace mcpac::gate::testing;

namespace {

class TestDialer final : public Dialer {
 public:
  Token dial(DialPlan plan) override {
    plans.push_back(std::move(plan));
    return plans.size();
  }
  Traffic close(Token token) override {
    closed.push_back(token);
    return {3, 4};
  }
  [[nodiscard]] bool is_own(const policy::IpAddress& address) const override {
    return own && address == *own;
  }
  // As a dialer whose name led to `address`.
  void arrive(std::size_t index, const char* address) {
    DialPlan& plan = plans.at(index);
    if (!plan.may_dial(*policy::parse_ipv4(address)))
      return plan.done(fail(ErrorId::kCallDenied, "no address may be dialled"));
    plan.done(Dialled{UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)), address});
  }

  std::deque<DialPlan> plans;
  std::vector<Token> closed;
  std::optional<policy::IpAddress> own;
};

struct Asked {
  explicit Asked(World::Options options) : world(prepared(std::move(options))) {}
  World::Options prepared(World::Options options) {
    options.dialer = &dialer;
    return options;
  }
  // The answer, once there is one.
  std::shared_ptr<std::optional<std::expected<Connected, CallError>>> connect(
      std::string host, std::uint16_t port = 443) {
    auto answer = std::make_shared<std::optional<std::expected<Connected, CallError>>>();
    last = world.gate->connect({std::move(host), port, Tls::kYes},
                               [answer](std::expected<Connected, CallError> given) {
                                 REQUIRE_FALSE(answer->has_value());
                                 *answer = std::move(given);
                               });
    return answer;
  }
  ErrorKind refused(std::string host, std::uint16_t port = 443) {
    const auto answer = connect(std::move(host), port);
    REQUIRE(answer->has_value());
    REQUIRE_FALSE((*answer)->has_value());
    return (*answer)->error().kind;
  }
  std::vector<Json> checks() { return world.audit.of("NetworkCheck"); }

  TestDialer dialer;
  World world;
  Gate::CallId last = 0;
};

World::Options granted(std::vector<std::string> places) {
  World::Options options;
  options.places = std::move(places);
  return options;
}

}  // namespace

TEST_SUITE("gate/network") {
  TEST_CASE("without a grant nothing is looked up, and the refusal is recorded") {
    Asked asked(granted({}));
    CHECK(asked.refused("api.example.com") == ErrorKind::kDenied);
    CHECK(asked.dialer.plans.empty());
    REQUIRE(asked.checks().size() == 1);
    CHECK(asked.checks()[0].at("allowed") == false);
    CHECK(asked.checks()[0].at("host") == "api.example.com");
  }

  TEST_CASE("the user hears which option would admit it, the program does not") {
    Asked asked(granted({"network api.example.com:443"}));
    const auto answer = asked.connect("other.example.com");
    REQUIRE(asked.world.told.size() == 1);
    CHECK(asked.world.told[0].would_grant == "--network other.example.com:443");
    CHECK(to_text(to_rpc_error((*answer)->error())).find("--network") == std::string::npos);
  }

  TEST_CASE(
      "a granted name is decided, recorded, dialled at its own spelling, and recorded again") {
    Asked asked(granted({"network api.example.com:443"}));
    const auto answer = asked.connect("API.Example.com.");
    REQUIRE(asked.dialer.plans.size() == 1);
    CHECK(asked.dialer.plans[0].host == "api.example.com");
    CHECK(asked.dialer.plans[0].tls == Tls::kYes);
    CHECK_FALSE(answer->has_value());
    asked.dialer.arrive(0, "93.184.216.34");
    REQUIRE(answer->has_value());
    CHECK((*answer)->has_value());
    REQUIRE(asked.checks().size() == 2);
    CHECK(asked.checks()[0].at("address") == nullptr);
    CHECK(asked.checks()[1].at("address") == "93.184.216.34");
    CHECK(asked.checks()[1].at("allowed") == true);
    asked.dialer.plans[0].ended(ConnectionEnd::kEnded, {10, 20});
    const auto ended = asked.world.audit.of("ConnectionEnded");
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].at("outcome") == "ended");
    CHECK(ended[0].at("bytes_in") == 10);
    CHECK(ended[0].at("bytes_out") == 20);
    CHECK(ended[0].at("address") == "93.184.216.34");
  }

  TEST_CASE("another port is another destination") {
    Asked asked(granted({"network api.example.com:443"}));
    CHECK(asked.refused("api.example.com", 80) == ErrorKind::kDenied);
  }

  TEST_CASE("a granted name that leads to a private address is not dialled") {
    for (const char* address : {"10.0.0.1", "127.0.0.1", "169.254.169.254", "192.168.1.1"}) {
      Asked asked(granted({"network api.example.com:443"}));
      const auto answer = asked.connect("api.example.com");
      asked.dialer.arrive(0, address);
      REQUIRE(answer->has_value());
      CHECK((*answer)->error().kind == ErrorKind::kDenied);
      // The user and the record are told the address, the program is not.
      const auto told = to_text(to_rpc_error((*answer)->error()));
      CHECK(told.find("api.example.com leads to an address that is not granted") !=
            std::string::npos);
      CHECK(told.find(address) == std::string::npos);
      REQUIRE(asked.world.told.size() == 1);
      CHECK(asked.world.told[0].reason.find(address) != std::string::npos);
      CHECK(asked.checks().back().at("reason").get<std::string>().find(address) !=
            std::string::npos);
      CHECK(asked.checks().back().at("address") == address);
      CHECK(asked.checks().back().at("allowed") == false);
    }
  }

  TEST_CASE("a granted name that leads back to this machine is not dialled") {
    Asked asked(granted({"network any"}));
    asked.dialer.own = policy::parse_ipv4("93.184.216.34");
    const auto answer = asked.connect("api.example.com");
    asked.dialer.arrive(0, "93.184.216.34");
    REQUIRE(answer->has_value());
    CHECK((*answer)->error().kind == ErrorKind::kDenied);
    CHECK(asked.checks().back().at("reason").get<std::string>().find(
              "an address of this machine") != std::string::npos);
    const auto other = asked.connect("api.example.com");
    asked.dialer.arrive(1, "93.184.216.35");
    REQUIRE(other->has_value());
    CHECK((*other)->has_value());
  }

  TEST_CASE("mapped and NAT64 forms of a private address are that address") {
    for (const char* address : {"::ffff:127.0.0.1", "64:ff9b::7f00:1"}) {
      Asked asked(granted({"network api.example.com:443"}));
      const auto answer = asked.connect("api.example.com");
      CHECK_FALSE(asked.dialer.plans[0].may_dial(*policy::parse_ipv6(address)));
    }
  }

  TEST_CASE("deny network wins over every grant") {
    Asked asked(granted({"network any", "deny network"}));
    CHECK(asked.refused("api.example.com") == ErrorKind::kDenied);
    CHECK(asked.dialer.plans.empty());
  }

  TEST_CASE("what cannot be recorded is neither looked up nor dialled") {
    Asked asked(granted({"network api.example.com:443"}));
    asked.world.audit.full = true;
    CHECK(asked.refused("api.example.com") == ErrorKind::kInternal);
    CHECK(asked.dialer.plans.empty());
    asked.world.audit.full = false;
    const auto answer = asked.connect("api.example.com");
    asked.world.audit.full = true;
    asked.dialer.arrive(0, "93.184.216.34");
    REQUIRE(answer->has_value());
    CHECK((*answer)->error().kind == ErrorKind::kInternal);
  }

  TEST_CASE("connections at once and of a run have their limits") {
    World::Options options = granted({"network any"});
    options.network = {.open = 2, .total = 3};
    Asked asked(options);
    const auto first = asked.connect("a.example.com");
    const auto second = asked.connect("b.example.com");
    CHECK(asked.refused("c.example.com") == ErrorKind::kBudget);
    asked.dialer.arrive(0, "93.184.216.34");
    asked.dialer.plans[0].ended(ConnectionEnd::kBroken, {});
    const auto third = asked.connect("c.example.com");
    CHECK(asked.dialer.plans.size() == 3);
    asked.dialer.arrive(1, "93.184.216.34");
    asked.dialer.plans[1].ended(ConnectionEnd::kEnded, {});
    CHECK(asked.refused("d.example.com") == ErrorKind::kBudget);
  }

  TEST_CASE("revoking ends open connections at once and answers who waits") {
    for (const bool everything : {true, false}) {
      Asked asked(granted({"network any"}));
      const auto open = asked.connect("a.example.com");
      asked.dialer.arrive(0, "93.184.216.34");
      const auto waiting = asked.connect("b.example.com");
      const auto ended = everything ? asked.world.gate->revoke_all()
                                    : asked.world.gate->revoke(permission("mcpac.network"));
      CHECK(ended.connections == 2);
      CHECK(asked.dialer.closed.size() == 2);
      REQUIRE(waiting->has_value());
      CHECK((*waiting)->error().kind == ErrorKind::kRevoked);
      CHECK(asked.world.audit.of("ConnectionEnded").at(0).at("outcome") == "revoked");
      CHECK(asked.world.audit.of("ConnectionEnded").at(0).at("bytes_in") == 3);
      CHECK(asked.refused("a.example.com") == ErrorKind::kRevoked);
    }
  }

  TEST_CASE("revoking a tool leaves connections alone") {
    Asked asked(granted({"network any"}));
    const auto open = asked.connect("a.example.com");
    asked.world.gate->revoke(permission("fs.read"));
    CHECK(asked.dialer.closed.empty());
  }

  TEST_CASE("the end of a run closes what is open, and records it") {
    Asked asked(granted({"network any"}));
    const auto open = asked.connect("a.example.com");
    asked.dialer.arrive(0, "93.184.216.34");
    asked.world.gate->close();
    CHECK(asked.dialer.closed.size() == 1);
    CHECK(asked.world.audit.of("ConnectionEnded").at(0).at("outcome") == "run-ended");
  }

  TEST_CASE("too many refusals take open connections back, and the record says so") {
    World::Options options = granted({"network a.example.com:443"});
    options.max_refusals = 2;
    Asked asked(options);
    const auto open = asked.connect("a.example.com");
    asked.dialer.arrive(0, "93.184.216.34");
    CHECK(asked.refused("b.example.com") == ErrorKind::kDenied);
    CHECK(asked.dialer.closed.empty());
    CHECK(asked.refused("c.example.com") == ErrorKind::kDenied);
    CHECK(asked.dialer.closed.size() == 1);
    REQUIRE(asked.world.audit.of("ConnectionEnded").size() == 1);
    CHECK(asked.world.audit.of("ConnectionEnded").at(0).at("outcome") == "revoked");
  }

  TEST_CASE("a connection that is being made can be cancelled") {
    Asked asked(granted({"network any"}));
    const auto answer = asked.connect("a.example.com");
    asked.world.gate->cancel(asked.last);
    REQUIRE(answer->has_value());
    CHECK((*answer)->error().data.contains("cancelled"));
    CHECK(asked.dialer.closed.size() == 1);
  }

  TEST_CASE("why no connection was made has an id of its own") {
    const std::array<std::pair<ErrorId, ErrorKind>, 4> ways = {
        {{ErrorId::kNetworkName, ErrorKind::kTransport},
         {ErrorId::kNetworkConnect, ErrorKind::kTransport},
         {ErrorId::kNetworkTls, ErrorKind::kTransport},
         {ErrorId::kNetworkTimeout, ErrorKind::kTimeout}}};
    for (const auto& [id, kind] : ways) {
      Asked asked(granted({"network any"}));
      const auto answer = asked.connect("a.example.com");
      asked.dialer.plans[0].done(fail(id, "no"));
      REQUIRE(answer->has_value());
      CHECK((*answer)->error().kind == kind);
      CHECK((*answer)->error().data.at("id") == to_string(id));
      CHECK(asked.world.audit.of("ConnectionEnded").at(0).at("outcome") == to_string(id));
    }
  }

  TEST_CASE("a program that is refused too often loses its authority") {
    World::Options options = granted({"network a.example.com:443"});
    options.max_refusals = 3;
    Asked asked(options);
    for (int i = 0; i < 3; ++i) CHECK(asked.refused("b.example.com") == ErrorKind::kDenied);
    CHECK(asked.refused("a.example.com") == ErrorKind::kRevoked);
  }

  TEST_CASE("observing does not open the network") {
    World::Options options = granted({});
    options.mode = Mode::kObserve;
    Asked asked(options);
    CHECK(asked.refused("a.example.com") == ErrorKind::kDenied);
  }

  TEST_CASE("the answer brings the descriptor over the channel, and only that answer") {
    TestDialer dialer;
    World::Options options = granted({"network any"});
    options.dialer = &dialer;
    Wire wire(options);
    wire.send({{"jsonrpc", "2.0"},
               {"id", 5},
               {"method", "network/connect"},
               {"params", {{"host", "a.example.com"}, {"port", 443}}}});
    wire.until([&] { return dialer.plans.size() == 1; });
    dialer.arrive(0, "93.184.216.34");
    std::array<char, 4096> bytes{};
    iovec part{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const auto got = ::recvmsg(wire.fd(), &message, MSG_CMSG_CLOEXEC);
    REQUIRE(got > 0);
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    REQUIRE(header != nullptr);
    REQUIRE(header->cmsg_len == CMSG_LEN(sizeof(int)));
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    CHECK(::close(descriptor) == 0);
    const Json answer = Json::parse(std::string(bytes.data(), static_cast<std::size_t>(got)));
    CHECK(answer.at("id") == 5);
    CHECK(answer.at("result").at("descriptor") == true);
  }

  TEST_CASE("a request that is none is refused with the place") {
    Wire wire;
    const std::array<std::pair<Json, const char*>, 5> wrong = {
        {{Json{{"port", 1}}, "/host"},
         {Json{{"host", "a"}}, "/port"},
         {Json{{"host", "a"}, {"port", 0}}, "/port"},
         {Json{{"host", "a"}, {"port", 65536}}, "/port"},
         {Json{{"host", "a"}, {"port", 1}, {"tls", 1}}, "/tls"}}};
    for (const auto& [params, pointer] : wrong) {
      wire.send({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "network/connect"}, {"params", params}});
      const Json error = wire.read().at("error");
      CHECK(error.at("code") == -32602);
      CHECK(error.at("data").at("pointer") == pointer);
    }
  }
}
