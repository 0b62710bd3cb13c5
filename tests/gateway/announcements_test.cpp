// What clients hear of servers' lists that nobody waited for.
#include "gateway/announcements.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "core/file.h"
#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

const Talk::Options kGranted{.grants = {"fs.*"}, .offers = true};

// Two clients before one server, which gives its lists when the test says so.
struct World {
  World() {
    clock.stop();
    server().capabilities = {{"prompts", Json::object()}, {"resources", Json::object()}};
    offers.use({"fs"});
    run = add_client("a client");
  }
  FakeServers::Server& server() {
    const auto added = servers.servers.find("fs");
    return added != servers.servers.end() ? added->second
                                          : servers.add("fs", Json::array(), Json::array(),
                                                        Json::array({{{"name", "review"}}}));
  }
  void gives_no(const char* method) {
    server().answers[method] = [](const Json&) -> Result<gate::Servers::Outcome> {
      return fail(ErrorId::kServerError, "it broke");
    };
  }
  std::shared_ptr<ClientGrant> add_client(const std::string& name) {
    auto made = run_parts(world, kGranted, folder.path(), name);
    made.parts.offers = &offers;
    made.parts.identity = name;
    auto one = std::make_shared<ClientGrant>(std::move(made.parts), std::move(made.setup));
    runs.add(name, one);
    return one;
  }
  std::shared_ptr<McpSession> connect(std::vector<Json>& said) { return connect(said, *run); }
  static std::shared_ptr<McpSession> connect(std::vector<Json>& said, ClientGrant& of) {
    auto session =
        of.talk([&said](const Outgoing& one) { said.push_back(Json::parse(one.line)); }, nullptr);
    session->receive(request("start", "initialize",
                             {{"protocolVersion", "2025-11-25"},
                              {"capabilities", Json::object()},
                              {"clientInfo", {{"name", "c"}, {"version", "1"}}}})
                         .dump());
    return session;
  }
  void ask(McpSession& session, const char* method, Json params = Json::object()) {
    session.receive(request(method, method, std::move(params)).dump());
    servers.deliver();
  }

  boost::asio::io_context loop;
  FakeServers servers;
  gate::testing::World world{kGranted};
  gate::testing::WorldClock clock;
  Offers offers{servers, loop.get_executor(), clock};
  TemporaryFolder folder =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-gateway-").value();
  std::shared_ptr<ClientGrant> run;
  ClientRegistry runs;
  Announcements announcements{offers, runs, clock, loop.get_executor()};
};

}  // namespace

TEST_SUITE("gateway/announcements") {
  TEST_CASE("a list that came when a client waited for it no more is a list that changed") {
    World world;
    world.gives_no("prompts/list");
    std::vector<Json> one;
    std::vector<Json> other;
    const auto first = world.connect(one);
    // The server tells of no changes, and mcpac does.
    CHECK(one.at(0).at("result").at("capabilities").at("prompts").at("listChanged") == true);
    world.ask(*first, "prompts/list");
    CHECK(one.back().at("result").at("prompts").empty());
    world.servers.add("fs", Json::array(), Json::array(), Json::array({{{"name", "review"}}}));
    world.clock.pass(std::chrono::minutes(1));
    const auto second = world.connect(other);
    world.ask(*second, "prompts/list");
    CHECK(other.at(1).at("result").at("prompts").size() == 1);
    CHECK(one.back().at("method") == "notifications/prompts/list_changed");
    world.ask(*first, "prompts/list");
    CHECK(one.back().at("result").at("prompts").size() == 1);
    CHECK(world.servers.count("prompts/list") == 2);
  }

  TEST_CASE("of templates that came late clients hear as of resources, those that listen as well") {
    World world;
    world.gives_no("resources/templates/list");
    std::vector<Json> said;
    const auto session = world.connect(said);
    world.ask(*session, "subscriptions/listen",
              stateless({{"notifications", {{"resourcesListChanged", true}}}}));
    CHECK(said.back().at("params").at("notifications").at("resourcesListChanged") == true);
    world.ask(*session, "resources/templates/list");
    world.servers.add("fs", Json::array(), Json::array({{{"uriTemplate", "x://{a}"}}}));
    world.clock.pass(std::chrono::seconds(10));
    said.clear();
    // In the pause: nobody waits.
    world.ask(*session, "resources/templates/list");
    REQUIRE(said.size() == 3);
    CHECK(said[0].at("result").at("resourceTemplates").empty());
    CHECK(said[1].at("method") == "notifications/resources/list_changed");
    CHECK(said[2].at("params").at("_meta").contains("io.modelcontextprotocol/subscriptionId"));
  }

  TEST_CASE("a client that watches thousands of long URIs keeps no other from hearing its own") {
    World world;
    // As servers are: a large request is refused, and what was acknowledged is told.
    world.server().is_stateless = true;
    world.server().capabilities = {{"resources", {{"subscribe", true}}}};
    world.servers.longest = std::size_t{1} << 20U;
    std::set<gate::Servers::RequestToken> acknowledged;
    const auto settle = [&] {
      world.loop.restart();
      world.loop.run_for(std::chrono::milliseconds(20));
      world.servers.deliver();
      for (const auto& [token, asked] : std::map(world.servers.listening)) {
        if (!acknowledged.insert(token).second) continue;
        world.announcements.heard("fs", "notifications/subscriptions/acknowledged",
                                  {{"_meta", {{"io.modelcontextprotocol/subscriptionId", token}}}});
      }
    };
    const auto listen = [&](McpSession& session, const Json& id, const Json& uris) {
      session.receive(request(id, "subscriptions/listen",
                              stateless({{"notifications", {{"resourceSubscriptions", uris}}}}))
                          .dump());
      settle();
    };
    std::vector<Json> said;
    const auto other = world.add_client("b");
    const auto listening = World::connect(said, *other);
    listen(*listening, "b", {"file:///notes/b"});
    std::vector<Json> refused;
    const auto hostile = world.connect(refused);
    for (int i = 0; i < 4; ++i) {
      Json uris = Json::array();
      for (int k = 0; k < 1'024; ++k) {
        const std::string uri = fmt::format("file:///notes/{}-{}-", i, k);
        uris.push_back(uri + std::string(8'192 - uri.size(), 'x'));
      }
      listen(*hostile, i, uris);
      CHECK(refused.back().at("error").at("code") == ipc::kInvalidRequest);
    }
    said.clear();
    const bool is_told = std::ranges::any_of(world.servers.listening, [](const auto& one) {
      return one.second.params.at("notifications")
                 .at("resourceSubscriptions")
                 .dump()
                 .find("file:///notes/b\"") != std::string::npos;
    });
    CHECK(is_told);
    if (is_told)
      world.announcements.heard("fs", "notifications/resources/updated",
                                {{"uri", "file:///notes/b"}});
    REQUIRE(said.size() == 1);
    CHECK(said[0].at("method") == "notifications/resources/updated");
  }
}
