#include "gateway/support_session.h"

#include <doctest/doctest.h>

#include <utility>

namespace mcpac::gateway::testing {
namespace {

// What is granted is what may be called: a client declares nothing of its own.
Talk::Options with_declared(Talk::Options options) {
  const gate::testing::World probe({.declared = {}, .grants = {}, .offers = options.offers});
  options.declared.clear();
  const auto authority = gate::testing::authority_of(probe, options);
  for (const auto& [tool, schema] : probe.schemas) {
    if (authority.coverage(tool, "") != policy::Coverage::kMissing)
      options.declared.push_back(tool.text());
  }
  return options;
}

}  // namespace

codegen::Lock lock_of(const policy::ToolSchemas& schemas) {
  codegen::Lock lock;
  for (const auto& [tool, schema] : schemas) {
    if (lock.servers.empty() || lock.servers.back().name != tool.server()) {
      lock.servers.emplace_back();
      lock.servers.back().name = tool.server();
    }
    OrderedJson definition;
    definition["name"] = tool.tool();
    definition["description"] = "what " + tool.tool() + " does";
    definition["inputSchema"] = OrderedJson(schema);
    definition["annotations"] = {{"readOnlyHint", true}};
    codegen::LockedTool locked;
    locked.name = tool.tool();
    locked.definition = std::move(definition);
    lock.servers.back().tools.push_back(std::move(locked));
  }
  return lock;
}

Json stateless(Json params) {
  if (!params.is_object()) params = Json::object();
  Json& meta = params["_meta"];
  meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
  meta["io.modelcontextprotocol/clientInfo"] = {{"name", "a test"}, {"version", "1"}};
  meta["io.modelcontextprotocol/clientCapabilities"] = Json::object();
  return params;
}

Json request(const Json& id, std::string_view method, Json params) {
  Json message{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.is_null()) message["params"] = std::move(params);
  return message;
}

Talk::Talk(Options options, NameForm names, SessionLimits limits, std::size_t room_for_waiting,
           tracing::SessionFacts trace, CallLimits of_calls)
    : world(with_declared(options)),
      anomalies(world.audit),
      parked(*world.gate, world.clock),
      offers(servers, loop.get_executor(), world.clock),
      room(std::make_shared<WaitingRoom>(room_for_waiting)),
      calls(std::make_shared<CallRoom>(of_calls)),
      questions(std::make_shared<ServerQuestions>(world.audit)) {
  const auto authority = gate::testing::authority_of(world, options);
  catalog = Catalog::make(lock_of(world.schemas), authority, names);
  session = McpSession::open(
      {.client = "a run",
       .gate = world.gate.get(),
       .anomalies = &anomalies,
       .catalog = catalog,
       .parked = &parked,
       .offers = &offers,
       .room = room,
       .calls = calls,
       .questions = questions,
       .is_quarantined = [this](const Permission& tool) { return quarantined.contains(tool); },
       .say =
           [this](Outgoing message) {
             said.push_back(std::move(message));
             when_said();
           },
       .limits = limits,
       .trace = std::move(trace)});
}

RunParts run_parts(gate::testing::World& world, const Talk::Options& options,
                   const std::filesystem::path& folder, const std::string& name) {
  ClientGrant::Parts parts;
  parts.name = name;
  parts.tools = std::make_shared<const gate::ToolTable>(world.tools);
  auto authority = gate::testing::authority_of(world, options);
  parts.catalog = Catalog::make(lock_of(world.schemas), authority, NameForm::kDotted);
  auto log = ClientRecord::create({.folder = folder, .clock = &world.clock, .client = name});
  REQUIRE(log.has_value());
  parts.log = std::move(*log);
  parts.upstream = &world.upstream;
  gate::Declared declared{.permissions = parts.catalog->permissions(), .texts = {}};
  gate::GateSetup setup{.tools = parts.tools.get(),
                        .authority = std::move(authority),
                        .declared = std::move(declared),
                        .upstream = &world.upstream,
                        .audit = parts.log.get(),
                        .clock = &world.clock};
  return {std::move(parts), std::move(setup)};
}

Talk& Talk::with_servers(const std::function<void(FakeServers&)>& fill) {
  fill(servers);
  std::set<std::string> used;
  for (const auto& [name, server] : servers.servers) used.insert(name);
  offers.use(used);
  servers.on_notified(
      [this](const std::string& server, const std::string& method, const Json& params) {
        offers.heard(server, method, params);
        session->heard(server, method, params);
      });
  return *this;
}

std::vector<Json> Talk::heard() {
  std::vector<Json> messages;
  for (const auto& message : std::exchange(said, {})) {
    if (!message.line.empty()) messages.push_back(Json::parse(message.line));
  }
  return messages;
}

std::vector<Json> Talk::send_text(std::string_view line) {
  session->receive(line);
  servers.deliver();
  return heard();
}

std::vector<Json> Talk::send(const Json& message) {
  return send_text(message.dump());
}

Json Talk::ask(const Json& id, std::string_view method, Json params) {
  auto answers = send(request(id, method, std::move(params)));
  REQUIRE(answers.size() == 1);
  CHECK(answers.front().at("id") == id);
  return answers.front();
}

Json Talk::ask_stateless(const Json& id, std::string_view method, Json params) {
  return ask(id, method, stateless(std::move(params)));
}

Json Talk::initialize(std::string_view version, Json capabilities) {
  Json answer = ask("start", "initialize",
                    {{"protocolVersion", version},
                     {"capabilities", std::move(capabilities)},
                     {"clientInfo", {{"name", "a test"}, {"version", "1"}}}});
  CHECK(send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}).empty());
  return answer;
}

}  // namespace mcpac::gateway::testing
