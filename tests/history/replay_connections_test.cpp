// Connections that a gate recorded: decided again, and asked about.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "core/hash.h"
#include "gate/support_gate.h"
#include "history/records/connection_query.h"
#include "history/records/replay.h"
#include "history/records/run_record.h"
#include "policy/match/ip_network.h"
#include "policy/policy_digest.h"

using namespace mcpac;
using namespace mcpac::servers;
using namespace mcpac::history;
using gate::ConnectionEnd;
using gate::testing::FakeUpstream;
using gate::testing::permission;

namespace {

class ConnectionSink final : public audit::Sink {
 public:
  [[nodiscard]] Result<std::string> append(std::string_view kind, Json payload) override {
    events.push_back({fmt::format("event-{}", events.size()), "run-1", std::string(kind),
                      fmt::format("2027-01-01T00:00:{:02}.000000Z", events.size()),
                      std::move(payload)});
    return events.back().event_id;
  }
  [[nodiscard]] std::string keyed_digest(std::string_view bytes) const override {
    return sha256_hex(bytes);
  }
  std::vector<audit::Event> events;
};

// Its names lead where the test says, and every connection ends at once.
class LeadingDialer final : public gate::Dialer {
 public:
  Token dial(gate::DialPlan plan) override {
    plans.push_back(std::move(plan));
    return plans.size();
  }
  gate::Traffic close(Token) override { return {}; }
  void arrive(const std::string& address) {
    gate::DialPlan plan = std::move(plans.back());
    plans.pop_back();
    const auto found = address.find(':') == std::string::npos ? policy::parse_ipv4(address)
                                                              : policy::parse_ipv6(address);
    if (!plan.may_dial(*found)) return plan.done(fail(ErrorId::kCallDenied, "none"));
    plan.done(gate::Dialled{UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)), address});
    plan.ended(ConnectionEnd::kEnded, {1, 2});
  }
  std::deque<gate::DialPlan> plans;
};

policy::LayerText layer(std::string name, std::vector<std::string> statements) {
  policy::LayerText text;
  text.name = std::move(name);
  text.places = std::move(statements);
  return text;
}

struct RecordedConnections {
  explicit RecordedConnections(const std::vector<policy::LayerText>& layers) {
    policy::Environment environment;
    environment.tools = &schemas;
    environment.clock = &clock;
    environment.bases.current_directory = "/srv";
    auto authority = policy::Authority::load(layers, environment);
    REQUIRE_MESSAGE(authority, (authority ? "" : authority.error().to_text()));
    std::string digest = policy::policy_digest(*authority);
    gate::GateSetup setup{
        .tools = &tools,
        .authority = std::move(*authority),
        .declared = {.permissions = {}, .texts = {policy::kNetworkPermission}},
        .upstream = &upstream,
        .audit = &sink,
        .clock = &clock,
        .asking = {.approver = nullptr,
                   .memory = nullptr,
                   .binding = {"p", "h", sha256_hex(codegen::to_text({})), std::move(digest), "e"}},
        .dialer = &dialer};
    REQUIRE(sink.append("RunStarted", started_payload({"a program", "source"}, setup)));
    gate = std::make_unique<gate::Gate>(std::move(setup));
  }
  // Leads to `address`, where it is dialled at all.
  void connect(const std::string& host, std::uint16_t port, const std::string& address) {
    gate->connect({host, port, gate::Tls::kYes}, [](const auto&) {});
    if (!dialer.plans.empty()) dialer.arrive(address);
  }
  [[nodiscard]] RunReplay replay() const {
    auto replayed = replay_run(
        sink.events, [](const std::string&) -> Result<codegen::Lock> { return codegen::Lock{}; });
    REQUIRE_MESSAGE(replayed, (replayed ? "" : replayed.error().to_text()));
    return std::move(*replayed);
  }
  Json& payload(std::string_view kind, std::size_t index) {
    for (auto& event : sink.events) {
      if (event.kind == kind && index-- == 0) return event.payload;
    }
    REQUIRE_MESSAGE(false, "no such event");
    return sink.events.front().payload;
  }

  SystemClock clock;
  policy::ToolSchemas schemas;
  gate::ToolTable tools;
  FakeUpstream upstream;
  ConnectionSink sink;
  LeadingDialer dialer;
  std::unique_ptr<gate::Gate> gate;
};

