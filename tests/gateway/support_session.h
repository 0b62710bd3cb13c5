// A client session over a real gate, authority and catalog, with an upstream that remembers what
// reached it. The test is the client: it hands messages in and reads what comes out.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "gate/anomalies.h"
#include "gate/support_gate.h"
#include "gateway/client_grant.h"
#include "gateway/mcp_session.h"
#include "gateway/offers.h"
#include "gateway/support_offers.h"

namespace mcpac::gateway::testing {

class Talk {
 public:
  using Options = gate::testing::World::Options;
  explicit Talk(Options options = {}, NameForm names = NameForm::kDotted, SessionLimits limits = {},
                std::size_t room_for_waiting = WaitingRoom::kMost, tracing::SessionFacts trace = {},
                CallLimits of_calls = {});

  // What was said since the last look, in order.
  std::vector<Json> send(const Json& message);
  std::vector<Json> send_text(std::string_view line);
  std::vector<Json> heard();
  // The one answer to one request.
  Json ask(const Json& id, std::string_view method, Json params = nullptr);
  // The same in revision 2026-07-28.
  Json ask_stateless(const Json& id, std::string_view method, Json params = Json::object());
  Json initialize(std::string_view version = "2025-11-25", Json capabilities = Json::object());

  // As the gateway does when it learns what a server has.
  Talk& with_servers(const std::function<void(FakeServers&)>& fill);

  boost::asio::io_context loop;  // of timers that no test waits for
  FakeServers servers;
  gate::testing::World world;
  gate::Anomalies anomalies;
  std::shared_ptr<const Catalog> catalog;
  std::set<Permission> quarantined;
  ParkedCalls parked;
  Offers offers;
  std::shared_ptr<WaitingRoom> room;
  std::shared_ptr<CallRoom> calls;
  std::shared_ptr<ServerQuestions> questions;
  std::deque<Outgoing> said;
  std::function<void()> when_said = [] {};
  std::shared_ptr<McpSession> session;
};

// What a ClientGrant is made from, under what these options grant; borrows from the world. Its
// record is a file in `folder`.
struct RunParts {
  ClientGrant::Parts parts;
  gate::GateSetup setup;
};
[[nodiscard]] RunParts run_parts(gate::testing::World& world, const Talk::Options& options,
                                 const std::filesystem::path& folder, const std::string& name);

// {"_meta": {version, capabilities, …}} of revision 2026-07-28.
[[nodiscard]] Json stateless(Json params = Json::object());
[[nodiscard]] Json request(const Json& id, std::string_view method, Json params = nullptr);
// Tools of the world as a lock.
[[nodiscard]] codegen::Lock lock_of(const policy::ToolSchemas& schemas);

}  // namespace mcpac::gateway::testing
