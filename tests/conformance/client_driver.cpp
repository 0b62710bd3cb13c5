// The client under test of the conformance suite: mcpac's own client of servers and nothing else.
//
//   conformance-client URL
//
// The suite names the scenario and its data in the environment. Whatever the scenario, this does
// what a user's program does: connect, list the tools, call every one of them, with the arguments
// that the suite wants or with ones that fit the tool's schema. Where a server has documents and
// prompts, the first of each is read. Forms are accepted as they come, and a login page is visited
// as a browser would.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "mcp/client.h"
#include "mcp/oauth/discovery.h"
#include "mcp/support_login.h"

namespace {

namespace asio = boost::asio;
using namespace mcpac;
using namespace std::chrono_literals;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

Json context() {
  auto parsed = parse_json(variable("MCP_CONFORMANCE_CONTEXT"));
  return parsed ? std::move(*parsed) : Json::object();
}

// Something of the type that a property wants.
Json sample(const OrderedJson& property) {
  const auto type = property.value("type", "");
  if (type == "number" || type == "integer") return 2;
  if (type == "boolean") return true;
  if (type == "array") return Json::array();
  if (type == "object") return Json::object();
  return "sample";
}

Json fitting_arguments(const OrderedJson& definition) {
  Json arguments = Json::object();
  const auto schema = definition.value("inputSchema", OrderedJson::object());
  for (const auto& name : schema.value("required", OrderedJson::array())) {
    const auto text = name.get<std::string>();
    arguments[text] = sample(schema["properties"].value(text, OrderedJson::object()));
  }
  return arguments;
}

struct Call {
  std::string tool;
  Json arguments;
};

std::vector<Call> calls_of(const ServerListing& listing, const Json& wanted) {
  std::vector<Call> calls;
  if (const Json* given = find_member(wanted, "toolCalls"); given != nullptr) {
    for (const Json& one : *given) {
      calls.push_back({one["name"].get<std::string>(), one["arguments"]});
    }
    return calls;
  }
  for (const auto& tool : listing.tools) {
    calls.push_back({tool.name, fitting_arguments(tool.definition)});
    // One scenario wants to see again the first tool's schema, as it was understood.
    if (tool.name == "json_schema_echo") {
      calls.back().arguments["schema"] = Json(listing.tools.front().definition["inputSchema"]);
    }
  }
  return calls;
}

// Not inside of a coroutine: g++ 12 destroys twice what is listed there.
Json acceptance() {
  return {{"action", "accept"}, {"content", Json::object()}};
}

asio::awaitable<Result<Json>> accept_form(std::string /*method*/, Json /*params*/) {
  co_return acceptance();
}

// Lists what the server has of a kind, and reads the first.
asio::awaitable<void> read_first(mcp::Client& client, std::string kind, std::string read,
                                 std::string key) {
  if (!client.capabilities().contains(kind)) co_return;
  mcp::CallEvents none;
  auto listed = co_await client.request(kind + "/list", Json::object(), 10s, none);
  if (!listed || !*listed || (**listed)[kind].empty()) co_return;
  Json params = Json::object();
  params[key] = (**listed)[kind][0][key == "uri" ? "uri" : "name"];
  co_await client.request(read, params, 10s, none);
}

asio::awaitable<Result<void>> use(mcp::Client& client, std::string scenario) {
  auto listing = co_await client.list_tools();
  if (!listing) co_return pass_on(listing);
  // This scenario's server has a tool to be listed, and none to be called.
  if (scenario == "json-schema-ref-no-deref") co_return Result<void>();
  for (const auto& call : calls_of(*listing, context())) {
    auto result = co_await client.call_tool(call.tool, call.arguments, 20s);
    if (!result) co_return pass_on(result);
    fmt::print("{}: {}\n", call.tool, to_text(*result));
  }
  co_await read_first(client, "resources", "resources/read", "uri");
  co_await read_first(client, "prompts", "prompts/get", "name");
  co_return Result<void>();
}

// A client that was registered beforehand, and the document that is one's id elsewhere.
mcp::oauth::Settings settings_of(const Json& given) {
  mcp::oauth::Settings settings;
  settings.client_id = string_member(given, "client_id");
  settings.issuer = string_member(given, "issuer");
  settings.client_secret = string_member(given, "client_secret");
  settings.private_key = string_member(given, "private_key_pem");
  settings.client_document = "https://conformance-test.local/client-metadata.json";
  const bool headless = variable("MCP_CONFORMANCE_SCENARIO").contains("client-credentials");
  if (headless) settings.grant = mcp::oauth::Grant::kClientCredentials;
  return settings;
}

// Who registers a client knows where. Most scenarios give a secret and do not say: then it is, as
// it would be by a person, looked up before anything is asked with it.
asio::awaitable<Result<std::string>> registered_at(asio::any_io_executor executor,
                                                   std::string url) {
  auto server = mcp::parse_url(url);
  if (!server) co_return pass_on(server);
  auto web = mcp::oauth::Web::make(executor, mcp::Reach::kAnywhere);
  if (!web) co_return pass_on(web);
  mcp::oauth::Challenge none;
  mcp::oauth::Bound anybody;
  auto found = co_await mcp::oauth::discover(*web, *server, none, anybody);
  if (!found) co_return pass_on(found);
  co_return found->server.issuer;
}

mcp::ServerConfig server_at(std::string url) {
  mcp::ServerConfig server;
  server.auth = settings_of(context());
  server.name = "conformance";
  server.url = std::move(url);
  server.timeout = 20s;
  return server;
}

// The server of this scenario takes whatever GET comes last for the one that resumes, and times it.
// A client that answers servers has a stream of its own, whose GET may come late on a busy machine.
bool opens_a_stream(const std::string& scenario) {
  return scenario != "sse-retry";
}

mcp::Events make_events(const asio::any_io_executor& executor) {
  mcp::Events events;
  if (opens_a_stream(variable("MCP_CONFORMANCE_SCENARIO"))) {
    events.capabilities["elicitation"]["form"] = Json::object();
    events.answer = accept_form;
  }
  events.warned = [](std::string_view text) { fmt::print(stderr, "warning: {}\n", text); };
  events.show_login = test::browser(executor);
  return events;
}

asio::awaitable<Result<void>> run(asio::any_io_executor executor, std::string url) {
  const mcp::Events events = make_events(executor);
  auto server = server_at(url);
  if (server.auth.has_secret() && server.auth.issuer.empty()) {
    auto issuer = co_await registered_at(executor, url);
    if (!issuer) co_return pass_on(issuer);
    server.auth.issuer = std::move(*issuer);
  }
  auto client = co_await mcp::Client::connect(executor, std::move(server), events);
  if (!client) co_return pass_on(client);
  auto used = co_await use(**client, variable("MCP_CONFORMANCE_SCENARIO"));
  co_await (*client)->close();
  co_return used;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: conformance-client URL\n");
    return 64;
  }
  asio::io_context loop;
  int code = 70;
  asio::co_spawn(loop, run(loop.get_executor(), argv[1]),
                 [&](std::exception_ptr bug, Result<void> done) {
                   if (bug) std::rethrow_exception(bug);
                   code = done ? 0 : 1;
                   if (!done) fmt::print(stderr, "{}\n", done.error().to_text());
                 });
  loop.run();
  return code;
}
