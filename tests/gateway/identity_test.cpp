// Who a client is to the servers that it shares with others.
#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>

#include "core/file.h"
#include "gateway/client_registry.h"
#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

const Talk::Options kGrantedCommit{.declared = {"git.commit"}, .grants = {"git.commit"}};

// Whose calls a server takes this run's for.
std::string known_as(ClientGrant& run, gate::testing::World& world) {
  const auto session = run.talk([](const Outgoing&) {}, nullptr);
  session->receive(request(1, "tools/call", stateless({{"name", "git.commit"}})).dump());
  REQUIRE_FALSE(world.upstream.calls.empty());
  return world.upstream.calls.back().caller->client();
}

}  // namespace

TEST_SUITE("gateway/identity") {
  TEST_CASE("a client is the same to servers in each of its calls, and no other ever") {
    gate::testing::World world(kGrantedCommit);
    const auto folder =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-gateway-");
    REQUIRE(folder.has_value());
    std::set<std::string> all;
    // One after the other in one place: what was freed is given out again.
    std::optional<ClientGrant> run;
    for (int i = 0; i < 3; ++i) {
      auto made = run_parts(world, kGrantedCommit, folder->path(), "a client");
      run.emplace(std::move(made.parts), std::move(made.setup));
      const std::string first = known_as(*run, world);
      CHECK_FALSE(first.empty());
      CHECK(known_as(*run, world) == first);
      CHECK(all.insert(first).second);
    }
  }

  TEST_CASE("a client that comes back under new rules is the same to servers, and nobody else is") {
    ClientRegistry runs;
    const std::string first = runs.identity_of("token a", "run 1");
    CHECK(first == "run 1");
    runs.renew();
    CHECK(runs.identity_of("token a", "run 2") == first);
    CHECK(runs.identity_of("token b", "run 3") == "run 3");
    gate::testing::World world(kGrantedCommit);
    const auto folder =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-gateway-");
    REQUIRE(folder.has_value());
    for (const std::string id : {"run 1", "run 2"}) {
      auto made = run_parts(world, kGrantedCommit, folder->path(), "token a");
      made.parts.identity = runs.identity_of("token a", id);
      ClientGrant run(std::move(made.parts), std::move(made.setup));
      CHECK(known_as(run, world) == first);
    }
  }

  TEST_CASE("who subscribes has a number that nobody else gets") {
    Talk talk;
    auto& watch = talk.offers.watch();
    const auto one = watch.new_subscriber();
    CHECK(one != 0);
    CHECK(watch.new_subscriber() != one);
  }
}