void check_green(const RunReplay& replay, std::size_t decisions) {
  std::string text;
  for (const auto& difference : replay.differences) text += difference.what + "\n";
  CHECK_MESSAGE(replay.differences.empty(), text);
  CHECK(replay.decisions == decisions);
  CHECK(replay.recomputed == decisions);
}

const std::vector<std::string> kApi = {"network api.example.com:443", "network 10.0.0.0/8:443",
                                       "network unused.example.com:1"};

}  // namespace

TEST_SUITE("execute/replay_connections") {
  TEST_CASE("every kind of decision on a connection comes out again as it was recorded") {
    RecordedConnections run({layer("the command line", kApi),
                             layer("mcpac.policy", {"network any", "network 10.0.0.0/8:443"})});
    run.connect("API.example.com.", 443, "93.184.216.34");
    run.connect("api.example.com", 443, "10.1.2.3");     // named by another statement
    run.connect("api.example.com", 443, "192.168.1.1");  // denied by its address
    run.connect("api.example.com", 443, "2606:2800:220:1::1");
    run.connect("other.example.com", 443, "");
    run.connect("no host", 443, "");
    run.connect("10.1.2.3", 443, "10.1.2.3");
    run.connect(std::string(5000, 'a'), 443, "");
    run.gate->revoke_all();
    run.connect("api.example.com", 443, "");  // refused before anything is recorded
    const auto replay = run.replay();
    CHECK(replay.differences.empty());
    CHECK(replay.recomputed == 12);
    CHECK(replay.not_recomputed.at("its host was too long to keep") == 1);
  }

  TEST_CASE("where each statement stood is told apart, also in one layer") {
    policy::LayerText file;
    file.name = "mcpac.policy";
    file.files.emplace_back("network a.example.com:1\n\nnetwork b.example.com:1\n", "mcpac.policy");
    RecordedConnections run({file});
    run.connect("b.example.com", 1, "93.184.216.34");
    CHECK(run.payload("NetworkCheck", 0).at("rule") == "mcpac.policy:3");
    check_green(run.replay(), 2);
    run.payload("NetworkCheck", 0).at("rule") = "mcpac.policy:1";
    CHECK(run.replay().differences.size() == 1);
  }

  TEST_CASE("a denied network is denied again") {
    RecordedConnections run({layer("the command line", {"network any"}),
                             layer("mcpac.policy", {"network any", "deny network"})});
    run.connect("api.example.com", 443, "");
    check_green(run.replay(), 1);
  }

  TEST_CASE("a record of a connection that somebody changed comes out otherwise") {
    RecordedConnections run({layer("the command line", kApi)});
    run.connect("api.example.com", 443, "93.184.216.34");
    run.connect("api.example.com", 443, "192.168.1.1");
    run.connect("other.example.com", 443, "");
    check_green(run.replay(), 5);
    Json& denied = run.payload("NetworkCheck", 4);
    SUBCASE("a denial turned into an allowed connection") {
      denied.at("allowed") = true;
    }
    SUBCASE("another host") {
      run.payload("NetworkCheck", 0).at("host") = "other.example.com";
    }
    SUBCASE("another port") {
      run.payload("NetworkCheck", 0).at("port") = 80U;
    }
    SUBCASE("an address that is not admitted") {
      run.payload("NetworkCheck", 1).at("address") = "127.0.0.1";
    }
    SUBCASE("an address nobody had allowed the name of") {
      run.payload("NetworkCheck", 1).at("connection") = 77U;
    }
    SUBCASE("an end at another address") {
      run.payload("ConnectionEnded", 0).at("address") = "93.184.216.35";
    }
    SUBCASE("an end of what nobody had allowed") {
      run.payload("ConnectionEnded", 0).at("connection") = 77U;
    }
    SUBCASE("another statement") {
      run.payload("NetworkCheck", 0).at("rule") = "--grant";
    }
    SUBCASE("a place that its rules do not give") {
      run.payload("RunStarted", 0)
          .at("network")
          .push_back({{"place", "network any"}, {"said_in", "--network"}});
    }
    SUBCASE("taken back before") {
      run.sink.events.insert(run.sink.events.begin() + 1,
                             {"event-x", "run-1", "Revoked", "2027-01-01T00:00:00.000000Z",
                              Json{{"permission", policy::kNetworkPermission}}});
      CHECK(calls_after_revocation(run.sink.events).size() == 3);
    }
    CHECK_FALSE(run.replay().differences.empty());
  }

  TEST_CASE("connections are part of what is asked of the records") {
    RecordedConnections run({layer("the command line", kApi)});
    run.connect("api.example.com", 443, "93.184.216.34");
    run.connect("api.example.com", 443, "93.184.216.34");
    run.connect("api.example.com", 443, "192.168.1.1");
    run.connect("other.example.com", 443, "");
    run.connect("other.example.com", 443, "");
    const auto& events = run.sink.events;

    const auto denied = denied_by_rule(events);
    REQUIRE(denied.size() == 2);
    CHECK(denied[0].capability == "mcpac.network");
    CHECK(denied[0].target == "other.example.com:443");
    CHECK(denied[0].calls == 2);
    CHECK(denied[1].target == "api.example.com:443");

    const auto uses = first_uses(events);
    REQUIRE(uses.size() == 1);
    CHECK(uses[0].target == "api.example.com:443");

    const auto unused = granted_never_used(events);
    REQUIRE(unused.size() == 1);
    CHECK(unused[0].rules ==
          std::vector<std::string>{"network 10.0.0.0/8:443", "network unused.example.com:1"});
    CHECK(unused[0].permissions.empty());

    const auto count = [&](const char* destination) {
      const auto rows = who_could_connect(events, destination);
      REQUIRE(rows);
      const auto did = std::ranges::count(*rows, true, &Touch::did);
      return std::pair(static_cast<long>(rows->size()) - did, static_cast<long>(did));
    };
    CHECK(count("API.example.com:443") == std::pair(1L, 2L));
    CHECK(count("93.184.216.34:443") == std::pair(0L, 2L));
    CHECK(count("unused.example.com:1") == std::pair(1L, 0L));
    CHECK(count("10.0.0.1:443") == std::pair(1L, 0L));
    CHECK(count("elsewhere.example.com:443") == std::pair(0L, 0L));
    CHECK_FALSE(who_could_connect(events, "api.example.com"));
    CHECK_FALSE(who_could_connect(events, "api.example.com:0"));
    CHECK_FALSE(who_could_connect(events, "a b:443"));
  }

  TEST_CASE("a connection that failed was tried, not made") {
    RecordedConnections run({layer("the command line", kApi)});
    run.connect("api.example.com", 443, "93.184.216.34");
    const auto rows_now = [&] {
      const auto rows = who_could_connect(run.sink.events, "api.example.com:443");
      REQUIRE(rows);
      return *rows;
    };
    CHECK(rows_now().back().did);
    const Json number = run.payload("NetworkCheck", 0).at("connection");
    REQUIRE(run.sink.append("ConnectionEnded",
                            Json{{"connection", number}, {"outcome", "MCPAC-E0731"}}));
    CHECK_FALSE(rows_now().back().did);
    CHECK(rows_now().back().failed);
  }

  TEST_CASE("a run that never connected did not use the network that it declares") {
    RecordedConnections run({layer("the command line", kApi)});
    const auto unused = granted_never_used(run.sink.events);
    REQUIRE(unused.size() == 1);
    CHECK(unused[0].rules == kApi);
    CHECK(unused[0].permissions == std::vector<std::string>{"mcpac.network"});
  }

  TEST_CASE("who was granted files could have touched what lies there") {
    RecordedConnections run({layer("the command line", {"files /srv/data read-write"})});
    const auto lock_of = [](const std::string&) -> Result<codegen::Lock> {
      return codegen::Lock{};
    };
    for (const char* path : {"/srv/data", "/srv/data/deep/a.txt", "/srv"}) {
      const auto rows = who_could_touch(run.sink.events, path, lock_of);
      REQUIRE(rows);
      REQUIRE(rows->size() == 1);
      CHECK(rows->front().permission == "mcpac.files");
      CHECK(rows->front().argument == "read-write");
      CHECK_FALSE(rows->front().did);
    }
    const auto rows = who_could_touch(run.sink.events, "/srv/data2", lock_of);
    REQUIRE(rows);
    CHECK(rows->empty());
  }
}
